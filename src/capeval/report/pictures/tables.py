"""The numbers behind each picture of caption sets: the CSV file beside the picture, and what the page draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from capeval.errors import CapevalError

if TYPE_CHECKING:
    from capeval.report.pictures.images import Scaling, SetTopics
    from capeval.scoring.diversity_result import Diversity, SystemDiversity
    from capeval.scoring.result import Score

MOST_WORDS = 5000
"""How many of a system's commonest words the curve of word frequencies shows, as in the paper."""
SPREADS = ("self-cider", "lsa", "mbleu-mix", "div-2", "div-1")
"""Metrics that can be the axis of diversity (more is more diverse), the preferred first."""

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A picture's data: named columns, and a row a mark."""

    name: str
    """The picture's name: that of its files, without a suffix."""
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]

    def csv(self) -> str:
        """The table as CSV; numbers in full, nothing for None."""
        import csv
        import io

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([repr(cell) if isinstance(cell, float) else cell for cell in row] for row in self.rows)
        return text.getvalue()


class LeftOutError(CapevalError):
    """A picture cannot be drawn from this result; the message says what it lacks."""


def spread(result: Diversity) -> Score:
    """The figure that is the axis of diversity, of the first system: Self-CIDEr, or else the next best.

    Raises `LeftOutError` where no diversity was scored that grows with diversity.
    """
    figures = next(iter(result.values())).figures
    for family in SPREADS:
        for key, figure in figures.items():
            if key.partition("(")[0] == family:
                return figure
    raise LeftOutError(f"no diversity was scored; add one of {', '.join(SPREADS)} to --metrics")


def plane(result: Diversity) -> Table:
    """Diversity and accuracy of each system and of people, with intervals."""
    if "accuracy" not in next(iter(result.values())).figures:
        raise LeftOutError("accuracy is scored against references; give --references")
    key = spread(result).key
    columns = ("system", "kind", *_bounded(key), *_bounded("accuracy"))
    return Table(
        "plane",
        columns,
        [(*who, *_figure(system[key]), *_figure(system["accuracy"])) for who, system in _named(result)],
    )


def f(result: Diversity) -> Table:
    """F of each system and of people."""
    if "f" not in next(iter(result.values())).figures:
        raise LeftOutError("F joins Self-CIDEr and accuracy; give --references, and self-cider among --metrics")
    return Table(
        "f", ("system", "kind", *_bounded("f")), [(*who, *_figure(system["f"])) for who, system in _named(result)]
    )


def vocabulary(result: Diversity) -> Table:
    """Number of distinct words beside diversity, of each system and of people."""
    key = spread(result).key
    return Table(
        "vocabulary",
        ("system", "kind", "vocabulary", "captions", *_bounded(key)),
        [(*who, system.vocabulary, sum(system.corpus.counts), *_figure(system[key])) for who, system in _named(result)],
    )


def words(result: Diversity) -> Table:
    """The commonest words of each system and of people, by rank."""
    rows: list[tuple[Cell, ...]] = []
    for who, system in _named(result):
        counts = system.word_counts()
        total = sum(count for _, count in counts)
        rows.extend(
            (*who, rank, word, count, 1000 * count / total)
            for rank, (word, count) in enumerate(counts[:MOST_WORDS], start=1)
        )
    if not rows:
        raise LeftOutError("the captions have no word")
    return Table("words", ("system", "kind", "rank", "word", "count", "per_thousand_words"), rows)


def captions(result: Diversity) -> Table:
    """Diversity and accuracy of the K most accurate captions of each set, by K; at last, and of people, of all."""
    if "accuracy" not in next(iter(result.values())).figures:
        raise LeftOutError("captions are ranked by their accuracy; give --references")
    if not any(system.curve for system in result.values()):
        raise LeftOutError("it needs sets of two captions or more, and all of them: leave --top away")
    key = spread(result).key
    rows: list[tuple[Cell, ...]] = [
        (*who, most, figures[key], figures["accuracy"])
        for who, system in _named(result)
        for most, figures in _curve(system).items()
    ]
    return Table("captions", ("system", "kind", "captions", key, "accuracy"), rows)


def _curve(system: SystemDiversity) -> dict[int, dict[str, float]]:
    """The system's curve, continued to all captions where all sets have the same number."""
    count = system.captions_per_image
    whole = {key: figure.value for key, figure in system.items()}
    return {**system.curve, **({count: whole} if isinstance(count, int) else {})}


def scaling(result: Diversity, planes: list[Scaling]) -> Table:
    """Places of the captions of some images, a row a mark: equal captions of a system share one."""
    names = [who for who, _ in _named(result)]
    rows: list[tuple[Cell, ...]] = [
        (plane.image_id, *names[mark.system], mark.x, mark.y, len(mark.captions), mark.text)
        for plane in planes
        for mark in plane.marks
    ]
    return Table("scaling", ("image_id", "system", "kind", "x", "y", "captions", "caption"), rows)


def topics(result: Diversity, name: str, sets: list[SetTopics]) -> Table:
    """How strongly each caption of one image is about each latent topic of its set, with the topic's words."""
    names = [who for who, _ in _named(result)]
    rows: list[tuple[Cell, ...]] = [
        (one.image_id, *names[one.system], number, text, place, load, " ".join(word for word, _ in topic.words))
        for one in sets
        for place, topic in enumerate(one.topics, start=1)
        for number, (text, load) in enumerate(zip(one.captions, topic.captions, strict=True), start=1)
    ]
    return Table(name, ("image_id", "system", "kind", "number", "caption", "topic", "load", "words"), rows)


def diversities(result: Diversity) -> dict[str, float]:
    """Each image's diversity, the mean over systems."""
    key = spread(result).key
    columns = [system[key].per_image.tolist() for system in result.values()]
    ids = next(iter(result.values())).image_ids
    return {image: sum(row) / len(row) for image, *row in zip(ids, *columns, strict=True)}


def _named(result: Diversity) -> Iterator[tuple[tuple[str, str], SystemDiversity]]:
    for system in result.everybody():
        yield (system.name, "people" if system is result.human else "system"), system


def _bounded(key: str) -> tuple[str, str, str]:
    return key, f"{key}_lower", f"{key}_upper"


def _figure(figure: Score) -> tuple[float, float | None, float | None]:
    return (figure.value, *(figure.interval or (None, None)))
