"""The scorer under CIDEr-D, which is given all images at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap.compat.captions import Captions, only_one
from sacrecap.compat.ciderscorer import Scorer, Scores
from sacrecap.compat.cooked import Ngram
from sacrecap.compat.frequencies import Frequencies, OfCounts, OfReferences
from sacrecap.errors import DataError


class CiderScorer(Scorer):
    """Scores by given document frequencies, or by those of the references.

    Args:
        refs: `{image id: [reference, …]}`.
        test: `{image id: [candidate]}`; None if only the document frequencies are wanted.
        n: the longest n-gram.
        sigma: standard deviation of the length penalty, in words.
        doc_frequency: in how many images' references each n-gram occurs.
        ref_len: logarithm of the number of those images.
    """

    def __init__(
        self,
        refs: Captions,
        test: Captions | None = None,
        n: int = 4,
        sigma: float = 6.0,
        doc_frequency: Mapping[Ngram, float] | Frequencies | None = None,
        ref_len: float | None = None,
    ) -> None:
        super().__init__("corpus", n=n, sigma=sigma)
        if not refs:
            raise DataError("refs has no image")
        for image, captions in refs.items():
            found = None
            if test is not None:
                if image not in test:
                    raise DataError(f"test has no caption of image {image!r}, which refs describes")
                found = only_one(list(test[image])[:1], f"test[{image!r}]")
            self.cook_append(found, captions)
        self.ref_len = math.log(len(refs)) if ref_len is None else ref_len
        self._own = doc_frequency is None and ref_len is None
        if self._own:
            self._frequencies = OfReferences(list(refs.values()), n)
        elif isinstance(doc_frequency, Frequencies):
            self._frequencies = doc_frequency
        else:
            self._frequencies = OfCounts(doc_frequency or {})

    @property
    def doc_frequency(self) -> Mapping[Ngram, float]:
        """In how many images' references each n-gram occurs."""
        return self.document_frequency

    def compute_score(self, option: object = None, verbose: int = 0) -> Scores:
        return self._score(None if self._own else self._given())


def frequencies_of(gts: Mapping[Any, Sequence[str]], n: int) -> tuple[Frequencies, float]:
    """Document frequencies of references, and the logarithm of the number of images."""
    scorer = CiderScorer(gts, n=n)
    return scorer._given(), math.log(len(gts))
