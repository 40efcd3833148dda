"""Word vectors by name or file, and the words that have meaning. Nothing is read before the first vector is asked for.

Files are word2vec's (binary and text), GloVe's, fastText's and NumPy's `.npz`, recognised by their content. A text or
word2vec file is mapped into memory, as is a temporary one with the content of a gzip file, and scanned once: the
position of each word is found by its CRC-32. A vector is read when it is looked up, and its word there compared.

- Text: a word and its numbers on each line. word2vec's and fastText's begin with a line of two integers, the number of
  words and the dimension. A word may hold spaces (as in GloVe's 840B): the last fields of a line are its numbers.
- word2vec's binary format: the line `WORDS DIMENSION`, then for each word its text, a space, and its float32 numbers.
  Some writers end each vector with a line feed.
- `.npz`: two arrays, `words` (text) and `vectors` (words × dimension).

The function words are the 318 of scikit-learn's English stop list (BSD-3-Clause, scikit-learn developers), which the
published VIFIDEL script removes, so that one list serves both of the metric's variants. The list has oddities: `fire`,
`side` and `two` are in it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import mmap
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property, partial
from importlib.resources import files
from typing import IO, TYPE_CHECKING, NamedTuple, TypeAlias

from sacrecap import _core
from sacrecap.data.source import in_cache, read_bytes, reading
from sacrecap.data.testsets import save
from sacrecap.errors import DataError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT = "default"
"""The name of the vectors inside the package, made from WordNet by `models/word-vectors`."""
NAMES = (
    "conceptnet-numberbatch-17-06-300",
    "fasttext-wiki-news-subwords-300",
    *(f"glove-twitter-{dimension}" for dimension in (25, 50, 100, 200)),
    *(f"glove-wiki-gigaword-{dimension}" for dimension in (50, 100, 200, 300)),
    "word2vec-google-news-300",
)
"""English word vectors of gensim's data repository; they are fetched into the user's cache folder."""
_LINKING_WORDS = frozenset(["a", "an", "and", "at", "for", "from", "in", "of", "on", "or", "the", "to", "with"])
"""Words of compound labels that need no vector."""
FUNCTION_WORDS = frozenset((files("sacrecap.resources.english") / "function_words.txt").read_text("utf-8").split())
_CONTRACTIONS = frozenset(["n't", "'s", "'m", "'re", "'ve", "'ll", "'d", "'em", "ca", "wo"])
"""Parts that the tokenizer makes of contractions such as `can't` and `it's`."""

EmbeddingSource: TypeAlias = "str | os.PathLike[str] | Embeddings"


class Embeddings:
    """Word vectors that are read when they are needed; their name is that of their opening, without a folder."""

    def __init__(self, name: str, open_table: Callable[[], VectorTable]) -> None:
        """`open_table` is called once, on first use."""
        self.name = name
        self._open = open_table

    def __repr__(self) -> str:
        return f"Embeddings({self.name!r})"

    def __getstate__(self) -> dict[str, object]:
        """Pickles only the source of the vectors; they are read again on first use."""
        return {"name": self.name, "_open": self._open}

    @cached_property
    def _table(self) -> VectorTable:
        return self._open()

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._table.dimension

    @property
    def checksum(self) -> str:
        """First 12 hexadecimal digits of the SHA-256 of the content (of a gzip file: of what is inside)."""
        return self._table.checksum

    def find(self, labels: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The vectors of labels or words, unscaled, (labels, dimension), 0 if unknown; (labels,) which are known.

        A label is looked up as given, in lower case, joined (`potted plant` as `potted_plant`, `potted-plant`,
        `pottedplant`), in the singular, and as the mean of its parts if every part but function words is known: the
        first of these that the embeddings have counts. Raises `DataError` for a file that cannot be read.
        """
        import numpy as np

        spellings = self.spellings(labels)
        vectors = np.zeros((len(labels), self.dimension))
        for row, words in enumerate(spellings):
            vectors_of_words = [vector for word in words if (vector := self._table.vector(word)) is not None]
            if vectors_of_words:
                vectors[row] = sum(vectors_of_words[1:], start=vectors_of_words[0]) / len(vectors_of_words)
        return vectors, np.array([bool(words) for words in spellings], dtype=np.bool_)

    def spellings(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """The words under which each label is found: one, or those of its parts; none if it is unknown."""
        return [_spelling(self._table, label) for label in labels]


def open_embeddings(source: str | os.PathLike[str] | Embeddings) -> Embeddings:
    """Embeddings by name (`default`, `word2vec-google-news-300`, …) or by file, which wins; open ones are returned.

    Raises `DataError` for what is neither.
    """
    if isinstance(source, Embeddings):
        return source
    path = os.fspath(source)
    if path == DEFAULT:
        return Embeddings(DEFAULT, _read_default)
    if os.path.exists(path):
        return Embeddings(os.path.basename(path), partial(read_vectors, path))
    if path in NAMES:
        return Embeddings(path, partial(_read_named, path))
    names = (DEFAULT, *NAMES)
    unknown = f"no such file of word vectors, and no such name{did_you_mean(path, names)}"
    raise DataError(f"{path}: {unknown}; names: {', '.join(names)}")


def _read_default() -> VectorTable:
    """The words, one vector of 8-bit integers per word, and one factor per word that scales it to length 1."""
    import numpy as np

    content = files(__name__).joinpath("default.npz").read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        words = arrays["words"].tobytes().decode().split("\n")
        vectors = arrays["vectors"].astype("f4") * arrays["scales"][:, None]
    return table_of_arrays(DEFAULT, words, vectors, hashlib.sha256(content).hexdigest()[:12])


def _read_named(name: str) -> VectorTable:
    """The table of a name, whose file is downloaded unless it is there, in our cache folder or in gensim's."""
    folder = in_cache("embeddings")
    gensim_folder = os.environ.get("GENSIM_DATA_DIR", os.path.expanduser("~/gensim-data"))
    path, other_path = (os.path.join(place, name, f"{name}.gz") for place in (folder, gensim_folder))
    if not os.path.exists(path) and os.path.exists(other_path):
        return read_vectors(other_path)
    if not os.path.exists(path):
        url = f"https://github.com/piskvorky/gensim-data/releases/download/{name}/{name}.gz"
        try:
            save(url, path)
        except DataError as error:
            raise DataError(f"{name}: cannot be fetched ({error}); fetch {url} and put it at {path}") from None
    return read_vectors(path)


def _spelling(table: VectorTable, label: str) -> tuple[str, ...]:
    """The first form that the table has, or that of each part; nothing if a part is unknown."""
    pieces = _parts(label)
    for form in _forms(label, pieces):
        if table.vector(form) is not None:
            return (form,)
    # Function words (`bottle of wine`) do not count: many tables lack them.
    content = [piece for piece in pieces if piece.lower() not in _LINKING_WORDS] if len(pieces) > 1 else []
    of_parts = [_spelling(table, part) for part in content]
    return tuple(word for words in of_parts for word in words) if all(of_parts) else ()


def _forms(label: str, pieces: list[str]) -> Iterator[str]:
    """The words that may match the label, the best first. Some may come twice."""
    lower = label.lower()
    yield label
    yield lower
    if len(pieces) < 2:
        yield from _core.singulars(lower)
        return
    for joiner in ("_", "-", ""):
        yield joiner.join(pieces)
        yield joiner.join(pieces).lower()
    *before, last = _parts(lower)
    for singular in _core.singulars(last):
        for joiner in (" ", "_", "-", ""):
            yield joiner.join((*before, singular))


def _parts(label: str) -> list[str]:
    return [part for part in re.split(r"[\s_-]+", label) if part]


def is_content(token: str) -> bool:
    """Whether a token is a content word: it has a letter or a digit, and is not a function word."""
    word = token.lower()
    return word not in FUNCTION_WORDS and word not in _CONTRACTIONS and any(map(str.isalnum, word))


def script_words(text: str) -> list[str]:
    """The words of the published script: runs of two or more word characters, in lower case."""
    return re.findall(r"\w\w+", text.lower())


_ACCEPTED = "word2vec (binary or text, also .gz), GloVe text, fastText .vec, .npz with the arrays words and vectors"
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
    """The table in a file. Raises `DataError`, which names the line or the word."""
    with reading(path), open(path, "rb") as file:
        start = file.read(4)
    if not start:
        raise DataError(f"{path}: is empty; accepted: {_ACCEPTED}")
    for beginning, remedy in _UNREADABLE.items():
        if start.startswith(beginning):
            raise DataError(f"{path}: {remedy}")
    if start == b"PK\x03\x04":
        return _read_npz(path)
    with reading(path), ExitStack() as opened:
        content: IO[bytes] = opened.enter_context(open(path, "rb"))
        if start.startswith(b"\x1f\x8b"):  # the content of a gzip file is mapped from another one, which ends with us
            packed, content = content, opened.enter_context(tempfile.TemporaryFile())
            try:
                shutil.copyfileobj(gzip.GzipFile(fileobj=packed), content, _HEAD)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise DataError(f"{path}: broken gzip data ({error}); download the file again") from None
            if not content.tell():
                raise DataError(f"{path}: is empty; accepted: {_ACCEPTED}")
            content.flush()
        return _scanned(path, mmap.mmap(content.fileno(), 0, access=mmap.ACCESS_READ))


def table_of_arrays(name: str, words: Sequence[str], vectors: NDArray[np.generic], checksum: str) -> VectorTable:
    """A table of words and vectors in memory, (words, dimension), floating point; messages begin with the name."""
    import numpy as np

    if vectors.ndim != 2 or len(vectors) != len(words) or vectors.dtype.kind != "f":
        shape = f"{len(words):,} words, and vectors of shape {vectors.shape} and type {vectors.dtype}"
        raise DataError(f"{name}: {shape}; expected is one row of floating-point numbers for each word")
    if not vectors.size:
        raise DataError(f"{name}: no word vectors in it; write or download the file again")
    for first in range(0, len(vectors), _BLOCK):
        finite = np.isfinite(vectors[first : first + _BLOCK].astype("f8")).all(axis=1)
        if not finite.all():
            raise _not_finite(f"{name}: word {words[first + int(np.argmin(finite))]!r}")
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
        remedy = "write it by numpy.savez(file, words=…, vectors=…), words as an array of text"
        raise DataError(f"{path}: cannot be read: {error}; {remedy}") from None
    if words.ndim != 1 or words.dtype.kind not in "US":
        shape = f"{words.dtype} of shape {words.shape}"
        raise DataError(f"{path}: the array words must be text of one dimension, not {shape}")
    texts = np.char.decode(words, "utf-8") if words.dtype.kind == "S" else words
    return table_of_arrays(path, texts.tolist(), vectors, hashlib.sha256(content).hexdigest()[:12])


def _scanned(name: str, data: mmap.mmap) -> VectorTable:
    """The table over the content of a text or word2vec file: the words' CRC-32, sorted, with the places of entries."""
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
        counts = f"the first line declares {declared[0]:,} words, but {len(starts):,} lines follow"
        raise DataError(f"{name}: {counts}; download the file again")
    sums = np.array(hashes, dtype="<u4")
    order = np.argsort(sums, kind="stable")  # of equal words the first is found
    sums, places = sums[order], np.array(starts, dtype="<u8")[order]

    def vector(word: str) -> NDArray[np.float64] | None:
        encoded = word.encode(errors="replace")
        hashed = np.uint32(zlib.crc32(encoded))
        begin, end = (int(np.searchsorted(sums, hashed, side)) for side in ("left", "right"))
        for start in places[begin:end].tolist():
            if is_binary:
                numbers = start + len(encoded) + 1
                if data[start:numbers] == encoded + b" ":
                    return np.frombuffer(data[numbers : numbers + 4 * dimension], "<f4").astype("f8")
                continue
            stop = data.find(b"\n", start)
            fields = data[start : stop if stop >= 0 else len(data)].rsplit(None, dimension)
            if fields[0] == encoded:
                return _parsed(f"{name}: word {encoded.decode(errors='replace')!r}", fields[1:])
        return None

    return VectorTable(dimension, hashlib.sha256(data).hexdigest()[:12], vector)


def _declared(line: bytes) -> tuple[int, int] | None:
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
            raise _not_finite(f"{name}: word {number:,}, {_quoted(data[start:space])}")
        yield data[start:space], start
        start = end
    if data[start : start + _LONGEST_WORD].strip(b"\n"):
        raise DataError(f"{declares} goes on after them; download the file again")


def _lines(name: str, data: mmap.mmap, dimension: int) -> Iterator[tuple[bytes, int]]:
    """Each word with the position of its line; the numbers are counted and checked, but not yet parsed."""
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
            raise _not_finite(f"{name}: line {number:,}, word {_quoted(word)}")
        if numbers != dimension or len(fields) != dimension + 1:
            raise DataError(
                f"{name}: line {number:,}: {_quoted(word)} has {numbers} numbers, the lines before it {dimension}; a "
                "file of word vectors has the same number on every line: download the file again, or correct the line"
            )
        yield fields[0], start


def _parsed(where: str, fields: Sequence[bytes]) -> NDArray[np.float64]:
    import numpy as np

    try:
        vector = np.array([float(field) for field in fields])
    except ValueError as error:
        raise DataError(f"{where}: {error}; download the file again") from None
    if not np.isfinite(vector).all():
        raise _not_finite(where)
    return vector


def _quoted(word: bytes) -> str:
    return repr(word[:40].decode(errors="replace"))


def _not_finite(where: str) -> DataError:
    return DataError(f"{where}: NaN or infinity in its vector; remove the word, or download the file again")
