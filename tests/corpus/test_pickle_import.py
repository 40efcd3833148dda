"""Pickles of document frequencies are imported whatever wrote them, and nothing in them is executed."""

from __future__ import annotations

import os
import pickle
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

import capeval
from capeval.errors import DataError

COUNTS = {("a",): 3, ("a", "dog"): 2, ("café", "犬", "a", "🐶"): 1, ("it's\n",): 70_000}
DOCUMENTS = 82_783


@pytest.fixture
def imported(tmp_path: Path) -> Callable[[bytes], capeval.DocumentFrequency]:
    def write_and_import(data: bytes) -> capeval.DocumentFrequency:
        path = tmp_path / "coco-train-df.p"
        path.write_bytes(data)
        return capeval.DocumentFrequency.import_pickle(path)

    return write_and_import


def assert_holds_counts(frequency: capeval.DocumentFrequency, documents: int = DOCUMENTS) -> None:
    assert frequency.documents == documents
    assert {ngram: frequency.count(ngram) for ngram in COUNTS} == COUNTS
    assert frequency.count(("never", "seen")) == 0


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "counts",
    [
        COUNTS,
        defaultdict(int, COUNTS),
        defaultdict(float, {k: float(n) for k, n in COUNTS.items()}),
        Counter(COUNTS),
        OrderedDict(COUNTS),
    ],
    ids=["dict", "defaultdict-int", "defaultdict-float", "Counter", "OrderedDict"],
)
def test_every_protocol_and_kind_of_dictionary(imported, counts, protocol):
    for name in ("document_frequency", "df"):
        assert_holds_counts(imported(pickle.dumps({name: counts, "ref_len": DOCUMENTS}, protocol)))
    assert_holds_counts(imported(pickle.dumps(counts, protocol)), documents=40_504)


@pytest.mark.parametrize("protocol", range(6))
def test_unshared_words_and_more_than_one_batch(imported, protocol):
    counts = {(str(word % 7), str(word)): word for word in range(3000)}
    frequency = imported(pickle.dumps({"document_frequency": counts, "ref_len": DOCUMENTS}, protocol))
    assert all(frequency.count(ngram) == count for ngram, count in counts.items())


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("number", ["float64", "float32", "int64", "int32", "uint8"])
def test_numpy_scalars(imported, number, protocol):
    numpy = pytest.importorskip("numpy")
    scalar = getattr(numpy, number)
    frequency = imported(
        pickle.dumps({"document_frequency": {("a",): scalar(3), ("b",): scalar(2)}, "ref_len": scalar(100)}, protocol)
    )
    assert (frequency.documents, frequency.count(("a",)), frequency.count(("b",))) == (100, 3, 2)


@pytest.mark.parametrize("protocol", range(6))
def test_words_that_are_bytes_or_numbers(imported, protocol):
    frequency = imported(pickle.dumps({(b"caf\xc3\xa9",): 1, (12, 7): 2, ("0",): 3}, protocol))
    assert [frequency.count(ngram) for ngram in [("café",), ("12", "7"), ("0",)]] == [1, 2, 3]


PYTHON_2 = {
    "protocol-0": b"(dp1\nS'ref_len'\np2\nL82783L\nsS'document_frequency'\np3\nccollections\ndefaultdict\np4\n(c__"
    b"builtin__\nfloat\np5\ntRp6\n(S'caf\\xc3\\xa9'\np7\ntp8\nF2\ns(g7\nVdog\np9\ntp10\nF1.0\nss.",
    "protocol-1": b"}q\x01(U\x07ref_lenq\x02J_C\x01\x00U\x12document_frequencyq\x03ccollections\ndefault"
    b"dict\nq\x04(c__builtin__\nfloat\nq\x05tRq\x06((U\x05caf\xc3\xa9q\x07tq\x08G@\x00\x00\x00\x00\x00\x00"
    b"\x00(h\x07U\x03dogq\x09tq\x0aG?\xf0\x00\x00\x00\x00\x00\x00uu.",
    "protocol-2": b"\x80\x02}q\x01(U\x07ref_lenq\x02J_C\x01\x00U\x12document_frequencyq\x03ccollections\ndefault"
    b"dict\nq\x04c__builtin__\nint\nq\x05\x85Rq\x06(T\x05\x00\x00\x00caf\xc3\xa9q\x07\x85q\x08K\x02h\x07U\x03dog"
    b"q\x09\x86q\x0aK\x01uu.",
}


@pytest.mark.parametrize("data", PYTHON_2.values(), ids=PYTHON_2)
def test_python_2(imported, data):
    assert pickle.loads(data, encoding="utf-8") == {
        "document_frequency": {("café",): 2, ("café", "dog"): 1},
        "ref_len": DOCUMENTS,
    }
    frequency = imported(data)
    assert (frequency.documents, frequency.count(("café",)), frequency.count(("café", "dog"))) == (DOCUMENTS, 2, 1)


def test_latin_1_where_bytes_are_not_utf8(imported):
    assert imported(b"}U\x04caf\xe9\x85K\x01s.").count(("café",)) == 1


class Command:
    """Runs a command when Python unpickles it."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_is_executed(imported, tmp_path, protocol):
    touched = tmp_path / "touched"
    data = pickle.dumps({"document_frequency": COUNTS, "ref_len": Command(f"touch '{touched}'")}, protocol)
    with pytest.raises(DataError, match=r"system.*nothing in it was executed"):
        imported(data)
    assert not touched.exists()
    pickle.loads(data)
    assert touched.exists(), "the pickle of this test should be a dangerous one"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], "a list, and not a dictionary"),
        ({"document_frequency": COUNTS}, "lacks 'ref_len'"),
        ({"document_frequency": COUNTS, "ref_len": 11.324}, "logarithm"),
        ({("a", "b", "c", "d", "e"): 1}, "tuple of 5 items"),
        ({("a",): 0.5}, r"count of \('a'\) is 0.5"),
        ({("a",): -1}, r"count of \('a'\) is -1"),
        ({}, "no n-gram"),
    ],
)
def test_other_contents_are_explained(imported, content, message):
    with pytest.raises(DataError, match=message):
        imported(pickle.dumps(content))


def test_cut_pickles_are_explained(imported):
    data = pickle.dumps({"document_frequency": COUNTS, "ref_len": DOCUMENTS})
    with pytest.raises(DataError, match="cut off"):
        imported(data[:-10])
    with pytest.raises(DataError, match="not a Python pickle"):
        imported(b'{"df": {}}')
