"""Pickles of document frequencies of the published kinds are imported, and nothing in them is executed."""

from __future__ import annotations

import os
import pickle
import pickletools
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sacrecap
from sacrecap.errors import DataError

COUNTS = {("a",): 3, ("a", "dog"): 2, ("café", "犬", "a", "🐶"): 1, ("it's\n",): 70_000}
DOCUMENTS = 82_783


@pytest.fixture
def imported(tmp_path: Path) -> Callable[[bytes], sacrecap.DocumentFrequency]:
    def write_and_import(data: bytes) -> sacrecap.DocumentFrequency:
        path = tmp_path / "coco-train-df.p"
        path.write_bytes(data)
        return sacrecap.DocumentFrequency.import_pickle(path)

    return write_and_import


def assert_holds_counts(frequency: sacrecap.DocumentFrequency, documents: int = DOCUMENTS) -> None:
    assert frequency.documents == documents
    assert {ngram: frequency.count(ngram) for ngram in COUNTS} == COUNTS
    assert frequency.count(("never", "seen")) == 0


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "counts",
    [COUNTS, defaultdict(int, COUNTS), defaultdict(float, {k: float(n) for k, n in COUNTS.items()})],
    ids=["dict", "defaultdict-int", "defaultdict-float"],
)
def test_every_protocol_and_kind_of_dictionary(imported, counts, protocol):
    for name in ("document_frequency", "df"):
        assert_holds_counts(imported(pickle.dumps({name: counts, "ref_len": DOCUMENTS}, protocol)))
    assert_holds_counts(imported(pickle.dumps(counts, protocol)), documents=40_504)


@pytest.mark.parametrize("protocol", range(6))
def test_unshared_words_and_more_than_one_batch(imported, protocol):
    counts = {(str(word % 7), str(word)): word for word in range(1100)}
    frequency = imported(pickle.dumps({"document_frequency": counts, "ref_len": DOCUMENTS}, protocol))
    assert all(frequency.count(ngram) == count for ngram, count in counts.items())


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
        ([1, 2], r"holds \[1, 2\], and not a dictionary"),
        ({"document_frequency": COUNTS}, "'ref_len' is None, and not the number of documents"),
        ({"document_frequency": COUNTS, "ref_len": 11.324}, "logarithm"),
        (
            {("a", "b", "c", "d", "e"): 1},
            r"\('a', 'b', 'c', 'd', 'e'\) is a key of the counts, and not a tuple of 1 to 4 words",
        ),
        ({("a",): 0.5}, r"count of \('a',\) is 0.5"),
        ({("a",): -1}, r"count of \('a',\) is -1"),
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


def test_the_same_bytes_however_it_is_written(imported):
    built = {imported(pickle.dumps(dict(reversed(COUNTS.items())), protocol))._core.to_bytes() for protocol in range(6)}
    built.add(imported(pickle.dumps({ngram: float(count) for ngram, count in COUNTS.items()}))._core.to_bytes())
    assert len(built) == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cut off"),
        (b"[1, 2]", "not a Python pickle"),
        (b"hello", "damaged"),
        (b"\x80\x06N.", "unsupported pickle protocol: 6"),
        (b"N.", "it holds None"),
        (b"}U\x02dfU\x01xs.", "its counts are 'x'"),
        (b"}U\x02df}s.", "'ref_len' is None"),
        (b"}U\x07ref_lenK\x01s.", "its counts are None"),
        (b"}(U\x02dfNU\x07ref_lenK\x01u.", "its counts are None"),
        (b"}(U\x02df}U\x07ref_lenK\x00u.", "'ref_len' is 0"),
        (b"}U\x03dogK\x01s.", "'dog' is a key of the counts"),
        (b"})K\x01s.", r"\(\) is a key"),
        (b"}U\x01a\x85\x85K\x01s.", r"\(\('a',\),\) is a key"),
        (b"}N\x85K\x01s.", r"\(None,\) is a key"),
        (b"}\x88\x85K\x01s.", r"\(True,\) is a key"),
        (b"}U\x01a\x85\x88s.", "is True"),
        (b"}U\x01a\x85\x8a\x05\x00\x00\x00\x00\x01s.", "is 4294967296"),
        (b"}U\x01a\x85G\x7f\xf0\x00\x00\x00\x00\x00\x00s.", "is inf"),
        (b"}U\x01a\x85G\x7f\xf8\x00\x00\x00\x00\x00\x00s.", "is nan"),
        (b"}K\x01\x85K\x01s.", r"\(1,\) is a key"),
        (b"}V\\ud83d\n\x85K\x01s.", r"a word has half a character, '\\ud83d'"),
        (b"cbuiltins\neval\n.", "'builtins.eval'"),
        (b"cevil\x1b[2J\nx\n.", r"'evil\\x1b\[2J.x'"),
        (b"(S'touch x'\nios\nsystem\n.", "'os.system'.*nothing in it was executed"),
        (b"cbuiltins\nint\n(U\x019tR.", "damaged"),
    ],
)
def test_errors_say_what_is_wrong(imported, data, message):
    with pytest.raises(DataError, match=message):
        imported(data)


