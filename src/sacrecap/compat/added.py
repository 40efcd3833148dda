"""Candidates and references that a program adds one image after the other, to score them together."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sacrecap.compat.encoded_captions import Captions, caption_list, paired, single_caption
from sacrecap.errors import DataError, UsageError

if TYPE_CHECKING:
    from typing_extensions import Self


class NgramScorer:
    """What the scorers under BLEU and CIDEr have in common.

    Attributes:
        n: the longest n-gram.
        crefs: the references of each image, as the scorer keeps them.
        ctest: the candidate of each image; None if only the references were added.
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
        _, candidates, references = paired(gts, res)
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
