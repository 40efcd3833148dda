"""The scorer under CIDEr and CIDEr-D: captions are added one image after the other, and scored together."""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sacrecap.compat.added import NgramScorer
from sacrecap.compat.cooked import Cooked, Ngram, add, cook_refs
from sacrecap.compat.encoded_captions import encoded, only_one, score_alone, several
from sacrecap.compat.frequencies import CountedFrequencies, Frequencies, OfFile, given
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import CiderD, CiderPaper

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self

    from sacrecap.metrics import Metric

Scores = tuple["np.float64", "npt.NDArray[np.float64]"]
"""The mean, and the scores of the images in their order."""


class IdfScorer(NgramScorer):
    """Candidates and references of images, as counts of n-grams, and the document frequencies to score them by.

    Attributes:
        sigma: standard deviation of CIDEr-D's length penalty, in words.
        df_mode: `corpus` to count document frequencies in the references that are scored; else the name of the file
            that they come from.
        ref_len: logarithm of the number of images that they were counted in; None until it is known.
    """

    def __init__(
        self,
        df_mode: str = "corpus",
        test: str | None = None,
        refs: Sequence[str] | None = None,
        n: int = 4,
        sigma: float = 6.0,
    ) -> None:
        super().__init__(n, test, refs)
        self.sigma = sigma
        self.df_mode = df_mode
        self.ref_len: float | None = None
        self.frequencies: Frequencies | None = None
        if df_mode != "corpus":
            self.frequencies = of_file = OfFile(df_mode)
            self.ref_len = of_file.ref_len

    def _cooked(self, captions: Sequence[str]) -> list[Cooked]:
        return cook_refs(captions, self.n)

    def _texts(self, cooked: Sequence[Any]) -> Sequence[Any]:
        return [one if one is None else one.text for one in cooked]

    @property
    def metric(self) -> Metric:
        """The metric that scores."""
        return CiderD(n=self.n, sigma=self.sigma)

    @property
    def document_frequency(self) -> Mapping[Ngram, float]:
        """In how many images' references each n-gram occurs; empty before they are counted."""
        if self.frequencies is None:
            self.frequencies = CountedFrequencies()
        return self.frequencies.counts

    @document_frequency.setter
    def document_frequency(self, counts: Mapping[Ngram, float]) -> None:
        self.frequencies = given(counts)

    def copy_empty(self) -> Self:
        """A scorer without captions, of the same document frequencies."""
        new = copy.copy(self)
        new.clear()
        return new

    def clear(self) -> None:
        """Forgets the captions; the document frequencies stay."""
        self.crefs, self.ctest = [], []

    def compute_doc_freq(self) -> None:
        """Adds the n-grams of the references to the document frequencies."""
        counts = self.document_frequency
        if not isinstance(counts, dict):
            raise UsageError(
                f"the document frequencies are those of {self.df_mode}, and are not added to; use df='corpus'"
            )
        add(counts, self.crefs)

    def compute_cider(self) -> list[np.float64]:
        """The scores of the images by the document frequencies as they are."""
        if self.df_mode == "corpus":
            self.ref_len = math.log(max(1, len(self.crefs)))
        return list(self._score(self._given())[1])

    def compute_score(self, option: object = None, verbose: int = 0) -> Scores:
        """The mean score, and the score of each image; with `df_mode` of `corpus`, frequencies are counted first.

        Where a program's subclass has its own `compute_cider` or `compute_doc_freq`, these are called.
        """
        own = type(self)
        if own.compute_cider is not IdfScorer.compute_cider or own.compute_doc_freq is not IdfScorer.compute_doc_freq:
            if self.df_mode == "corpus":
                self.document_frequency = defaultdict(float)
                self.compute_doc_freq()
            scores = np.array(self.compute_cider())
            return np.mean(scores), scores
        if self.df_mode != "corpus":
            return self._score(self._given())
        self.ref_len = math.log(max(1, len(self.crefs)))
        self.frequencies = CountedFrequencies(references=[*self.crefs], n=self.n)
        return self._score(None)

    def my_get_cider(self, gts: Sequence[str], res: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of each caption of `res` by each of `gts` alone, shape (captions of res, captions of gts)."""
        (found,) = self.my_get_ciders([(gts, res)])
        return found

    def my_get_self_cider(self, res: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of each of these captions by each of them, shape (captions, captions)."""
        return self.my_get_cider(res, res)

    def my_get_ciders(self, groups: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[npt.NDArray[np.float64]]:
        """The result of `my_get_cider` for several groups of captions, which are scored in one pass."""
        for number, (gts, res) in enumerate(groups):
            several(gts, f"gts[{number}]")
            several(res, f"res[{number}]")
        if not groups:
            return []
        candidates = [one for gts, res in groups for one in res for _ in gts]
        references = [[other] for gts, res in groups for _ in res for other in gts]
        found = self._of(candidates, references, self._given())[1]
        cuts = np.cumsum([len(gts) * len(res) for gts, res in groups])[:-1]
        parts = zip(groups, np.split(found, cuts), strict=True)
        return [part.reshape(len(res), len(gts)) for (gts, res), part in parts]

    def _given(self) -> Frequencies:
        if self.frequencies is None or self.ref_len is None:
            raise UsageError(
                "there are no document frequencies yet: name them (df=NAME), or add references, call "
                "compute_doc_freq() and set ref_len to the logarithm of the number of images"
            )
        return self.frequencies

    def _score(self, frequencies: Frequencies | None) -> Scores:
        return self._of(*self.texts(), frequencies)

    def _of(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], frequencies: Frequencies | None
    ) -> Scores:
        native = None if frequencies is None else frequencies.native(self.ref_len)
        score = score_alone(self.metric, encoded(candidates, references), document_frequency=native)
        per_image = score.per_image.copy()
        return np.mean(per_image), per_image


class CosineScorer(IdfScorer):
    """The scorer of CIDEr as its authors' program counts it: a cosine, without clipping, length penalty and stems."""

    @property
    def metric(self) -> Metric:
        return CiderPaper(n=self.n, stem=False)


class WithFrequencies:
    """CIDEr or CIDEr-D by document frequencies that have a name, for captions of numbered samples."""

    scorer: type[IdfScorer]

    def __init__(self, n: int, df: str) -> None:
        self._n = n
        self._df = df
        self.cider_scorer: Any = self.scorer(n=n, df_mode=df)

    def compute_score(self, gts: Mapping[Any, Sequence[str]], res: Sequence[Mapping[str, Any]]) -> Scores:
        """Scores samples, several of which may be of one image.

        Args:
            gts: `{image id: [reference, …]}`.
            res: `[{"image_id": …, "caption": [candidate]}, …]`.

        Returns:
            The mean, and the score of each sample, float64 of shape (samples,).
        """
        scorer: IdfScorer = self.cider_scorer.copy_empty()
        for number, sample in enumerate(res):
            try:
                image, captions = sample["image_id"], sample["caption"]
            except (KeyError, TypeError):
                raise DataError(
                    f"res[{number}] must be a dictionary with image_id and caption, got {sample!r:.80}"
                ) from None
            if image not in gts:
                raise DataError(f"res[{number}] is of image {image!r}, of which gts has no reference")
            scorer += (only_one(captions, f"res[{number}]['caption']"), gts[image])
        return scorer.compute_score()

    def my_compute_score(
        self, gts: Sequence[Sequence[str]], res: Sequence[Sequence[str]], avg_refs: bool = True
    ) -> Scores:
        """Scores of several captions of each image, float64 of shape (images, captions), and their mean."""
        matrices = self.cider_scorer.copy_empty().my_get_ciders(list(zip(gts, res, strict=False)))
        scores = np.array([matrix.mean(axis=1) for matrix in matrices])
        return np.mean(scores), scores

    def my_self_cider(self, res: Sequence[Sequence[str]]) -> list[npt.NDArray[np.float64]]:
        """For each set of captions, the score of each of them by each of them, shape (captions, captions)."""
        found: list[npt.NDArray[np.float64]]
        found = self.cider_scorer.copy_empty().my_get_ciders([(captions, captions) for captions in res])
        return found
