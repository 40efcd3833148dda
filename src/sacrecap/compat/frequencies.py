"""Document frequencies as those programs store them: a dictionary from n-grams to counts, or the name of a pickle."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from sacrecap.compat.encoded_captions import Cooked, Ngram, add
from sacrecap.corpus import DocumentFrequency
from sacrecap.corpus.document_frequency import MAGIC, find_frequencies, frequency_names, packed
from sacrecap.errors import DataError

LONGEST = 4
"""The longest n-gram that the metrics here count."""


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
        counted: dict[Ngram, float] = {("",) * LONGEST: 1}
        for ngram, count in self.counts.items():
            if count == 0 or len(ngram) > LONGEST:  # looking up an unknown n-gram in a defaultdict leaves a 0 there
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


Frequencies = CountedFrequencies | OfFile
