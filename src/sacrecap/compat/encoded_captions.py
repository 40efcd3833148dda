"""Captions as programs related to coco-caption pass them, encoded for the metrics here.

Their scorers take captions as text with a blank between tokens, and split the text themselves: BLEU and CIDEr at white
space, ROUGE at each blank. The tokenizer `blanks` does the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus, check_captions
from sacrecap.errors import DataError, some
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    from sacrecap.corpus import DocumentFrequency
    from sacrecap.metrics import Metric
    from sacrecap.scoring.result import Score

TOKENIZER: Final = "blanks"

Captions = Mapping[Any, Sequence[str]]
"""Captions by image: `{image id: [caption, …]}`; the ids may be anything that a dictionary takes."""


def paired(gts: Captions, res: Captions) -> tuple[list[str], list[str], list[Sequence[str]]]:
    """Names, candidates and references of the images, in the order of `gts`.

    Raises `DataError` unless both have the same images, with one caption each in `res` and at least one in `gts`.
    """
    check_images(gts, res)
    candidates = [single_caption(res[image], f"res[{image!r}]") for image in gts]
    return (
        list(map(str, gts)),
        candidates,
        [caption_list(captions, f"gts[{image!r}]") for image, captions in gts.items()],
    )


def check_images(gts: Captions, res: Captions) -> None:
    """Raises `DataError` unless both have the same images."""
    if gts.keys() != res.keys():
        parts = [
            (name, [str(image) for image in side if image not in other])
            for name, side, other in (("gts", gts, res), ("res", res, gts))
        ]
        difference = "; ".join(f"only {name} has {some(images)}" for name, images in parts if images)
        raise DataError(f"gts and res must be of the same images: {difference}")


def single_caption(captions: object, where: str) -> str:
    """The only caption of a list. Raises `DataError`, which says where, for anything else."""
    if not isinstance(captions, (list, tuple)) or len(captions) != 1 or not isinstance(captions[0], str):
        raise DataError(f"{where} must be a list of one caption, got {_shown(captions)}")
    return captions[0]


def caption_list(captions: object, where: str) -> Sequence[str]:
    """The captions of a list that is not empty. Raises `DataError`, which says where, for anything else."""
    if (
        not isinstance(captions, (list, tuple))
        or not captions
        or not all(isinstance(caption, str) for caption in captions)
    ):
        raise DataError(f"{where} must be a list of captions, at least one, got {_shown(captions)}")
    return captions


def encoded(
    candidates: Sequence[str], references: Iterable[Sequence[str]], names: Sequence[str] | None = None
) -> Corpus:
    """The captions of several images, in their order.

    Args:
        candidates: one for each image.
        references: of each image.
        names: of the images, in messages; numbers where there are none, or two are the same.

    Raises:
        DataError: a caption cannot be scored, or there is no image.
    """
    if not candidates:
        raise DataError("there is no caption to score; give gts and res at least one image")
    if names is None or len(set(names)) < len(names):
        names = list(map(str, range(len(candidates))))
    described = _core.Captions.from_dict({name: list(texts) for name, texts in zip(names, references, strict=True)})
    captions = _core.Captions.from_dict(dict(zip(names, candidates, strict=True)))
    check_captions(described, "the references")
    check_captions(captions, "the candidates")
    # As a part of a corpus, of which nothing is left out: to their scorers, an empty reference is one.
    [corpus] = Corpus.of_part(described, {"": captions}, tokenizer=TOKENIZER).values()
    return corpus


def score_alone(metric: Metric, corpus: Corpus, document_frequency: DocumentFrequency | None = None) -> Score:
    """The score of one metric, without an interval."""
    return score_corpus(corpus, [metric], document_frequency=document_frequency)[metric.key]


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
