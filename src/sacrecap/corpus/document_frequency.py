"""Document frequencies: in the references of how many images each n-gram occurs (CIDEr, eq. 1)."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import pickle
import tempfile
import weakref
from collections import defaultdict
from functools import cached_property
from os import PathLike, fspath
from reprlib import repr as described
from typing import TYPE_CHECKING, Any, TypeAlias

from sacrecap import _core
from sacrecap.choices import CORPUS
from sacrecap.data import testsets
from sacrecap.data.source import read_bytes, reading
from sacrecap.data.writers import atomic_write
from sacrecap.errors import DataError, UsageError, did_you_mean, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import CaptionSource
    from sacrecap.corpus.token_ids import TokenIds
    from sacrecap.data.testsets import Progress, TestSet

MEMORY = 512 << 20
"""Bytes that counts of n-grams take in memory before they go to disk."""
_CHECKSUM = slice(12, 16)
"""Bytes of a file that hold the CRC-32 of its contents."""


class DocumentFrequency:
    """Counts that CIDEr uses to weight words, from references other than those being scored.

    Captioners are compared on few images; many images tell better how rare a word is. Counts merge by addition, so
    shards of a large corpus can be counted apart. Files are versioned, checksummed and memory-mapped. Counts of a file
    are pickled as its path: all processes of a machine share the memory, and the file has to be on every machine.

    Examples:
        >>> frequencies = sacrecap.DocumentFrequency.build({"1": ["a dog runs", "one dog"], "2": ["a red bus"]})
        >>> frequencies.documents, frequencies.count(["a"]), frequencies.count(["red", "bus"])
        (2, 2, 1)
    """

    def __init__(self, core: _core.DocumentFrequency, source: str) -> None:
        vars(self)["_core"] = core
        self._file: tuple[str, str] | None = None
        """Path and checksum of the file that the counts are in."""
        self.source = source
        """The origin of the counts, for messages: a file's name, `built`, or the name of a test set."""

    @cached_property
    def _core(self) -> _core.DocumentFrequency:
        """The counts. Those of a file are opened anew by a process to which they were sent, on first use."""
        path, checksum = self._file or ("", "")
        try:
            counts = DocumentFrequency.load(path)
        except DataError as error:
            raise DataError(f"{error} ({_EVERYWHERE})") from None
        if counts.checksum != checksum:
            raise DataError(f"{path}: has other counts than it had where it was opened first; {_EVERYWHERE}")
        return counts._core

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_core" or self._file is None}

    def in_memory(self) -> DocumentFrequency:
        """The same counts, which are pickled whole: for machines that do not have the file."""
        return DocumentFrequency(self._core, self.source)

    @classmethod
    def build(
        cls,
        references: CaptionSource,
        *,
        tokenizer: Tokenizer = "ptb",
        n: int = 4,
        stem: bool = False,
        threads: int = 0,
    ) -> DocumentFrequency:
        """Counts the n-grams of orders 1 to `n` in the references of each image.

        `references`: `{image id: [caption, …]}`, a file's path, or `Captions`. `stem` counts stems, which `cider-paper`
        needs; `cider-d` and the reward need word forms. Raises `DataError` for unusable references and `UsageError`
        for `n` outside 1..4.
        """
        from sacrecap.corpus.corpus import encode_references

        check_order(n)
        encoded = encode_references(references, tokenizer=tokenizer, threads=threads)
        return cls(_core.DocumentFrequency.build(encoded, stem, n, threads), "built")

    @staticmethod
    def counter(
        *, tokenizer: Tokenizer = "ptb", n: int = 4, stem: bool = False, memory: int = MEMORY, threads: int = 0
    ) -> FrequencyCounter:
        """A counter of references that come batch by batch, from any number of processes, in bounded memory.

        The counts are those that [`build`][sacrecap.DocumentFrequency.build] makes of all references at once; counts
        that do not fit into `memory` bytes are put into a temporary folder.

        Examples:
            >>> counter = sacrecap.DocumentFrequency.counter()
            >>> counter.add({"1": ["a dog runs", "one dog"]})
            >>> counter.merge(sacrecap.DocumentFrequency.build({"2": ["a red bus"]}))
            >>> counter.finish()
            <DocumentFrequency built: 15 n-grams up to 4 over 2 images, tokens, tokenizer ptb>
        """
        check_order(n)
        return FrequencyCounter(tokenizer=tokenizer, n=n, stem=stem, memory=memory, threads=threads)

    @classmethod
    def from_token_ids(
        cls, references: Sequence[TokenIds], *, end_of_sentence: int | None = 0, n: int = 4
    ) -> DocumentFrequency:
        """Counts over token ids: `references` is one (R_i, T) array of ids per image, as for `CiderDReward`."""
        from sacrecap.corpus.token_ids import pack_references

        check_order(n)
        token_ids = pack_references(references, end_of_sentence)
        return cls(_core.DocumentFrequency.from_token_ids(*token_ids, n), "token-ids")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> DocumentFrequency:
        """Opens a saved file, memory-mapped. Raises `DataError` for a missing, foreign or damaged one."""
        with reading(path):
            if os.path.isdir(path):  # the system's own message would differ by platform
                raise IsADirectoryError
            counts = cls(_core.DocumentFrequency.load(fspath(path)), file_name(path))
            with open(path, "rb") as file:
                counts._file = os.path.abspath(path), checksum(file.read(_CHECKSUM.stop))
        return counts

    @classmethod
    def import_pickle(cls, path: str | PathLike[str]) -> DocumentFrequency:
        """Reads a COCO document-frequency pickle. Nothing in it is executed.

        Accepts `{'document_frequency': {tuple of str: count}, 'ref_len': N}`, the same with key `df`, and the bare
        dictionary (then N = 40,504, the size of the COCO validation set). Raises `DataError` for anything else.
        """
        data = read_bytes(path)
        try:
            core = packed(*_checked_counts(_loaded(data)))
        except (DataError, ValueError) as why:  # Python writes no whole number of more than 4,300 digits
            remedy = "`sacrecap df build REFERENCES -o FILE` makes document frequencies from the references"
            raise DataError(f"{os.fspath(path)}: {why}. {remedy}") from None
        return cls(core, file_name(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the file, whole or not at all. Raises `DataError` if it cannot be written."""
        with atomic_write(path, "wb") as file:
            file.write(self._core.to_bytes())

    def merge(self, other: DocumentFrequency) -> DocumentFrequency:
        """The sum of both, as if counted together; the two must share no image.

        Raises `UsageError` when they differ in `n`, tokenizer or stemming.
        """
        return DocumentFrequency(self._core.merge(other._core), f"{self.source}+{other.source}")

    def count(self, ngram: Sequence[str]) -> int:
        """Number of documents in which the n-gram of these words occurs."""
        return self._core.count(list(ngram))

    @property
    def documents(self) -> int:
        """Number of documents (images): the N of the IDF."""
        return self._core.documents

    @cached_property
    def checksum(self) -> str:
        """CRC-32 of the counts, eight hexadecimal digits: equal counts have equal checksums, on any machine."""
        return checksum(self._core.to_bytes()) if self._file is None else self._file[1]

    @property
    def ngrams(self) -> int:
        """Number of distinct n-grams."""
        return self._core.ngrams

    @property
    def words(self) -> int:
        """Number of distinct words."""
        return self._core.words

    @property
    def n(self) -> int:
        """The longest n-gram counted."""
        return self._core.n

    @property
    def tokenizer(self) -> str:
        """Tokenizer that cut the captions into words; `unknown` for an imported pickle."""
        return self._core.tokenizer

    @property
    def stem(self) -> bool:
        """Whether the words are stems."""
        return self._core.stem

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DocumentFrequency) and self._core == other._core

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<DocumentFrequency {self.source}: {self.ngrams:,} n-grams up to {self.n} over {self.documents:,} images, "
            f"{'stems' if self.stem else 'tokens'}, tokenizer {self.tokenizer}>"
        )


_EVERYWHERE = "document frequencies of a file are sent by its path: have the file there, the same on every machine"


def checksum(data: bytes) -> str:
    """The checksum that the bytes of document frequencies begin with."""
    return f"{int.from_bytes(data[_CHECKSUM], 'little'):08x}"


def check_order(n: int) -> None:
    """Raises `UsageError` for what is no order of n-grams."""
    if isinstance(n, (bool, float)) or n not in range(1, 5):
        raise UsageError(f"n must be a whole number from 1 to 4, got {n!r}")


def cut(tokenizer: str) -> str:
    """The tokenizer, for comparison: with the whole file or each caption, a tokenizer makes nearly the same tokens."""
    return {"ptb-stream": "ptb", "none": "whitespace", "blanks": "whitespace"}.get(tokenizer, tokenizer)


def file_name(path: str | PathLike[str]) -> str:
    """The file's name in messages, which are text: what is not UTF-8 in it becomes a question mark."""
    name = fspath(path).replace("\\", "/").rsplit("/", 1)[-1]
    return name.encode("utf-8", "replace").decode()


class FrequencyCounter:
    """Counts document frequencies batch by batch: see `DocumentFrequency.counter`."""

    def __init__(self, *, tokenizer: Tokenizer, n: int, stem: bool, memory: int, threads: int) -> None:
        if isinstance(memory, bool) or memory < 1:
            raise UsageError(f"memory must be a number of bytes above 0, got {memory!r}")
        folder = tempfile.TemporaryDirectory(prefix="sacrecap-", ignore_cleanup_errors=True)
        weakref.finalize(self, folder.cleanup)
        self._core = _core.FrequencyCounter(n, stem, tokenizer, memory=memory, folder=folder.name)
        self._tokenizer, self._threads = tokenizer, threads

    @property
    def documents(self) -> int:
        """Number of images so far."""
        return self._core.documents

    def add(self, references: CaptionSource) -> None:
        """Adds the references of images, none of which was added before.

        `references`: as for [`build`][sacrecap.DocumentFrequency.build]; also a list, or a column of Arrow, with the
        captions of each image, since ids do not matter here. Raises `DataError` for unusable references.
        """
        from sacrecap.corpus.corpus import encode_references

        self.add_encoded(encode_references(references, tokenizer=self._tokenizer, threads=self._threads))

    def add_encoded(self, references: _core.References) -> None:
        """Adds references that are cut into words by the counter's tokenizer."""
        self._core.add(references, self._threads)

    def merge(self, other: DocumentFrequency) -> None:
        """Adds what was counted elsewhere, of other images: in another process, which `finish` gave it.

        Raises `UsageError` when it differs in `n`, tokenizer or stemming.
        """
        self._core.merge(other._core, self._threads)

    def finish(self, *, minimum: int = 1) -> DocumentFrequency:
        """The frequencies of n-grams in at least `minimum` images; the counter is used up.

        An n-gram that one image has weighs as much as one that none has, so 2 gives the same scores in less memory.
        """
        return DocumentFrequency(self._core.finish(minimum, threads=self._threads), "built")


MAGIC = b"sacre\0df"
_COCO_VALIDATION = 40_504
"""Images of COCO's 2014 validation set: the documents behind the published counts that do not say."""


class _Unpickler(pickle.Unpickler):
    """Looks up no name but those of a `defaultdict` of numbers: a pickle may call whatever Python can import."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "defaultdict"):
            return lambda *_: {}  # the pickle fills it; the default is of no use to a reader
        if module in {"builtins", "__builtin__"} and name in {"int", "long", "float"}:
            return None  # the default, which is never called
        raise DataError(
            f"the pickle asks Python for {described(f'{module}.{name}')}, which document frequencies have no need of; "
            "nothing in it was executed. Do not open it with Python's `pickle` unless you trust its source"
        )


def _loaded(data: bytes) -> Any:
    """The value that the pickle describes."""
    if data.startswith(MAGIC):
        raise DataError("not a pickle: a document-frequency file of sacrecap, which needs no import")
    try:
        with contextlib.suppress(UnicodeDecodeError):
            return _Unpickler(io.BytesIO(data), encoding="utf-8").load()
        return _Unpickler(io.BytesIO(data), encoding="latin-1").load()
    except DataError:
        raise
    except Exception as error:  # noqa: BLE001  (a wrong pickle may fail in any way that Python knows)
        raise DataError(f"not a Python pickle, or cut off, or damaged ({str(error)[:200]!a})") from None


def _checked_counts(root: Any) -> tuple[dict[Any, Any], int]:
    """The counts of n-grams in what a pickle held, and the number of documents behind them."""
    if type(root) is not dict:
        raise _not_counts(f"it holds {described(root)}, and not a dictionary")
    counts: Any = root
    documents = _COCO_VALIDATION
    if {"document_frequency", "df", "ref_len"} & root.keys():
        stated: Any = root.get("ref_len")
        counts = root.get("document_frequency", root.get("df"))
        if type(counts) is not dict:
            raise _not_counts(f"its counts are {described(counts)}, and not a dictionary")
        if type(stated) not in {int, float} or not 1 <= stated < 2**53 or stated != int(stated):
            hint = " (perhaps its logarithm: store the number itself)" if type(stated) is float else ""
            raise _not_counts(f"'ref_len' is {described(stated)}, and not the number of documents{hint}")
        documents = int(stated)
    if not counts:
        raise _not_counts("it holds no n-gram")
    for ngram, count in counts.items():
        if type(ngram) is not tuple or len(ngram) not in range(1, 5) or not set(map(type, ngram)) <= {str}:
            raise _not_counts(f"{described(ngram)} is a key of the counts, and not a tuple of 1 to 4 words")
        if type(count) not in {int, float} or not 0 <= count < 2**32 or count != int(count):
            limit = f"a whole number from 0 to {2**32 - 1}"
            raise _not_counts(f"the count of {described(ngram)} is {described(count)}, and not {limit}")
    words = itertools.chain.from_iterable(counts)
    half = next((word for word in words if any("\ud800" <= character <= "\udfff" for character in word)), None)
    if half is not None:
        raise _not_counts(f"a word has half a character, {half!a}")
    return counts, documents


def packed(counts: Mapping[tuple[str, ...], float], documents: int) -> _core.DocumentFrequency:
    """The counts, whole numbers of n-grams of 1 to 4 words, as the native core takes them."""
    import numpy as np

    # Numbers the words in the order of first occurrence.
    numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    ids = np.fromiter(map(numbers.__getitem__, itertools.chain.from_iterable(counts)), "<u4")
    lengths, times = np.fromiter(map(len, counts), "u1"), np.fromiter(map(int, counts.values()), "<u4")
    packed_counts = ids.tobytes(), lengths.tobytes(), times.tobytes()
    return _core.DocumentFrequency.from_counts([*numbers], *packed_counts, documents)


def _not_counts(why: str) -> DataError:
    """The refusal of a valid pickle of something else."""
    return DataError(
        f"not a pickle of document frequencies: {why}. Accepted are {{'document_frequency': counts, 'ref_len': number "
        "of documents}, the same with 'df', and the bare counts: a dictionary from tuples of 1 to 4 words to whole "
        "numbers"
    )


FrequencySource: TypeAlias = "DocumentFrequency | str | os.PathLike[str]"
"""Document frequencies, their name, or the path of their file."""


def open_frequencies(source: object, progress: Progress | None = None) -> DocumentFrequency | None:
    """The frequencies that `document_frequency=` and `--df` take; None for `corpus`, the references being scored."""
    if source is None or isinstance(source, DocumentFrequency):
        return source
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(
            f"document_frequency must be {CORPUS!r}, a name, the path of a file or a sacrecap.DocumentFrequency, got a "
            f"{type(source).__name__}"
        )
    if source == CORPUS:
        return None
    return find_frequencies(os.fspath(source), progress)


def open_all_frequencies(sources: object, progress: Progress | None = None) -> tuple[DocumentFrequency, ...]:
    """The frequencies of one or several values of `document_frequency=`; of several, none is `corpus`."""
    several = sources if isinstance(sources, (list, tuple)) else [sources]
    counts = tuple(filter(None, (open_frequencies(source, progress) for source in several)))
    if len(counts) < len(several):
        raise UsageError(
            f"document_frequency takes {CORPUS!r} alone, or one or several files or names, got {sources!r}"
        )
    return counts


def find_frequencies(text: str, progress: Progress | None = None) -> DocumentFrequency:
    """The frequencies of a file's path or a name; neither hides the other."""
    is_name, is_path = text in frequency_names(), os.path.exists(text)
    if is_name and is_path:
        raise UsageError(
            f"{text} is a file here and the name of document frequencies; write {os.path.join(os.curdir, text)} for "
            "the file, or work in another folder for the name"
        )
    if is_name:
        return frequencies_of_set(testsets.TEST_SETS[text], progress)
    if not is_path and not os.path.splitext(text)[1]:  # a file's name has a message of its own
        counts = spelled(
            python="sacrecap.DocumentFrequency.build(references).save(FILE)",
            command="sacrecap df build REFERENCES -o FILE",
        )
        raise DataError(
            f"{text}: no such file, and no document frequencies of this name{did_you_mean(text, frequency_names())}; "
            f"names: {', '.join(frequency_names())}; make a file with {counts}"
        )
    return DocumentFrequency.load(text)


def frequency_names() -> list[str]:
    """The names of document frequencies."""
    return [name for name, test_set in testsets.TEST_SETS.items() if test_set.counts is not None]


def frequencies_of_set(test_set: TestSet, progress: Progress | None = None) -> DocumentFrequency:
    """The counts of an entry, memory-mapped. They are made once, from its file, which is fetched if it is not here."""
    path = testsets.place_of(test_set)
    if not os.path.isfile(path):
        if test_set.counts == "pickle":
            counts = DocumentFrequency.import_pickle(testsets.file_of(test_set.source, progress))
        else:
            counts = DocumentFrequency.build(testsets.captions_of(test_set, progress), stem=test_set.counts == "stems")
        counts.save(path)
    try:
        frequencies = DocumentFrequency.load(path)
    except DataError as error:
        raise DataError(f"{error}; remove it; then it is made again") from None
    frequencies.source = test_set.name
    return frequencies
