"""Captions out of Arrow's buffers are those that Python's objects give."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from sacrecap import _core
from sacrecap.errors import DataError, UsageError

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


IDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
LISTS = [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.string_view())]


@pytest.mark.parametrize("seed", range(12))
def test_arrays_of_any_kind_equal_the_mapping(seed: int) -> None:
    draw = random.Random(seed)
    ids, single, several = random_columns(seed)
    column = arranged(ids, draw.choice(IDS), draw)
    for values, kinds in ((single, IDS), (several, LISTS)):
        found = _core.Captions.of_arrow(column, arranged(values, draw.choice(kinds), draw))
        expected = _core.Captions.from_dict(dict(zip(ids, values, strict=True)))
        assert list(found.to_dict().items()) == list(expected.to_dict().items())


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64()])
def test_whole_numbers_are_ids(kind: pa.DataType) -> None:
    ids = pa.array([9, 100, 2, 7], kind).slice(1)
    captions = pa.array(["x", "a", "b", "c"]).slice(1)
    assert _core.Captions.of_arrow(ids, captions).to_dict() == {"100": ["a"], "2": ["b"], "7": ["c"]}


def test_lists_of_one_size_and_nothing_at_all() -> None:
    captions = pa.array([["x", "y"], ["a", "b"]], pa.list_(pa.string(), 2)).slice(1)
    assert _core.Captions.of_arrow(pa.array(["1"]), captions).to_dict() == {"1": ["a", "b"]}
    for empty in (pa.array([], pa.list_(pa.string())), pa.chunked_array([], pa.string())):
        assert _core.Captions.of_arrow(pa.array([], pa.string()), empty).to_dict() == {}


def test_bad_columns_are_refused() -> None:
    ids, captions = pa.array(["a", "b"]), pa.array(["x", "y"])
    of_arrow = _core.Captions.of_arrow
    with pytest.raises(DataError, match="the image id b is there twice"):
        of_arrow(pa.chunked_array([["b"], ["b"]]), captions)
    with pytest.raises(DataError, match="the captions have 1 null"):
        of_arrow(ids, pa.array(["x", None]))
    with pytest.raises(DataError, match="the lists of captions have 1 null"):
        of_arrow(ids, pa.array([["x"], None]))
    with pytest.raises(DataError, match="the captions have 1 null"):
        of_arrow(ids, pa.array([["x"], [None]]))
    with pytest.raises(DataError, match="the image ids have 1 null"):
        of_arrow(pa.array(["x", None]), captions)
    with pytest.raises(DataError, match="the image ids are of the Arrow type double"):
        of_arrow(pa.array([1.5, 2.0]), captions)
    for wrong in (pa.array([1, 2]), pa.array([[1], [2]])):
        with pytest.raises(DataError, match="the captions are of the Arrow type .*int64"):
            of_arrow(ids, wrong)
    with pytest.raises(UsageError, match="2 image ids for the captions of 1 image"):
        of_arrow(ids, captions.slice(1))
    ends = pa.array([0, 1, 2], pa.int32()).buffers()[1]
    damaged = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"\xff\xfe")])
    with pytest.raises(DataError, match="the captions are not UTF-8"):
        of_arrow(ids, damaged)
