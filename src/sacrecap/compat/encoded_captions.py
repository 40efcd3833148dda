"""Captions as programs related to coco-caption pass them: checked, counted as n-grams, added up, and encoded.

Their scorers take captions as text with a blank between tokens, and split the text themselves: BLEU and CIDEr at white
space, ROUGE at each blank. The tokenizer `blanks` does the same. N-grams are counted only when a program reads them:
scoring uses the text. Programs add candidates and references one image after the other, to score them together.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap import _core
from sacrecap.corpus import DocumentFrequency
from sacrecap.corpus.corpus import Corpus, check_captions
from sacrecap.errors import DataError, UsageError, some
from sacrecap.metrics import Metric
from sacrecap.scoring.result import Score
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    from typing_extensions import Self

Captions = Mapping[Any, Sequence[str]]
"""Captions by image: `{image id: [caption, …]}`; the ids may be anything that a dictionary takes."""


def paired(gts: Captions, res: Captions) -> tuple[list[str], list[Sequence[str]], list[str]]:
    """Candidates, references and names of the images, in the order of `gts`, as `encoded` takes them. Raises
    `DataError` unless both have the same images, with one caption each in `res` and at least one in `gts`.
    """
    check_images(gts, res)
    candidates = [single_caption(res[image], f"res[{image!r}]") for image in gts]
    references = [caption_list(captions, f"gts[{image!r}]") for image, captions in gts.items()]
    return candidates, references, list(map(str, gts))


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
        raise DataError(f"{where} must be a list of one caption, got {_quoted(captions)}")
    return captions[0]


def caption_list(captions: object, where: str) -> Sequence[str]:
    """The captions of a list that is not empty. Raises `DataError`, which says where, for anything else."""
    texts = captions if isinstance(captions, (list, tuple)) else ()
    if not texts or not all(isinstance(caption, str) for caption in texts):
        raise DataError(f"{where} must be a list of captions, at least one, got {_quoted(captions)}")
    return texts


def encoded(
    candidates: Sequence[str], references: Iterable[Sequence[str]], names: Sequence[str] | None = None
) -> Corpus:
    """The captions of images in their order, a candidate for each; `names`, in messages, are numbers where none are
    given, or two are the same. Raises `DataError` where a caption cannot be scored, or there is no image.
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
    [corpus] = Corpus.of_part(described, {"": captions}, tokenizer="blanks").values()
    return corpus


def score_alone(metric: Metric, corpus: Corpus, document_frequency: DocumentFrequency | None = None) -> Score:
    """The score of one metric, without an interval."""
    return score_corpus(corpus, [metric], document_frequency=document_frequency)[metric.key]


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


Ngram = tuple[str, ...]


class Cooked(Mapping[Ngram, int]):
    """How often a caption holds each n-gram, up to `n` words; words are split at white space."""

    def __init__(self, text: str, n: int) -> None:
        self.text = text
        self.n = n

    @cached_property
    def counts(self) -> dict[Ngram, int]:
        """The counts, in the order in which the n-grams are met: all words first."""
        words = self.text.split()
        ends = ((order, end) for order in range(1, self.n + 1) for end in range(order, len(words) + 1))
        return dict(Counter(tuple(words[end - order : end]) for order, end in ends))

    def __getitem__(self, ngram: Ngram) -> int:
        return self.counts[ngram]

    def __iter__(self) -> Iterator[Ngram]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"<n-grams of {self.text!r}>"


def precook(text: str, n: int = 4) -> Cooked:
    """A caption's n-grams up to `n` words."""
    return Cooked(text, n)


cook_test = precook


def cook_refs(refs: Sequence[str], n: int = 4) -> list[Cooked]:
    """The n-grams of each reference of an image."""
    return [Cooked(caption, n) for caption in refs]


def add(counts: dict[Ngram, float], references: Iterable[Sequence[Cooked]]) -> None:
    """Counts each n-gram once for each image whose references have it."""
    for captions in references:
        for ngram in set().union(*captions):
            counts[ngram] += 1


class SuiteMetric:
    """A metric as those programs call it, `compute_score(gts, res)`.

    `gts` are references, `{image id: [reference, …]}`, tokens joined by blanks; `res` are candidates, `{image id:
    [candidate]}`. Scores of images are in the order of `gts`.
    """

    printed: ClassVar[str]

    def method(self) -> str:
        """The name that is printed."""
        return self.printed


class NgramScorer:
    """What the scorers under BLEU and CIDEr have in common: `n`, the longest n-gram; `crefs`, the references of each
    image, as the scorer keeps them; `ctest`, its candidate, None if only the references were added.
    """

    def __init__(self, n: int, test: str | None, refs: Sequence[str] | None) -> None:
        self.n = n
        self.crefs: list[Sequence[Any]] = []
        self.ctest: list[Any] = []
        self.cook_append(test, refs)

    def copy(self) -> Self:
        """A scorer of the same captions, to which others can be added."""
        new = copy.copy(self)
        new.crefs, new.ctest = [*self.crefs], [*self.ctest]
        return new

    def cook_append(self, test: str | None, refs: Sequence[str] | None) -> None:
        """Adds an image's candidate and references; a `test` of None adds the references alone."""
        if refs is not None:
            self.crefs.append(self._cooked(refs))
            self.ctest.append(None if test is None else self._cooked([test])[0])

    def _cooked(self, captions: Sequence[str]) -> Sequence[Any]:
        """The captions as the scorer keeps them."""
        return captions

    def _texts(self, cooked: Sequence[Any]) -> Sequence[Any]:
        """The captions that are kept so; None stays."""
        return cooked

    def size(self) -> int:
        """Number of images. Raises `DataError` if references and candidates were not added in pairs."""
        if len(self.crefs) != len(self.ctest):
            raise DataError(f"{len(self.crefs):,} images with references, {len(self.ctest):,} with a candidate")
        return len(self.crefs)

    def compatible(self, other: object) -> bool:
        """Whether the images of the other can be added to these."""
        return isinstance(other, type(self)) and self.n == other.n

    def __iadd__(self, other: tuple[str | None, Sequence[str]] | Self) -> Self:
        if isinstance(other, tuple):
            self.cook_append(*other)
        elif self.compatible(other):
            self.ctest.extend(other.ctest)
            self.crefs.extend(other.crefs)
        else:
            raise UsageError(f"only images of a {type(self).__name__} of n={self.n} can be added, got {other!r}")
        return self

    def with_all(self, gts: Captions, res: Captions) -> Self:
        """Adds the images of both, in the order of `gts`; returns itself."""
        candidates, references, _ = paired(gts, res)
        for candidate, captions in zip(candidates, references, strict=True):
            self.cook_append(candidate, captions)
        return self

    def texts(self) -> tuple[list[str], list[Sequence[str]]]:
        """The candidates and the references. Raises `DataError` for an image without a candidate or a reference."""
        self.size()
        candidates = [
            single_caption(self._texts([candidate]), f"the candidate of image {number}")
            for number, candidate in enumerate(self.ctest)
        ]
        return candidates, [
            caption_list(self._texts(captions), f"crefs[{number}]") for number, captions in enumerate(self.crefs)
        ]
