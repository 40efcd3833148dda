"""Every format gives the same vectors, and bad files one message each."""

from __future__ import annotations

import gzip
import pickle
import zlib
from pathlib import Path

import numpy as np
import pytest

from sacrecap.errors import DataError
from sacrecap.resources.embeddings import Embeddings, open_embeddings

WORDS = ["the", "cat", "naïve", "potted_plant", "x-ray"]
VECTORS = np.random.default_rng(5).normal(size=(5, 7)).astype("f4")


def text(header: str = "", end: str = "\n") -> bytes:
    lines = [" ".join([word, *(repr(float(x)) for x in row)]) + end for word, row in zip(WORDS, VECTORS, strict=True)]
    return (header + "".join(lines)).encode()


def binary(end: bytes = b"") -> bytes:
    rows = (word.encode() + b" " + row.tobytes() + end for word, row in zip(WORDS, VECTORS, strict=True))
    return b"5 7\n" + b"".join(rows)


CONTENTS = {
    "glove.txt": text(),
    "windows.txt": text(end="\r\n"),
    "trailing-space.txt": text("5 7\n", end=" \n"),
    "tabs.txt": text().replace(b" ", b"\t"),
    "no-last-line-feed.txt": text().rstrip(),
    "fasttext.vec": text("5 7\n"),
    "word2vec.bin": binary(),
    "word2vec-lines.bin": binary(b"\n"),
    "glove.txt.gz": gzip.compress(text()),
    "word2vec.bin.gz": gzip.compress(binary()),
    "no-suffix": binary(),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_vectors_are_those_of_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(CONTENTS[name])
    check(open_embeddings(tmp_path / name))
    assert [one.name for one in tmp_path.iterdir()] == [name]


def check(embeddings: Embeddings) -> None:
    vectors, known = embeddings.find([*WORDS, "unheard-of"])
    assert embeddings.dimension == 7
    assert vectors.dtype == np.float64
    assert known.tolist() == [True] * 5 + [False]
    np.testing.assert_array_equal(vectors[:5], VECTORS.astype("f8"))
    assert not vectors[5].any()


@pytest.mark.parametrize("dtype", ["U", "S"])
def test_npz(tmp_path: Path, dtype: str) -> None:
    words = np.array(WORDS if dtype == "U" else [word.encode() for word in WORDS])
    np.savez(tmp_path / "a.npz", words=words, vectors=VECTORS)
    check(open_embeddings(tmp_path / "a.npz"))


def test_the_checksum_is_that_of_what_is_inside(tmp_path: Path) -> None:
    for name in ("glove.txt", "glove.txt.gz", "word2vec.bin"):
        (tmp_path / name).write_bytes(CONTENTS[name])
    plain, compressed, other = (
        open_embeddings(tmp_path / name).checksum for name in ("glove.txt", "glove.txt.gz", "word2vec.bin")
    )
    assert plain == compressed != other
    assert len(plain) == 12


def test_of_a_repeated_word_the_first_counts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("cat 1 2\ndog 3 4\ncat 5 6\n")
    np.savez(tmp_path / "a.npz", words=np.array(["cat", "dog", "cat"]), vectors=np.array([[1.0, 2], [3, 4], [5, 6]]))
    for name in ("a.txt", "a.npz"):
        assert open_embeddings(tmp_path / name).find(["cat"])[0].tolist() == [[1, 2]]


def test_words_with_spaces(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("cat 1 2\n. . . 3 4\n7 5 6\n")
    vectors, known = open_embeddings(tmp_path / "a.txt").find([". . .", "7"])
    assert known.all()
    assert vectors.tolist() == [[3, 4], [5, 6]]


def test_opening_reads_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("not vectors at all\n")
    embeddings = open_embeddings(tmp_path / "a.txt")
    assert embeddings.name == "a.txt"
    assert open_embeddings(embeddings) is embeddings
    with pytest.raises(DataError, match="not a file of word vectors"):
        _ = embeddings.dimension


BAD = {
    "empty": (b"", r"a: is empty; accepted: word2vec"),
    "empty gzip": (gzip.compress(b""), r"a: is empty; accepted"),
    "json": (b'{"images": []}', r"a: not a file of word vectors; accepted: word2vec .*GloVe.*npz"),
    "image": (b"\x89PNG\r\n\x1a\n" + bytes(50), r"not a file of word vectors"),
    "pickle": (pickle.dumps([]), r"a: a pickle, as gensim's .*save_word2vec_format\(OTHER, binary=True\)"),
    "fasttext model": (b"\xba\x16\x4f\x2f" + bytes(50), r"a fastText model; give .*\.vec"),
    "mixed dimensions": (b"cat 1 2 3\ndog 1 2\n", r"a: line 2: 'dog' has 2 numbers, the lines before it 3"),
    "too many": (b"cat 1 2\ndog 1 2 3\n", r"line 2: 'dog' has 3 numbers, the lines before it 2"),
    "no number": (b"cat 1 2\ndog 1 x\n", r"line 2: 'dog' has 0 numbers"),
    "odd number": (b"cat 1 2\ndog 1 2e\n", r"line 2|'dog'"),
    "nan": (b"cat 1 2\ndog 1 nan\n", r"a: line 2, word 'dog': NaN or infinity"),
    "infinity": (b"1 2\ndog -inf 3\n", r"line 2, word 'dog': NaN or infinity"),
    "overflow": (b"dog 1e999 3\n", r"word 'dog': NaN or infinity"),
    "fewer lines": (b"3 2\ncat 1 2\ndog 1 2\n", r"declares 3 words, but 2 lines follow"),
    "more lines": (b"1 2\ncat 1 2\ndog 1 2\n", r"declares 1 words, but 2 lines follow"),
    "header only": (b"0 5\n", r"no word vectors in it"),
    "truncated": (binary()[:-3], r"a: the first line declares 5 words of 7 numbers, but the file ends within word 5"),
    "truncated gzip": (gzip.compress(binary())[:-20], r"a: broken gzip data \(.*ended.*\); download"),
    "too long": (binary() + b"more", r"the file goes on after them"),
    "nan in binary": (
        binary().replace(VECTORS[1].tobytes(), np.full(7, np.nan, "f4").tobytes()),
        r"a: word 2, 'cat': NaN or infinity",
    ),
    "zip": (b"PK\x03\x04" + bytes(50), r"a: cannot be read: .*numpy\.savez"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path: Path, case: str) -> None:
    content, message = BAD[case]
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(DataError, match=message) as raised:
        open_embeddings(tmp_path / "a").find(["dog", "cat"])
    assert str(tmp_path / "a") in str(raised.value)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"vectors": np.ones((2, 3))}, "the arrays words and vectors"),
        ({"words": np.array(["a", "b"]), "vectors": np.ones((3, 3))}, r"2 words, and vectors of shape \(3, 3\)"),
        ({"words": np.array(["a", "b"]), "vectors": np.array([[1, 2], [3, np.nan]])}, "word 'b': NaN"),
        ({"words": np.array(["a", "b"], object), "vectors": np.ones((2, 3))}, "words as an array of text"),
        ({"words": np.array([1, 2]), "vectors": np.ones((2, 3))}, "must be text"),
        ({"words": np.array([], "U1"), "vectors": np.ones((0, 3))}, "no word vectors in it"),
    ],
)
def test_bad_npz(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=message):
        open_embeddings(tmp_path / "a.npz").find(["a"])


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.txt: no such file of word vectors, and no such name; names: default, "):
        open_embeddings(tmp_path / "gone.txt")
    with pytest.raises(DataError, match=r"did you mean 'word2vec-google-news-300'\?"):
        open_embeddings("word2vec-google-news")
    with pytest.raises(DataError, match="is a directory"):
        open_embeddings(tmp_path).find(["a"])


@pytest.mark.parametrize("words", [["plumless", "buckeroo"], ["buckeroo", "plumless"]])
def test_words_of_one_checksum_are_told_apart(tmp_path: Path, words: list[str]) -> None:
    assert {zlib.crc32(word.encode()) for word in words} == {0x4DDB0C25}
    (tmp_path / "a.txt").write_text("".join(f"{word} {number} 1\n" for number, word in enumerate(words)))
    vectors, known = open_embeddings(tmp_path / "a.txt").find(words)
    assert known.all()
    assert vectors.tolist() == [[0, 1], [1, 1]]


def test_what_gensim_writes_is_read(tmp_path: Path) -> None:
    """As the message about its own files proposes."""
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors(7)
    keyed_vectors.add_vectors(WORDS, VECTORS)
    keyed_vectors.save(str(tmp_path / "a.kv"))
    with pytest.raises(DataError, match="KeyedVectors.load"):
        open_embeddings(tmp_path / "a.kv").find(["a"])
    keyed_vectors.load(str(tmp_path / "a.kv")).save_word2vec_format(str(tmp_path / "a.bin"), binary=True)
    check(open_embeddings(tmp_path / "a.bin"))
