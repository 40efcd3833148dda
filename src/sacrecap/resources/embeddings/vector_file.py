"""A file of word vectors, its format recognised from its content."""

from __future__ import annotations

from sacrecap.data.source import reading
from sacrecap.errors import DataError
from sacrecap.resources.embeddings import text_formats
from sacrecap.resources.embeddings.vector_table import VectorTable

ACCEPTED = "word2vec (binary or text, also .gz), GloVe text, fastText .vec, .npz with the arrays words and vectors"
_ZIP = b"PK\x03\x04"
_PICKLE = b"\x80"
_FASTTEXT_MODEL = (793712314).to_bytes(4, "little")
_GZIP = b"\x1f\x8b"


def read(path: str) -> VectorTable:
    """The table in a file.

    Raises:
        DataError: it cannot be read, or is not a file of word vectors; the message names the line or the word.
    """
    with reading(path), open(path, "rb") as file:
        start = file.read(4)
    if not start:
        raise DataError(f"{path}: is empty; accepted: {ACCEPTED}")
    if start == _ZIP:
        from sacrecap.resources.embeddings import npz

        return npz.read(path)
    if start[:1] == _PICKLE:
        raise DataError(
            f"{path}: a pickle, as gensim's .kv files are; take the vectors out of it with gensim, "
            "KeyedVectors.load(FILE).save_word2vec_format(OTHER, binary=True), and give that file"
        )
    if start == _FASTTEXT_MODEL:
        raise DataError(f"{path}: a fastText model; give its vectors, the .vec file of the same name")
    from sacrecap.resources.embeddings import scanned

    return scanned.read(path, compressed=start[:2] == _GZIP)


def kind_of(name: str, head: bytes) -> tuple[int, int] | None:
    """The numbers that the first line declares if the content is word2vec's binary format; None for text.

    Raises:
        DataError: it is neither.
    """
    first, _, rest = head.partition(b"\n")
    declared = text_formats.header(first)
    if declared is None:
        if not _is_text_line(first) or not text_formats.trailing_numbers(first):
            raise DataError(f"{name}: not a file of word vectors; accepted: {ACCEPTED}")
        return None
    second = rest.partition(b"\n")[0]
    complete = _is_text_line(second) and text_formats.trailing_numbers(second)
    return None if complete else declared


def _is_text_line(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in line