def test_errors_name_the_file_and_a_way_out(imported):
    for data, message in ((b"", "cut off"), (b"}U\x01a\x85\x88s.", "is True"), (b"cos\nsystem\n.", "'os.system'")):
        with pytest.raises(DataError, match=f"coco-train-df.p: .*{message}.*makes document frequencies from the ref"):
            imported(data)


def test_a_file_of_sacrecap_needs_no_import(imported):
    with pytest.raises(DataError, match="needs no import"):
        imported(imported(pickle.dumps(COUNTS))._core.to_bytes())


def test_a_file_that_is_not_there_or_is_a_folder(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        sacrecap.DocumentFrequency.import_pickle(tmp_path / "none.p")
    with pytest.raises(DataError, match="is a directory"):
        sacrecap.DocumentFrequency.import_pickle(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"(" * (1 << 18) + b".",
        b"]" * (1 << 18) + b"a" * ((1 << 18) - 1) + b".",
        b"}r\xff\xff\xff\xff.",
        b"X\xff\xff\xff\xffa.",
        b"T\xff\xff\xff\x7fa.",
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7fa.",
        b"\x8e\x00\x00\x00\x00\x10\x00\x00\x00a.",
        b"\x8b\xff\xff\xff\x7fa.",
        b"p99999999999999999999\n.",
        b"N(0t.",
        b"(N(NR.",
        b"NN\x86h\x00.",
        # A text doubled forty times over: a memory bomb of 200 bytes, were it carried out.
        b"c_codecs\nencode\n(V" + b"a" * 100 + b"\nVutf-16\ntR" + b"2\x86" * 40 + b".",
        # A number of a million digits, and a key of a hundred thousand.
        b"}U\x01a\x85L" + b"9" * 1_000_000 + b"L\ns.",
        b"}\x8b" + (100_000).to_bytes(4, "little") + b"\x7f" * 100_000 + b"\x85K\x01s.",
    ],
    ids=range(15),
)
def test_hostile_pickles_end_in_one_error(imported, data):
    with pytest.raises(DataError, match="coco-train-df.p: "):
        imported(data)


@pytest.mark.parametrize("protocol", range(6))
def test_every_cut_is_noticed(imported, protocol):
    data = pickle.dumps({"df": {("a",): 3, ("a", "dog"): 2.0}, "ref_len": 5}, protocol)
    for end in range(len(data)):
        with pytest.raises(DataError, match="cut off|damaged"):
            imported(data[:end])


SHORTEST = {opcode.code.encode("latin-1") for opcode in pickletools.opcodes if opcode.arg is None} - {b"."}
PARTS = [
    *sorted(SHORTEST),
    b"K\x05",
    b"U\x01a",
    b"U\x02df",
    b"U\x07ref_len",
    b"q\x00",
    b"h\x00",
    b"G?\xf0\x00\x00\x00\x00\x00\x00",
    b"ccollections\nCounter\n",
    b"cnumpy\ndtype\n",
    b"U\x02u1",
    b"cnumpy.core.multiarray\nscalar\n",
    b"c_codecs\nencode\n",
    b"cbuiltins\nint\n",
]


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=40).map(b"".join), min_size=1, max_size=4))
def test_any_program_gives_counts_or_one_error(imported, programs):
    for program in programs:
        try:
            imported(program + b".")
        except DataError as error:
            assert str(error).count("coco-train-df.p") == 1
