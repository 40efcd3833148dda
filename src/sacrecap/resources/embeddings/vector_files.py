"""Files of word vectors: word2vec (binary and text), GloVe, fastText and NumPy's `.npz`, recognised by their content.

A text or word2vec file is mapped into memory, as is a temporary one with the content of a gzip file, and scanned once:
the position of each word is found by its CRC-32. A vector is read when it is looked up, and its word there compared.

- Text: a word and its numbers on each line. word2vec's and fastText's begin with a line of two integers, the number of
  words and the dimension. A word may hold spaces (as in GloVe's 840B): the last fields of a line are its numbers.
- word2vec's binary format: the line `WORDS DIMENSION`, then for each word its text, a space, and its float32 numbers.
  Some writers end each vector with a line feed.
- `.npz`: two arrays, `words` (text) and `vectors` (words × dimension).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import mmap
import shutil
import tempfile
import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, NamedTuple

from sacrecap.data.source import read_bytes, reading
from sacrecap.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ACCEPTED = "word2vec (binary or text, also .gz), GloVe text, fastText .vec, .npz with the arrays words and vectors"
_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"
_UNREADABLE = {
    b"\x80": "a pickle, as gensim's .kv files are; take the vectors out of it with gensim, "
    "KeyedVectors.load(FILE).save_word2vec_format(OTHER, binary=True), and give that file",
    (793712314).to_bytes(4, "little"): "a fastText model; give its vectors, the .vec file of the same name",
}
"""How other files begin, and what to do with them."""
_NUMERALS = b"0123456789+-.eE \t\r\n"
_HEAD, _LONGEST_WORD, _BLOCK = 1 << 20, 10_000, 8192


class VectorTable(NamedTuple):
    """Vectors by word, as in a file; of a repeated word the first."""

    dimension: int
    """Length of every vector."""
    checksum: str
    """First 12 hexadecimal digits of the content's SHA-256."""
    vector: Callable[[str], NDArray[np.float64] | None]
    """The vector stored under exactly this word; None if there is none."""


def read_vectors(path: str) -> VectorTable:
    """The table in a file.

    Raises:
        DataError: it cannot be read, or is not a file of word vectors; the message names the line or the word.
    """
    with reading(path), open(path, "rb") as file:
        start = file.read(4)
    if not start:
        raise DataError(f"{path}: is empty; accepted: {_ACCEPTED}")
    for beginning, remedy in _UNREADABLE.items():
        if start.startswith(beginning):
            raise DataError(f"{path}: {remedy}")
    if start == _ZIP:
        return _read_npz(path)
    with reading(path):
        data = _mapped(path, compressed=start.startswith(_GZIP))
    return _scanned(path, data)


def table_of_arrays(name: str, words: Sequence[str], vectors: NDArray[np.generic], checksum: str) -> VectorTable:
    """A table of words and vectors in memory, (words, dimension), floating point; messages begin with the name."""
    import numpy as np

    if vectors.ndim != 2 or len(vectors) != len(words) or vectors.dtype.kind != "f":
        raise DataError(
            f"{name}: {len(words):,} words, and vectors of shape {vectors.shape} and type {vectors.dtype};"
            " expected is one row of floating-point numbers for each word"
        )
    if not vectors.size:
        raise DataError(f"{name}: no word vectors in it; write or download the file again")
    for first in range(0, len(vectors), _BLOCK):
        finite = np.isfinite(vectors[first : first + _BLOCK].astype("f8")).all(axis=1)
        if not finite.all():
            raise _not_finite(name, f"word {words[first + int(np.argmin(finite))]!r}")
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)

    def vector(word: str) -> NDArray[np.float64] | None:
        return vectors[rows[word]].astype("f8") if word in rows else None

    return VectorTable(int(vectors.shape[1]), checksum, vector)


