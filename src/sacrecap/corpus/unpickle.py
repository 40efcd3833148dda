"""The counts of a pickle of document frequencies: a program that `pickled` runs in a separate process.

A pickle is a program that may call whatever Python can import. Here it may name only what the published counts are made
of, a `defaultdict` of numbers; no other name is looked up. A pickle can still use up time and memory, or nest values
until the interpreter crashes: hence the process, and its limits.

Standard input is the pickle. Standard output is, where it holds counts, a line of JSON with `documents`, the number of
n-grams (`ngrams`) and `words`, the distinct ones; then, as little-endian arrays, the count of each n-gram (u32), its
length (u8), and the places of its words in `words` (u32 each). Otherwise it is the reason, and the exit status is
`REFUSED`.

Only the standard library is imported: the process starts isolated from the user's environment.
"""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import json
import operator
import pickle
import sys
from array import array
from collections import defaultdict
from reprlib import repr as described
from typing import Any

REFUSED = 3
"""The exit status for a file that is read, and is not what it should be."""

MAGIC = b"sacre\0df"
LARGEST = 2**31
COCO_VALIDATION = 40_504
"""Images of COCO's 2014 validation set: the documents behind the published counts that do not say."""
LENGTHS = {1, 2, 3, 4}
"""Words of an n-gram."""


class Refused(Exception):  # noqa: N818  (a verdict on the file, not a fault of the program)
    """Explains to the owner of the file why it gives no counts."""


class Reader(pickle.Unpickler):
    """Looks up no name but those below. `encoding` is that of Python 2's texts."""

    def __init__(self, data: bytes, encoding: str) -> None:
        # Buffered, because the unpickler reads ahead only in what can show its next bytes.
        super().__init__(io.BufferedReader(io.BytesIO(data)), encoding=encoding)

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "defaultdict"):
            return lambda *_: {}  # the pickle fills it; the default is of no use to a reader
        if module in {"builtins", "__builtin__"} and name in {"int", "long", "float"}:
            return None  # the default, which is never called
        raise Refused(
            f"the pickle asks Python for {described(f'{module}.{name}')}, which document frequencies have no need of; "
            "nothing in it was executed. Do not open it with Python's `pickle` unless you trust its source"
        )


def load(data: bytes) -> Any:
    """The value that the pickle describes. Raises `Refused`, or `MemoryError`."""
    if len(data) > LARGEST:
        raise Refused(f"the pickle has more than {LARGEST >> 30} GiB, the most that can be imported")
    if data.startswith(MAGIC):
        raise Refused("not a pickle: a document-frequency file of sacrecap, which needs no import")
    try:
        with contextlib.suppress(UnicodeDecodeError):
            return Reader(data, "utf-8").load()
        return Reader(data, "latin-1").load()
    except (Refused, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  (a wrong pickle may fail in any way that Python knows)
        raise Refused(f"not a Python pickle, or cut off, or damaged ({str(error)[:200]!a})") from None


def counts_and_documents(root: Any) -> tuple[dict[Any, Any], int]:
    """Which dictionary holds the counts, and the number of documents behind them."""
    if type(root) is not dict:
        raise not_counts(f"it holds {described(root)}, and not a dictionary")
    if not {"document_frequency", "df", "ref_len"} & root.keys():
        return root, COCO_VALIDATION
    counts = root.get("document_frequency", root.get("df"))
    if type(counts) is not dict:
        raise not_counts(f"its counts are {described(counts)}, and not a dictionary")
    documents: Any = root.get("ref_len")
    if type(documents) in {int, float} and 1 <= documents < 2**53 and documents == int(documents):
        return counts, int(documents)
    hint = " (perhaps its logarithm: store the number itself)" if type(documents) is float else ""
    raise not_counts(f"'ref_len' is {described(documents)}, and not the number of documents{hint}")


def packed(counts: dict[Any, Any], documents: int) -> list[bytes]:
    """The counts as the pieces of bytes that the child writes to standard output."""
    # Whole columns at once, which is several times as fast as entry by entry; faults are located afterwards.
    if not set(map(type, counts)) <= {tuple} or not set(map(len, counts)) <= LENGTHS:
        raise not_ngram(next(key for key in counts if type(key) is not tuple or len(key) not in LENGTHS))
    values = whole_numbers(counts)
    # Numbers the words in the order of first occurrence.
    numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    ids = array("I", list(map(numbers.__getitem__, itertools.chain.from_iterable(counts))))
    if not set(map(type, numbers)) <= {str}:
        raise not_ngram(next(ngram for ngram in counts if not set(map(type, ngram)) <= {str}))
    if not numbers:
        raise not_counts("it holds no n-gram")
    header = {"documents": documents, "ngrams": len(counts), "words": list(numbers)}
    try:
        line = json.dumps(header, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise not_counts(f"a word has half a character, {error.object[error.start]!a}") from None
    return [line, b"\n", little_endian(values), little_endian(array("B", map(len, counts))), little_endian(ids)]


def whole_numbers(counts: dict[Any, Any]) -> array[int]:
    """The counts, which may be written as floats, as u32."""
    if set(map(type, counts.values())) <= {int, float}:
        with contextlib.suppress(ValueError, OverflowError):  # not finite, or out of range
            numbers = array("I", map(int, counts.values()))
            if not any(map(operator.ne, numbers, counts.values())):
                return numbers
    ngram, count = next((ngram, n) for ngram, n in counts.items() if not is_count(n))
    raise not_counts(
        f"the count of {described(ngram)} is {described(count)}, and not a whole number from 0 to {2**32 - 1}"
    )


def is_count(value: Any) -> bool:
    """Whether it is a whole number that fits; True and False are not."""
    return type(value) in {int, float} and 0 <= value < 2**32 and value == int(value)


def little_endian(numbers: array[int]) -> bytes:
    """The bytes of an array, the same on any machine."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def not_ngram(key: Any) -> Refused:
    """The refusal of a wrong key."""
    return not_counts(f"{described(key)} is a key of the counts, and not a tuple of 1 to 4 words")


def not_counts(why: str) -> Refused:
    """The refusal of a valid pickle of something else."""
    return Refused(
        f"not a pickle of document frequencies: {why}. Accepted are {{'document_frequency': counts, 'ref_len': number "
        "of documents}, the same with 'df', and the bare counts: a dictionary from tuples of 1 to 4 words to whole "
        "numbers"
    )


def limit(seconds: int, memory: int) -> None:
    """Limits the processor time and the address space, in bytes, of this process, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        with contextlib.suppress(ValueError, OSError):  # macOS has limits that cannot be set
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main(seconds: int, memory: int, memory_per_byte: int) -> int:
    """`memory` limits the bytes for any file, `memory_per_byte` those for each byte of the file."""
    limit(seconds, 2 * LARGEST)
    # Nothing becomes garbage before the end, and collection would take longer than the reading.
    gc.disable()
    try:
        data = sys.stdin.buffer.read(LARGEST + 1)
        limit(seconds, memory + len(data) * (1 + memory_per_byte))
        answer, status = packed(*counts_and_documents(load(data))), 0
    except Refused as refused:
        answer, status = [str(refused).encode("utf-8", "replace")], REFUSED
    except MemoryError:
        answer, status = [b"reading the pickle takes more memory than document frequencies ever need"], REFUSED
    sys.stdout.buffer.writelines(answer)
    sys.stdout.buffer.flush()
    return status


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
