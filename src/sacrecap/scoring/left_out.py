"""What was given and is not scored, and what has no score, as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from sacrecap.errors import option

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.scoring.result import Score

_SAID = {
    "no candidate": "images without candidate",
    "several candidates": "images with several candidates",
    "bad row": "rows that cannot be scored",
    "extra candidate": "candidates of images without references",
    "blank reference": "references that are blank",
    "excluded annotation": "captions that the data set excludes",
}


class OfImages(Protocol):
    """The result of a system: how many images were scored, and of which captions."""

    @property
    def images(self) -> int: ...
    @property
    def corpus(self) -> Corpus: ...


def images_of(result: OfImages) -> str:
    """How many images were scored, of how many given ones where those are more: `593 of 5,000 images`."""
    every = result.images + result.corpus.images_left_out
    of_every = f" of {every:,}" if every > result.images else ""
    return f"{result.images:,}{of_every} image{'' if every == 1 else 's'}"


def left_out(systems: Mapping[str, OfImages]) -> str:
    """What was left out, of which systems where these differ, and how many images count as an empty caption."""
    corpora = {name: result.corpus for name, result in systems.items()}
    counts = {
        what: {name: corpus.left_out.get(reason, 0) for name, corpus in corpora.items()}
        for reason, what in _SAID.items()
    }
    parts = [part for what, of_systems in counts.items() for part in _parts(of_systems, what)]
    filled = _parts({name: corpus.filled for name, corpus in corpora.items()}, "images without candidate")
    return "; ".join(
        [
            *([f"left out: {', '.join(parts)}"] if parts else []),
            *([f"scored as empty captions: {', '.join(filled)}"] if filled else []),
        ]
    )


def _parts(counts: Mapping[str, int], what: str) -> list[str]:
    """How many there are: one number where all systems have as many."""
    if len({*counts.values()}) == 1:
        counts = {"": next(iter(counts.values()))}
    return [
        f"{count:,} {what if count > 1 else what.replace('s ', ' ', 1).replace('are', 'is')}"
        + f" ({name})" * bool(name)
        for name, count in counts.items()
        if count
    ]


def missing(results: Mapping[str, Mapping[str, Score]]) -> list[str]:
    """How many images have no score, by metric, and of which system."""
    phrases = []
    for key, score in next(iter(results.values())).items():
        counts = {system: result[key].unscored for system, result in results.items()}
        of_systems = [f"{_images(count)} of {system}" for system, count in counts.items() if count]
        if of_systems and len({*counts.values()}) == 1:
            of_systems = [_images(score.unscored) + (" of each" if len(results) > 1 else "")]
        if of_systems:
            phrases.append(f"no {score.label} of {', '.join(of_systems)}")
    return phrases


def _images(count: int) -> str:
    return f"{count:,} image{'' if count == 1 else 's'}"


def only_improved(filled: int, scores: Iterable[Score]) -> list[str]:
    """A note on the metrics that images without candidate can only make better, where such are scored as empty ones."""
    better = [score.label for score in scores if score.metric.lower_is_better]
    if not better:
        return []
    images = "image without candidate, scored as an empty caption, can"
    images = f"1 {images}" if filled == 1 else f"{filled:,} {images.replace('image', 'images', 1)}"
    remedy = f"leave such out by {option('on_missing', 'skip')}"
    return [f"{', '.join(better)}: lower is better, and {images} only improve it; {remedy}."]
