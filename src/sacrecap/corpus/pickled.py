"""Document frequencies from a Python pickle, such as the published ones of COCO.

A pickle is a program that may call whatever Python can import. Here it may name only what the published counts are made
of, a `defaultdict` of numbers; no other name is looked up, so nothing in it is executed.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import pickle
from collections import defaultdict
from reprlib import repr as described
from typing import TYPE_CHECKING, Any

from sacrecap import _core
from sacrecap.data.source import PathLike, read_bytes
from sacrecap.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

MAGIC = b"sacre\0df"
_COCO_VALIDATION = 40_504
"""Images of COCO's 2014 validation set: the documents behind the published counts that do not say."""
_LENGTHS = {1, 2, 3, 4}
"""Words of an n-gram."""


def read_pickle(path: PathLike) -> _core.DocumentFrequency:
    """The counts of the pickle. Raises `DataError` if it has none."""
    data = read_bytes(path)
    try:
        counts, documents = _counts_and_documents(_loaded(data))
        _check(counts)
        return packed(counts, documents)
    except (DataError, ValueError) as why:  # Python writes no whole number of more than 4,300 digits
        remedy = "`sacrecap df build REFERENCES -o FILE` makes document frequencies from the references"
        raise DataError(f"{os.fspath(path)}: {why}. {remedy}") from None


class _Unpickler(pickle.Unpickler):
    """Looks up no name but those below."""

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


def _counts_and_documents(root: Any) -> tuple[dict[Any, Any], int]:
    """Which dictionary holds the counts, and the number of documents behind them."""
    if type(root) is not dict:
        raise _not_counts(f"it holds {described(root)}, and not a dictionary")
    if not {"document_frequency", "df", "ref_len"} & root.keys():
        return root, _COCO_VALIDATION
    counts = root.get("document_frequency", root.get("df"))
    if type(counts) is not dict:
        raise _not_counts(f"its counts are {described(counts)}, and not a dictionary")
    documents: Any = root.get("ref_len")
    if type(documents) in {int, float} and 1 <= documents < 2**53 and documents == int(documents):
        return counts, int(documents)
    hint = " (perhaps its logarithm: store the number itself)" if type(documents) is float else ""
    raise _not_counts(f"'ref_len' is {described(documents)}, and not the number of documents{hint}")


def _check(counts: dict[Any, Any]) -> None:
    """Raises `DataError` unless they count n-grams."""
    if not counts:
        raise _not_counts("it holds no n-gram")
    for ngram, count in counts.items():
        if type(ngram) is not tuple or len(ngram) not in _LENGTHS or not set(map(type, ngram)) <= {str}:
            raise _not_counts(f"{described(ngram)} is a key of the counts, and not a tuple of 1 to 4 words")
        if type(count) not in {int, float} or not 0 <= count < 2**32 or count != int(count):
            limit = f"a whole number from 0 to {2**32 - 1}"
            raise _not_counts(f"the count of {described(ngram)} is {described(count)}, and not {limit}")
    words = itertools.chain.from_iterable(counts)
    half = next((word for word in words if any("\ud800" <= character <= "\udfff" for character in word)), None)
    if half is not None:
        raise _not_counts(f"a word has half a character, {half!a}")


def packed(counts: Mapping[tuple[str, ...], float], documents: int) -> _core.DocumentFrequency:
    """The counts, whole numbers of n-grams of 1 to 4 words, as the native core takes them."""
    import numpy as np

    # Numbers the words in the order of first occurrence.
    numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    ids = list(map(numbers.__getitem__, itertools.chain.from_iterable(counts)))

    def array(values: Any, kind: npt.DTypeLike) -> bytes:
        packed: npt.NDArray[np.generic] = np.fromiter(values, kind)
        return packed.tobytes()

    return _core.DocumentFrequency.from_counts(
        list(numbers),
        array(ids, "<u4"),
        array(map(len, counts), "u1"),
        array(map(int, counts.values()), "<u4"),
        documents,
    )


def _not_counts(why: str) -> DataError:
    """The refusal of a valid pickle of something else."""
    return DataError(
        f"not a pickle of document frequencies: {why}. Accepted are {{'document_frequency': counts, 'ref_len': number "
        "of documents}, the same with 'df', and the bare counts: a dictionary from tuples of 1 to 4 words to whole "
        "numbers"
    )
