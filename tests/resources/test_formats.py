"""Every format gives the same vectors, and bad files one message each."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import zlib
from pathlib import Path

import numpy as np
import pytest

from sacrecap.errors import DataError, MissingDependencyError, SacrecapWarning
from sacrecap.resources.embeddings import Embeddings, keyed_vectors, open_embeddings, scanned

WORDS = ["the", "cat", "naïve", "potted_plant", "x-ray"]
VECTORS = np.random.default_rng(5).normal(size=(5, 7)).astype("f4")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / "cache" / name))
    return tmp_path / "cache" / "sacrecap"


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


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("name", CONTENTS)
def test_vectors_are_those_of_the_file(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, name: str, small: bool
) -> None:
    (tmp_path / name).write_bytes(CONTENTS[name])
    if not small:
        monkeypatch.setattr(scanned, "SMALL", 0)
    for _ in range(2):  # the second time from the cache
        check(open_embeddings(tmp_path / name))
    assert cache.exists() is not small


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


def test_gensim(tmp_path: Path) -> None:
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors(7)
    keyed_vectors.add_vectors(WORDS, VECTORS)
    keyed_vectors.save(str(tmp_path / "whole.kv"))
    keyed_vectors.save(str(tmp_path / "parts.kv"), sep_limit=0)
    assert (tmp_path / "parts.kv.vectors.npy").exists()
    for name in ("whole.kv", "parts.kv"):
        check(open_embeddings(tmp_path / name))


def test_a_gensim_file_that_would_execute_something_is_not_loaded(tmp_path: Path) -> None:
    pytest.importorskip("gensim")

    class Harmful:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "executed"),)

    (tmp_path / "a.kv").write_bytes(pickle.dumps(Harmful()))
    with pytest.raises(DataError, match=r"a\.kv: cannot be read .*mkdir.*save_word2vec_format"):
        open_embeddings(tmp_path / "a.kv").find(["a"])
    assert not (tmp_path / "executed").exists()


def test_without_gensim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    (tmp_path / "a.kv").write_bytes(pickle.dumps([]))
    with pytest.raises(MissingDependencyError, match=r"sacrecap\[gensim\]"):
        open_embeddings(tmp_path / "a.kv").find(["a"])


def test_the_checksum_is_that_of_what_is_inside(tmp_path: Path) -> None:
    for name in ("glove.txt", "glove.txt.gz", "word2vec.bin"):
        (tmp_path / name).write_bytes(CONTENTS[name])
    plain, compressed, other = (
        open_embeddings(tmp_path / name).checksum for name in ("glove.txt", "glove.txt.gz", "word2vec.bin")
    )
    assert plain == compressed != other
    assert len(plain) == 12


def test_of_a_repeated_word_the_first_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    "truncated gzip": (gzip.compress(binary())[:-20], r"a: the gzip data ends early"),
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
def test_words_of_one_checksum_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    assert {zlib.crc32(word.encode()) for word in words} == {0x4DDB0C25}
    monkeypatch.setattr(scanned, "SMALL", 0)
    (tmp_path / "a.txt").write_text("".join(f"{word} {number} 1\n" for number, word in enumerate(words)))
    vectors, known = open_embeddings(tmp_path / "a.txt").find(words)
    assert known.all()
    assert vectors.tolist() == [[0, 1], [1, 1]]


def test_a_damaged_cache_is_built_again(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanned, "SMALL", 0)
    (tmp_path / "a.bin").write_bytes(binary())
    check(open_embeddings(tmp_path / "a.bin"))
    (index,) = cache.glob("*.index")
    good = index.read_bytes()
    changed = bytearray(good)
    changed[good.index(b"starts.npy") + 200] ^= 1
    other = good.replace(b"version.npy", b"Version.npy")
    for damaged in (b"", b"\n", b"[]\n", good[:-1], good[:100], bytes(changed), other):
        index.write_bytes(damaged)
        with pytest.warns(SacrecapWarning, match="it is built again"):
            check(open_embeddings(tmp_path / "a.bin"))
        assert index.read_bytes() == good


def test_a_changed_file_is_scanned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanned, "SMALL", 0)
    file = tmp_path / "a.txt"
    for content in ("cat 1 2\n", "cat 3 4 5\n"):
        file.write_text(content)
        assert open_embeddings(file).find(["cat"])[0].tolist() == [[float(x) for x in content.split()[1:]]]


def test_a_cache_that_cannot_be_written_costs_time_only(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanned, "SMALL", 0)
    cache.parent.parent.mkdir(exist_ok=True)
    (tmp_path / "cache").write_text("a file where the folder should be")
    (tmp_path / "a.bin").write_bytes(binary())
    with pytest.warns(SacrecapWarning, match="not cached"):
        check(open_embeddings(tmp_path / "a.bin"))


def test_a_pickle_may_have_nothing_but_what_vectors_consist_of() -> None:
    """Functions of modules that vectors need are refused, too."""
    for function in (np.loadtxt, os.getcwd):
        with pytest.raises(
            pickle.UnpicklingError, match=rf"it wants \w+\.{function.__name__}, which no KeyedVectors has"
        ):
            keyed_vectors._Inspector(io.BytesIO(pickle.dumps(function))).load()
    assert keyed_vectors._Inspector(io.BytesIO(pickle.dumps(np.arange(3)))).load().tolist() == [0, 1, 2]
