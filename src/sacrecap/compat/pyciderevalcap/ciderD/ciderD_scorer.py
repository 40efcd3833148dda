"""The scorer under CIDEr-D: captions are added one image after the other, and scored together.

Document frequencies are what those programs store: a dictionary from n-grams to counts, or the name of a pickle.
"""

from __future__ import annotations

import copy
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sacrecap.compat.encoded_captions import (
    Cooked,
    Ngram,
    NgramScorer,
    add,
    caption_list,
    cook_refs,
    cook_test,
    encoded,
    precook,
    score_alone,
)
from sacrecap.corpus import DocumentFrequency
from sacrecap.corpus.document_frequency import MAGIC, find_frequencies, frequency_names, packed
from sacrecap.errors import DataError, UsageError, warn
from sacrecap.metrics import CiderD, Metric
from sacrecap.metrics.cider import ONE_IMAGE

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CiderScorer", "Scores", "cook_refs", "cook_test", "precook"]

Scores = tuple[np.float64, npt.NDArray[np.float64]]
"""The mean, and the scores of the images in their order."""
_LONGEST = 4
"""The longest n-gram that the metrics here count."""


class CiderScorer(NgramScorer):
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
        self.frequencies: CountedFrequencies | OfFile | None = None
        if df_mode != "corpus":
            self.frequencies = of_file = OfFile(df_mode)
            self.ref_len = of_file.ref_len

    def _cooked(self, captions: Sequence[str]) -> list[Cooked]:
        return cook_refs(captions, self.n)

    def _texts(self, cooked: Sequence[Any]) -> Sequence[Any]:
        return [caption if caption is None else caption.text for caption in cooked]

    @property
    def metric(self) -> Metric:
        return CiderD(n=self.n, sigma=self.sigma)

    @property
    def document_frequency(self) -> Mapping[Ngram, float]:
        """In how many images' references each n-gram occurs; empty before they are counted."""
        if self.frequencies is None:
            self.frequencies = CountedFrequencies()
        return self.frequencies.counts

    @document_frequency.setter
    def document_frequency(self, counts: Mapping[Ngram, float]) -> None:
        self.frequencies = counts if isinstance(counts, OfFile) else CountedFrequencies(counts)

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
        return list(self._of(*self.texts(), self._native())[1])

    def compute_score(self, option: object = None, verbose: int = 0) -> Scores:
        """The mean score, and the score of each image; with `df_mode` of `corpus`, frequencies are counted first.

        Where a program's subclass has its own `compute_cider` or `compute_doc_freq`, these are called.
        """
        methods = type(self).compute_doc_freq, type(self).compute_cider
        if methods != (CiderScorer.compute_doc_freq, CiderScorer.compute_cider):
            if self.df_mode == "corpus":
                self.document_frequency = defaultdict(float)
                self.compute_doc_freq()
            scores = np.array(self.compute_cider())
            return np.mean(scores), scores
        if self.df_mode != "corpus":
            return self._of(*self.texts(), self._native())
        self.ref_len = math.log(max(1, len(self.crefs)))
        self.frequencies = CountedFrequencies(references=[*self.crefs])
        first = self.crefs[:1]
        if len(self.crefs) > 1 and all([references] == first for references in self.crefs):
            warn(ONE_IMAGE.format(self.metric.label, "df=NAME"))
        return self._of(*self.texts(), None)

    def my_get_cider(self, gts: Sequence[str], res: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of each caption of `res` by each of `gts` alone, shape (captions of res, captions of gts)."""
        (scores,) = self.my_get_ciders([(gts, res)])
        return scores

    def my_get_self_cider(self, res: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of each of these captions by each of them, shape (captions, captions)."""
        return self.my_get_cider(res, res)

    def my_get_ciders(self, groups: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[npt.NDArray[np.float64]]:
        """The result of `my_get_cider` for several groups of captions, which are scored in one pass."""
        for number, (gts, res) in enumerate(groups):
            caption_list(gts, f"gts[{number}]")
            caption_list(res, f"res[{number}]")
        if not groups:
            return []
        candidates = [candidate for gts, res in groups for candidate in res for _ in gts]
        references = [[reference] for gts, res in groups for _ in res for reference in gts]
        scores = self._of(candidates, references, self._native())[1]
        cuts = np.cumsum([len(gts) * len(res) for gts, res in groups])[:-1]
        parts = zip(groups, np.split(scores, cuts), strict=True)
        return [part.reshape(len(res), len(gts)) for (gts, res), part in parts]

    def _native(self) -> DocumentFrequency:
        if self.frequencies is None or self.ref_len is None:
            raise UsageError(
                "there are no document frequencies yet: name them (df=NAME), or add references, call "
                "compute_doc_freq() and set ref_len to the logarithm of the number of images"
            )
        return self.frequencies.native(self.ref_len)

    def _of(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], frequencies: DocumentFrequency | None
    ) -> Scores:
        score = score_alone(self.metric, encoded(candidates, references), document_frequency=frequencies)
        per_image = score.per_image.copy()
        return np.mean(per_image), per_image


class CountedFrequencies:
    """Frequencies counted in references, or those of a dictionary that a program fills or changes; the dictionary, for
    programs that look at it, and the native form, for scoring, are each made on first use.
    """

    def __init__(
        self, counts: Mapping[Ngram, float] | None = None, references: Sequence[Sequence[Cooked]] = ()
    ) -> None:
        self._counts = counts
        self._references = references
        self._cache: tuple[object, DocumentFrequency] | None = None
        """The native form, with the state of the counts that it was made of."""

    @property
    def counts(self) -> Mapping[Ngram, float]:
        """In how many images' references an n-gram occurs."""
        if self._counts is None:
            counted: defaultdict[Ngram, float] = defaultdict(float)
            add(counted, self._references)
            self._counts = counted
        return self._counts

    def native(self, ref_len: float) -> DocumentFrequency:
        """The counts for scoring; `ref_len` is the logarithm of the number of images."""
        state = ref_len, len(self.counts), sum(self.counts.values())
        if self._cache is not None and self._cache[0] == state:
            return self._cache[1]
        documents = round(math.exp(ref_len))
        if documents < 1 or not math.isclose(math.log(documents), ref_len, abs_tol=1e-9):
            raise DataError(f"ref_len must be the logarithm of a whole number of images, got {ref_len}")
        # Four empty words, which no caption has: then counts of short captions, or no counts, work for long ones too.
        counted: dict[Ngram, float] = {("",) * _LONGEST: 1}
        for ngram, count in self.counts.items():
            if count == 0 or len(ngram) > _LONGEST:  # looking up an unknown n-gram in a defaultdict leaves a 0 there
                continue
            if count != int(count) or count < 0:
                raise DataError(f"document_frequency counts images; of {ngram!r} it holds {count}")
            counted[ngram] = count
        frequencies = DocumentFrequency(packed(counted, documents), "given")
        self._cache = state, frequencies
        return frequencies


class OfFile(Mapping[Ngram, float]):
    """Frequencies out of a file: a pickle, which is not executed, or what `sacrecap df` makes; or of a name of
    `sacrecap testsets`, as `coco-val-df`. They are looked up, not listed: they are in native memory.
    """

    def __init__(self, name: str) -> None:
        files = (os.path.join("data", f"{name}.p"), os.fspath(name))
        path = next((os.path.abspath(path) for path in files if os.path.isfile(path)), None)
        self._path = path or name
        if path is not None:
            with open(path, "rb") as file:
                is_ours = file.read(len(MAGIC)) == MAGIC
            self._native = DocumentFrequency.load(path) if is_ours else DocumentFrequency.import_pickle(path)
        elif name in frequency_names():
            self._native = find_frequencies(name)
        else:
            raise DataError(
                f"no document frequencies {name!r}: there is neither a file {files[0]} nor a file {files[1]} in "
                f"{os.getcwd()}, nor this name in `sacrecap testsets`; make a pickle as before, or: sacrecap df build "
                f"REFERENCES --tokenizer none -o {name}"
            )

    @property
    def counts(self) -> Mapping[Ngram, float]:
        return self

    @property
    def ref_len(self) -> float:
        return math.log(self._native.documents)

    def native(self, ref_len: float) -> DocumentFrequency:
        if not math.isclose(ref_len, self.ref_len, abs_tol=1e-12):
            raise DataError(
                f"ref_len is {ref_len}, but {self._path} is of {self._native.documents:,} images (ref_len "
                f"{self.ref_len}); set document_frequency too, to a dictionary"
            )
        return self._native

    def __getitem__(self, ngram: Ngram) -> float:
        return float(self._native.count(ngram))

    def __contains__(self, ngram: object) -> bool:
        return isinstance(ngram, tuple) and self._native.count(ngram) > 0

    def __len__(self) -> int:
        return self._native.ngrams

    def __iter__(self) -> Iterator[Ngram]:
        raise DataError(
            "document frequencies of a file can be looked up, not listed; to list them, load the pickle yourself"
        )

    def __reduce__(self) -> tuple[type[OfFile], tuple[str]]:
        return OfFile, (self._path,)
