"""The counts of a pickle of document frequencies: a program that `pickled` runs in a separate process.

A pickle is a program that may call whatever Python can import. Here it may name only what the counts of captions are
made of, each with a stand-in below; no other name is looked up. A pickle can still use up time and
memory, or nest values until the interpreter crashes: hence the process, and its limits.

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
import struct
import sys
from array import array
from collections import defaultdict
from typing import Any

REFUSED = 3
"""The exit status for a file that is read, and is not what it should be."""

MAGIC = b"sacre\0df"
LARGEST = 2**31
EXACT = 2**53
"""Above this number, floats cannot represent every whole number."""

COCO_VALIDATION = 40_504
"""Images of COCO's 2014 validation set: the documents behind the published counts that do not say."""

MAX_ORDER = 4
MAX_COUNT = 2**32 - 1


class Refused(Exception):  # noqa: N818  (a verdict on the file, not a fault of the program)
    """Explains to the owner of the file why it gives no counts."""


def mapping(*arguments: Any) -> dict[Any, Any]:
    """Stands in for `dict`, `defaultdict`, `Counter` and `OrderedDict`; a default is of no use to a reader."""
    items: Any = arguments[0] if arguments else None
    return dict(items) if type(items) in {dict, list} else {}


def encode(text: str, _: str = "latin1") -> bytes:
    """Stands in for `_codecs.encode`, by which protocols 0 to 2 spell bytes."""
    return text.encode("latin-1")


LAYOUTS = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f4": "f", "f8": "d"}
"""NumPy's number types, as `struct` calls them."""


class Dtype:
    """Stands in for `numpy.dtype`: one of the number types."""

    __slots__ = ("layout",)

    def __init__(self, name: str | bytes, *_: Any) -> None:
        self.layout = "<" + LAYOUTS[decoded(name).removeprefix("<")]

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if decoded(state[1]) not in {"<", "|", "="}:
            raise ValueError("a number type that is not little-endian")


def scalar(dtype: Dtype, data: bytes) -> Any:
    """Stands in for NumPy's single numbers."""
    return struct.unpack(dtype.layout, data)[0]


NUMBER = object()
"""Stands in for the default factories of a `defaultdict`, which are never called."""

NAMES: dict[tuple[str, str], Any] = {
    **{("collections", name): mapping for name in ("defaultdict", "Counter", "OrderedDict")},
    **{(module, "dict"): mapping for module in ("builtins", "__builtin__")},
    **{(module, name): NUMBER for module in ("builtins", "__builtin__") for name in ("int", "float", "long")},
    ("_codecs", "encode"): encode,
    ("numpy.core.multiarray", "scalar"): scalar,
    ("numpy._core.multiarray", "scalar"): scalar,
    ("numpy", "dtype"): Dtype,
}


class Reader(pickle.Unpickler):
    """Looks up no name but those of `NAMES`. Texts of Python 2 stay bytes, because their encoding is unknown."""

    def __init__(self, data: bytes) -> None:
        # Buffered, because the unpickler reads ahead only in what can show its next bytes.
        super().__init__(io.BufferedReader(io.BytesIO(data)), encoding="bytes")

    def find_class(self, module: str, name: str) -> Any:
        try:
            return NAMES[module, name]
        except KeyError:
            called = _printable(f"{module[:60]}.{name[:60]}")
            raise Refused(
                f"the pickle asks Python for `{called}`, which document frequencies have no need of; nothing in it was "
                "executed. Do not open it with Python's `pickle` unless you trust its source"
            ) from None


