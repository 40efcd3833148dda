"""Captions out of Arrow's buffers are those that Python's objects give."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from sacrecap import _core
from sacrecap.errors import DataError

pa = pytest.importorskip("pyarrow")

TEXTS = ["a dog", "", "un été — 狗在跑", "🐕‍🦺 runs", "a longer caption than views keep inline", "\n"]


def random_columns(seed: int, count: int = 40) -> tuple[list[str], list[str], list[list[str]]]:
    draw = random.Random(seed)
    ids = [f"é{number}" for number in draw.sample(range(1000), count)]
    return ids, draw.choices(TEXTS, k=count), [draw.choices(TEXTS, k=draw.randrange(4)) for _ in ids]


def arranged(values: list[object], kind: pa.DataType, draw: random.Random) -> pa.Array | pa.ChunkedArray:
    """The values as a slice of a longer array, or as chunks, some of them empty."""
    longer = pa.array([*values[:3], *values, *values[:2]], kind)
    whole = longer.slice(3, len(values))
    if draw.random() < 0.5:
        return whole
    cuts = [0, *sorted(draw.choices(range(len(values) + 1), k=3)), len(values)]
    chunks = [whole.slice(start, end - start) for start, end in pairwise(cuts)]
    return pa.chunked_array(chunks, kind)


def built(ids: object, captions: object) -> dict[str, list[str]]:
    builder = _core.CaptionsBuilder()
    builder.extend(ids, captions)
    return builder.finish().to_dict()


IDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
LISTS = [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.string_view())]


@pytest.mark.parametrize("seed", range(12))
def test_arrays_of_any_kind_equal_the_mapping(seed: int) -> None:
    draw = random.Random(seed)
    ids, single, several = random_columns(seed)
    column = arranged(ids, draw.choice(IDS), draw)
    for values, kinds in ((single, IDS), (several, LISTS)):
        found = built(column, arranged(values, draw.choice(kinds), draw))
        expected = _core.Captions.from_dict(dict(zip(ids, values, strict=True)))
        assert list(found.items()) == list(expected.to_dict().items())


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64()])
def test_whole_numbers_are_ids(kind: pa.DataType) -> None:
    ids = pa.array([9, 100, 2, 7], kind).slice(1)
    assert built(ids, pa.array(["x", "a", "b", "c"]).slice(1)) == {"100": ["a"], "2": ["b"], "7": ["c"]}


def test_lists_of_one_size_and_nothing_at_all() -> None:
    captions = pa.array([["x", "y"], ["a", "b"]], pa.list_(pa.string(), 2)).slice(1)
    assert built(pa.array(["1"]), captions) == {"1": ["a", "b"]}
    for empty in (pa.array([], pa.list_(pa.string())), pa.chunked_array([], pa.string())):
        assert built(pa.array([], pa.string()), empty) == {}


@pytest.mark.parametrize("kind", [*IDS, pa.null()])
def test_nulls_are_empty_captions(kind: pa.DataType) -> None:
    values = [None] * 3 if kind == pa.null() else ["a dog", None, "a cat"]
    filled = {str(place): [text or ""] for place, text in enumerate(values)}
    assert built([0, 1, 2], pa.array(values, kind)) == filled
    if kind != pa.null():
        lists = pa.array([["a", None], None, []], pa.list_(kind))
        assert built([0, 1, 2], lists) == {"0": ["a", ""], "1": [""], "2": []}


def test_what_cannot_be_taken_is_told() -> None:
    for captions in (pa.array([1, 2]), pa.array([[1], [2]]), pa.array([b"a", b"b"])):
        with pytest.raises(DataError, match="the caption of image a is of type"):
            built(pa.array(["a", "b"]), captions)
    with pytest.raises(DataError, match="the image id of row 1 is None"):
        built(pa.array([None, "b"]), pa.array(["x", "y"]))
    with pytest.raises(DataError, match="2 image ids for the captions of 1 rows"):
        built(pa.array(["a", "b"]), pa.array(["x"]))
    damaged = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    with pytest.raises((DataError, pa.ArrowInvalid)):
        built(["a"], damaged)
