"""Document frequencies as those programs store them: a dictionary from n-grams to counts, or the name of a pickle."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sacrecap import _core
from sacrecap.compat.captions import TOKENIZER
from sacrecap.compat.cooked import Ngram, cook
from sacrecap.corpus import DocumentFrequency
from sacrecap.corpus.pickled import MAGIC
from sacrecap.errors import DataError

LONGEST = 4
"""The longest n-gram that the metrics here count."""


class Frequencies:
    """Document frequencies: of references, given as a dictionary, or out of a file.

    The native form, for scoring, and the dictionary, for programs that look at it, are each made on first use, and the
    native form is not pickled.
    """

    def __init__(self) -> None:
        self._native: DocumentFrequency | None = None
        self._made_of: object = None
        """The state of the dictionary from which the native form was made."""

    @property
    def counts(self) -> Mapping[Ngram, float]:
        """In how many images' references an n-gram occurs."""
        raise NotImplementedError

    def native(self, ref_len: float | None) -> DocumentFrequency:
        """The counts for scoring; `ref_len` is the logarithm of the number of images, where that was set."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_native": None, "_made_of": None}


class OfReferences(Frequencies):
    """Frequencies counted in references: a list of captions for each image."""

    def __init__(self, references: Sequence[Sequence[str]], n: int) -> None:
        super().__init__()
        self._references = references
        self._n = n
        self._counts: defaultdict[Ngram, float] | None = None

    @property
    def counts(self) -> defaultdict[Ngram, float]:
        if self._counts is None:
            self._counts = defaultdict(float)
            add(self._counts, ([cook(caption, self._n) for caption in captions] for captions in self._references))
        return self._counts

    def native(self, ref_len: float | None) -> DocumentFrequency:
        if self._native is None:
            captions = {str(number): list(captions) for number, captions in enumerate(self._references)}
            self._native = DocumentFrequency.build(captions, tokenizer=TOKENIZER, n=self._n)
        if ref_len is not None and not math.isclose(ref_len, math.log(self._native.documents), abs_tol=1e-12):
            return OfCounts(self.counts).native(ref_len)
        return self._native


class OfCounts(Frequencies):
    """Frequencies that a program counted itself, or changes."""

    def __init__(self, counts: Mapping[Ngram, float]) -> None:
        super().__init__()
        self._counts = counts

    @property
    def counts(self) -> Mapping[Ngram, float]:
        return self._counts

    def native(self, ref_len: float | None) -> DocumentFrequency:
        state = (ref_len, len(self._counts), sum(self._counts.values()))
        if self._native is None or self._made_of != state:
            self._native, self._made_of = _of_counts(self._counts, ref_len), state
        return self._native


class OfFile(Frequencies):
    """Frequencies out of a file: a pickle, which is not executed, or what `sacrecap df` makes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._path = _find(name)
        self.native(None)

    @property
    def counts(self) -> Mapping[Ngram, float]:
        return Looked(self.native(None))

    @property
    def ref_len(self) -> float:
        """Logarithm of the number of images."""
        return math.log(self.native(None).documents)

    def native(self, ref_len: float | None) -> DocumentFrequency:
        if self._native is None:
            self._native = _load(self._path)
        if ref_len is not None and not math.isclose(ref_len, math.log(self._native.documents), abs_tol=1e-12):
            raise DataError(
                f"ref_len is {ref_len}, but {self._path} is of {self._native.documents:,} images (ref_len "
                f"{math.log(self._native.documents)}); set document_frequency too, to a dictionary"
            )
        return self._native

    def __deepcopy__(self, memo: object) -> OfFile:
        """Itself: the counts of a file do not change."""
        return self


class Looked(Mapping[Ngram, float]):
    """Counts that are looked up, not listed: those of a file are in native memory."""

    def __init__(self, native: DocumentFrequency) -> None:
        self._native = native

    def __getitem__(self, ngram: Ngram) -> float:
        return float(self._native.count(ngram))

    def __contains__(self, ngram: object) -> bool:
        return isinstance(ngram, tuple) and self._native.count(ngram) > 0

    def __len__(self) -> int:
        return self._native.ngrams

    def __iter__(self) -> Any:
        raise DataError(
            "document frequencies of a file can be looked up, not listed; to list them, load the pickle yourself"
        )


def add(counts: dict[Ngram, float], references: Iterable[Sequence[Mapping[Ngram, int]]]) -> None:
    """Counts each n-gram once for each image whose references have it."""
    for captions in references:
        for ngram in set().union(*captions):
            counts[ngram] += 1


def _of_counts(counts: Mapping[Ngram, float], ref_len: float | None) -> DocumentFrequency:
    if ref_len is None:
        raise DataError("document_frequency is set, but not ref_len, the logarithm of the number of images; set it too")
    documents = round(math.exp(ref_len))
    if documents < 1 or not math.isclose(math.log(documents), ref_len, abs_tol=1e-9):
        raise DataError(f"ref_len must be the logarithm of a whole number of images, got {ref_len}")
    # Four empty words, which no caption has: then counts of short captions, or no counts, work for long captions too.
    numbers = {"": 0}
    ids, lengths, found = [0] * LONGEST, [LONGEST], [1]
    for ngram, count in counts.items():
        if count == 0 or len(ngram) > LONGEST:  # looking up an unknown n-gram in a defaultdict leaves a 0 there
            continue
        if count != int(count) or count < 0:
            raise DataError(f"document_frequency counts images; of {ngram!r} it holds {count}")
        ids += (numbers.setdefault(word, len(numbers)) for word in ngram)
        lengths.append(len(ngram))
        found.append(int(count))
    import numpy as np

    native = _core.DocumentFrequency.from_counts(
        list(numbers),
        np.asarray(ids, "<u4").tobytes(),
        np.asarray(lengths, "u1").tobytes(),
        np.asarray(found, "<u4").tobytes(),
        documents,
    )
    return DocumentFrequency(native, "given")


def _find(name: str) -> str:
    """The file of that name, as the programs look for it; or a name that `sacrecap df build --name` made."""
    from sacrecap.corpus import named_frequencies

    files = (os.path.join("data", f"{name}.p"), os.fspath(name))
    for path in files:
        if os.path.isfile(path):
            return os.path.abspath(path)
    if name in named_frequencies.names():
        return name
    raise DataError(
        f"no document frequencies {name!r}: there is neither a file {files[0]} nor a file {files[1]} in {os.getcwd()}, "
        "nor this name in `sacrecap df list`; make a pickle as before, or: sacrecap df build REFERENCES "
        f"--tokenizer none --name {name}"
    )


def _load(path: str) -> DocumentFrequency:
    if not os.path.isabs(path):
        return DocumentFrequency.named(path)
    with open(path, "rb") as file:
        is_ours = file.read(len(MAGIC)) == MAGIC
    return DocumentFrequency.load(path) if is_ours else DocumentFrequency.import_pickle(path)