def _read_npz(path: str) -> VectorTable:
    """Nothing in the file is executed."""
    import numpy as np

    try:
        content = read_bytes(path)
        with reading(path), np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            words, vectors = arrays["words"], arrays["vectors"]
    except KeyError as error:
        raise DataError(f"{path}: {error}; a .npz of word vectors has the arrays words and vectors") from None
    except (DataError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(
            f"{path}: cannot be read: {error}; write it by numpy.savez(file, words=…, vectors=…), "
            "words as an array of text"
        ) from None
    if words.ndim != 1 or words.dtype.kind not in "US":
        raise DataError(
            f"{path}: the array words must be text of one dimension, not {words.dtype} of shape {words.shape}"
        )
    texts = np.char.decode(words, "utf-8") if words.dtype.kind == "S" else words
    return table_of_arrays(path, texts.tolist(), vectors, hashlib.sha256(content).hexdigest()[:12])


def _mapped(path: str, *, compressed: bool) -> mmap.mmap:
    """The content of a file; that of a gzip file in another one, which ends with the process."""
    with ExitStack() as files:
        file: IO[bytes] = files.enter_context(open(path, "rb"))
        if compressed:
            packed, file = file, files.enter_context(tempfile.TemporaryFile())
            try:
                shutil.copyfileobj(gzip.GzipFile(fileobj=packed), file, _HEAD)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise DataError(f"{path}: broken gzip data ({error}); download the file again") from None
            if not file.tell():
                raise DataError(f"{path}: is empty; accepted: {_ACCEPTED}")
            file.flush()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _scanned(name: str, data: mmap.mmap) -> VectorTable:
    """The table over the content of a text or word2vec file."""
    import numpy as np

    first, _, rest = data[:_HEAD].partition(b"\n")
    declared = _declared(first)
    is_binary = declared is not None and not _is_text(rest.partition(b"\n")[0])
    if declared is None and not _is_text(first):
        raise DataError(f"{name}: not a file of word vectors; accepted: {_ACCEPTED}")
    dimension = declared[1] if declared else _trailing_numbers(data.readline())
    entries = _binary_entries(name, data, *declared) if declared and is_binary else _lines(name, data, dimension)
    hashes, starts = array("I"), array("Q")
    for word, start in entries:
        hashes.append(zlib.crc32(word))
        starts.append(start)
    if not starts:
        raise DataError(f"{name}: no word vectors in it; download the file again")
    if not is_binary and declared and declared[0] != len(starts):
        raise DataError(
            f"{name}: the first line declares {declared[0]:,} words, but {len(starts):,} lines follow; download"
            " the file again"
        )
    sums = np.array(hashes, dtype="<u4")
    order = np.argsort(sums, kind="stable")  # of equal words the first is found
    sums, places = sums[order], np.array(starts, dtype="<u8")[order]

    def vector(word: str) -> NDArray[np.float64] | None:
        encoded = word.encode(errors="replace")
        hashed = np.uint32(zlib.crc32(encoded))
        begin, end = (int(np.searchsorted(sums, hashed, side)) for side in ("left", "right"))
        entries = (
            _entry_at(name, data, int(place), encoded, dimension, is_binary=is_binary) for place in places[begin:end]
        )
        return next((entry for entry in entries if entry is not None), None)

    return VectorTable(dimension, hashlib.sha256(data).hexdigest()[:12], vector)


def _declared(line: bytes) -> tuple[int, int] | None:
    """The number of words and the dimension that a first line declares."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) < 12 for field in fields) and int(fields[1]) > 0:
        return int(fields[0]), int(fields[1])
    return None


def _is_text(line: bytes) -> bool:
    """Whether it is a line of a text file of vectors."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in line and _trailing_numbers(line) > 0


def _trailing_numbers(line: bytes) -> int:
    """Count of the numbers at the end of a line, without its first field."""
    count = 0
    for field in reversed(line.split()[1:]):
        try:
            float(field)
        except ValueError:
            break
        count += 1
    return count


def _binary_entries(name: str, data: mmap.mmap, count: int, dimension: int) -> Iterator[tuple[bytes, int]]:
    """Each word with its position. Raises `DataError` where the file is cut or goes on, and for NaN or infinity."""
    import numpy as np

    start = data.find(b"\n") + 1
    declares = f"{name}: the first line declares {count:,} words of {dimension} numbers, but the file"
    for number in range(1, count + 1):
        while data[start : start + 1] == b"\n":
            start += 1
        space = data.find(b" ", start, start + _LONGEST_WORD)
        end = space + 1 + 4 * dimension
        if space < 0 or end > len(data):
            raise DataError(f"{declares} ends within word {number:,}; download the file again")
        # One sum shows whether all are finite: in float64 it cannot overflow.
        if not math.isfinite(np.frombuffer(data[space + 1 : end], "<f4").sum(dtype="f8")):
            raise _not_finite(name, f"word {number:,}, {_quoted(data[start:space])}")
        yield data[start:space], start
        start = end
    if data[start : start + _LONGEST_WORD].strip(b"\n"):
        raise DataError(f"{declares} goes on after them; download the file again")


def _lines(name: str, data: mmap.mmap, dimension: int) -> Iterator[tuple[bytes, int]]:
    """Each word with the position of its line; the numbers are counted and checked, but not yet parsed.

    Raises `DataError` for too few or many numbers, NaN and infinity.
    """
    data.seek(0)
    following = 0
    for number, line in enumerate(iter(data.readline, b""), 1):
        start, following = following, following + len(line)
        if not line.strip() or (number == 1 and _declared(line)):
            continue
        word, _, values = line.rstrip().partition(b" ")
        if word and values.count(b" ") == dimension - 1 and not values.translate(None, _NUMERALS):
            yield word, start
            continue
        fields, numbers = line.rsplit(None, dimension), _trailing_numbers(line)
        if any(not math.isfinite(float(field)) for field in line.split()[1:][-numbers:] if numbers):
            raise _not_finite(name, f"line {number:,}, word {_quoted(word)}")
        if numbers != dimension or len(fields) != dimension + 1:
            raise DataError(
                f"{name}: line {number:,}: {_quoted(word)} has {numbers} numbers, the lines before it {dimension}; a "
                "file of word vectors has the same number on every line: download the file again, or correct the line"
            )
        yield fields[0], start


def _entry_at(
    name: str, data: mmap.mmap, start: int, word: bytes, dimension: int, *, is_binary: bool
) -> NDArray[np.float64] | None:
    """The vector of the entry that begins at `start`, if it is this word's."""
    import numpy as np

    if is_binary:
        numbers = start + len(word) + 1
        if data[start:numbers] != word + b" ":
            return None
        return np.frombuffer(data[numbers : numbers + 4 * dimension], "<f4").astype("f8")
    end = data.find(b"\n", start)
    fields = data[start : end if end >= 0 else len(data)].rsplit(None, dimension)
    if fields[0] != word:
        return None
    quoted = f"word {word.decode(errors='replace')!r}"
    try:
        vector = np.array([float(field) for field in fields[1:]])
    except ValueError as error:
        raise DataError(f"{name}: {quoted}: {error}; download the file again") from None
    if not np.isfinite(vector).all():
        raise _not_finite(name, quoted)
    return vector


def _quoted(word: bytes) -> str:
    return repr(word[:40].decode(errors="replace"))


def _not_finite(name: str, where: str) -> DataError:
    return DataError(f"{name}: {where}: NaN or infinity in its vector; remove the word, or download the file again")