def load(data: bytes) -> Any:
    """The value that the pickle describes. Raises `Refused`, or `MemoryError`."""
    if len(data) > LARGEST:
        raise Refused(f"the pickle has more than {LARGEST >> 30} GiB, the most that can be imported")
    if data.startswith(MAGIC):
        raise Refused("not a pickle: a document-frequency file of sacrecap, which needs no import")
    try:
        return Reader(data).load()
    except (Refused, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  (a wrong pickle may fail in any way that Python knows)
        import pickletools

        if data and chr(data[0]) not in {opcode.code for opcode in pickletools.opcodes}:
            raise Refused("not a Python pickle") from None
        if isinstance(error, EOFError) or "truncated" in str(error) or "exhausted" in str(error):
            raise Refused("the pickle ends too early: it was cut off; download or copy it again") from None
        what = _printable(str(error)[:200])
        raise Refused(f"the pickle is damaged, or holds what document frequencies have no need of ({what})") from None


def counts_and_documents(root: Any) -> tuple[dict[Any, Any], int]:
    """Which dictionary holds the counts, and the number of documents behind them."""
    if type(root) is not dict:
        raise not_counts(f"it holds {describe(root)}, and not a dictionary")
    by_name = {decoded(key): value for key, value in root.items() if type(key) in {str, bytes}}
    counts = by_name.get("document_frequency", by_name.get("df"))
    documents = by_name.get("ref_len")
    if "ref_len" not in by_name and counts is None:
        return root, COCO_VALIDATION
    if counts is None and "document_frequency" not in by_name and "df" not in by_name:
        raise not_counts("it has 'ref_len', but no 'document_frequency'")
    if type(counts) is not dict:
        raise not_counts(f"its counts are {describe(counts)}, and not a dictionary")
    if "ref_len" not in by_name:
        raise not_counts("it lacks 'ref_len', the number of documents")
    return counts, document_count(documents)


def document_count(value: Any) -> int:
    """The number of documents; a frequent mistake is to store its logarithm."""
    if is_whole(value) and 1 <= value < EXACT:
        return int(value)
    is_logarithm = type(value) is float and 0 < value < 64
    hint = " (perhaps its logarithm: store the number itself)" if is_logarithm else ""
    raise not_counts(f"'ref_len' is {describe(value)}, and not the number of documents{hint}")


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, written as an integer or as a float; True and False are not."""
    return type(value) is int or (type(value) is float and value.is_integer())


def packed(counts: dict[Any, Any], documents: int) -> list[bytes]:
    """The counts as the pieces of bytes that the child writes to standard output."""
    # Whole columns at once, which is several times as fast as entry by entry; faults are located afterwards.
    if not set(map(type, counts)) <= {tuple} or not set(map(len, counts)) <= set(range(1, MAX_ORDER + 1)):
        raise not_ngram(next(key for key in counts if type(key) is not tuple or not 1 <= len(key) <= MAX_ORDER))
    values = whole_numbers(counts)
    # Numbers each item of the n-grams in the order of first occurrence.
    numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    ids = array("I", list(map(numbers.__getitem__, itertools.chain.from_iterable(counts))))
    try:
        words = list(map(spelling, numbers))
    except ValueError:
        raise not_ngram(next(ngram for ngram in counts if not all(map(is_word, ngram)))) from None
    if len(set(words)) < len(words):
        words, ids = respelt(words, ids, counts)
    if not words:
        raise not_counts("it holds no n-gram")
    return [
        json.dumps({"documents": documents, "ngrams": len(counts), "words": words}).encode() + b"\n",
        little_endian(values),
        little_endian(array("B", map(len, counts))),
        little_endian(ids),
    ]


def respelt(words: list[str], ids: array[int], counts: dict[Any, Any]) -> tuple[list[str], array[int]]:
    """The distinct words, and the n-grams by them: 1, '1' and b'1' are one word here, and three in Python.

    Raises `Refused` if two n-grams become one so.
    """
    places = {word: place for place, word in enumerate(dict.fromkeys(words))}
    ids = array("I", [places[words[number]] for number in ids])
    seen, rest = set(), iter(ids)
    for length in map(len, counts):
        ngram = tuple(itertools.islice(rest, length))
        if ngram in seen:
            spelt = list(places)
            raise not_counts(f"the n-gram {quoted(' '.join(spelt[place] for place in ngram))} is counted twice")
        seen.add(ngram)
    return list(places), ids


def whole_numbers(counts: dict[Any, Any]) -> array[int]:
    """The counts, which may be written as floats, as u32."""
    try:
        if set(map(type, counts.values())) <= {int, float}:
            numbers = array("I", map(int, counts.values()))
            if not any(map(operator.ne, numbers, counts.values())):
                return numbers
    except (ValueError, OverflowError):  # not finite, or out of range
        pass
    ngram, count = next((ngram, n) for ngram, n in counts.items() if not is_whole(n) or not 0 <= n <= MAX_COUNT)
    raise not_counts(
        f"the count of {describe(ngram)} is {describe(count)}, and not a whole number from 0 to {MAX_COUNT}"
    )


def spelling(item: Any) -> str:
    """A word: a text, bytes that are UTF-8 or else Latin-1, or the digits of a whole number."""
    if is_whole(item) and abs(item) < EXACT:
        return str(int(item))
    if type(item) not in {str, bytes}:
        raise ValueError
    word = decoded(item)
    try:
        word.encode()
    except UnicodeEncodeError:
        # Python 2 may write a character as two halves. A half alone is not text: a `ValueError` too.
        word = word.encode("utf-16", "surrogatepass").decode("utf-16")
    return word


def is_word(item: Any) -> bool:
    """Whether it can be spelt."""
    try:
        spelling(item)
    except ValueError:
        return False
    return True


def decoded(text: str | bytes) -> str:
    """UTF-8, or else Latin-1, in which any bytes are text."""
    if isinstance(text, str):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def little_endian(numbers: array[int]) -> bytes:
    """The bytes of an array, the same on any machine."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def not_ngram(key: Any) -> Refused:
    """The refusal of a wrong key."""
    return not_counts(f"{describe(key)} is a key of the counts, and not a tuple of 1 to {MAX_ORDER} words")


def not_counts(why: str) -> Refused:
    """The refusal of a valid pickle of something else."""
    return Refused(
        f"not a pickle of document frequencies: {why}. Accepted are {{'document_frequency': counts, 'ref_len': number "
        "of documents}, the same with 'df', and the bare counts: a dictionary from tuples of 1 to 4 words to whole "
        "numbers"
    )


def describe(value: Any, *, inside: bool = False) -> str:
    """The value in a few words of a message, without looking into tuples in tuples: they may be nested deeply."""
    kind: type = type(value)
    if value is None or kind in {bool, float}:
        return repr(value)
    if kind is int:
        return str(value) if abs(value) < 2**64 else "a number of more than 64 bits"
    if kind in {str, bytes}:
        return quoted(decoded(value[:60]))
    if kind is not tuple:
        named: dict[type, str] = {dict: "a dictionary", list: "a list", set: "a set"}
        return named.get(kind, "a Python object")
    if inside:
        return "a tuple"
    if not 1 <= len(value) <= MAX_ORDER:
        return f"a tuple of {len(value)} items"
    return f"({', '.join(describe(item, inside=True) for item in value)})"


def quoted(text: str) -> str:
    """The beginning of a text, for a message."""
    return f"'{_printable(text[:60])}'"


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


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
        sys.stdout.buffer.writelines(packed(*counts_and_documents(load(data))))
    except Refused as refused:
        answer, status = str(refused), REFUSED
    except MemoryError:
        answer, status = "reading the pickle takes more memory than document frequencies ever need", REFUSED
    else:
        answer, status = "", 0
    sys.stdout.buffer.write(answer.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return status


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
