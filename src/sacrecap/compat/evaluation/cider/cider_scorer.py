"""The scorer under CIDEr-D, which is given all images at once."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sacrecap.compat.ciderscorer import IdfScorer
from sacrecap.compat.cooked import Ngram
from sacrecap.compat.encoded_captions import Captions, only_one
from sacrecap.compat.frequencies import CountedFrequencies, Frequencies, given
from sacrecap.errors import DataError


class CiderScorer(IdfScorer):
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
        super().__init__(n=n, sigma=sigma)
        if not refs:
            raise DataError("refs has no image")
        for image, captions in refs.items():
            if test is not None and image not in test:
                raise DataError(f"test has no caption of image {image!r}, which refs describes")
            self.cook_append(None if test is None else only_one(list(test[image])[:1], f"test[{image!r}]"), captions)
        self.ref_len = math.log(len(refs)) if ref_len is None else ref_len
        if doc_frequency is None and ref_len is None:
            self.frequencies = CountedFrequencies(references=self.crefs, n=n)
            return
        self.df_mode = "given"
        self.frequencies = given({} if doc_frequency is None else doc_frequency)

    @property
    def doc_frequency(self) -> Mapping[Ngram, float]:
        """In how many images' references each n-gram occurs."""
        return self.document_frequency
