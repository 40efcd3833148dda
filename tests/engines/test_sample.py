"""The sample of images: those of the smallest hashes of all, in whatever order and parts they come."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sacrecap.engines.sample import ImageSample, Kept


def drawn(keys: list[int], cuts: list[int], size: int) -> list[Kept]:
    """The sample of images with these keys, that come in batches, batch by batch in a sample of its own or not."""
    whole = ImageSample(size)
    for first, last in zip([0, *cuts], [*cuts, len(keys)], strict=True):
        batch = keys[first:last]
        one = whole if first % 2 else ImageSample(size)
        wanted = one.wanted(np.array(batch, "<u8").tobytes())
        assert len(wanted) <= size
        one.add([Kept(order, str(batch[place]), [], []) for place, order in wanted])
        if one is not whole:
            whole.merge(one)
    return whole.images


@given(st.sets(st.integers(0, 2**64 - 1), max_size=60), st.lists(st.integers(0, 60), max_size=5), st.integers(1, 9))
def test_the_smallest_hashes_of_any_batches(keys: set[int], cuts: list[int], size: int) -> None:
    everything = drawn(sorted(keys), [], 100)
    assert len(everything) == len(keys)
    shuffled = random.Random(size).sample(sorted(keys), len(keys))
    cuts = sorted(min(cut, len(keys)) for cut in cuts)
    assert drawn(shuffled, cuts, size) == sorted(everything)[:size]


def test_an_image_that_comes_again_counts_once() -> None:
    sample = ImageSample(3)
    sample.add([Kept(5, "a", [], []), Kept(7, "b", [], [])])
    sample.add([Kept(5, "a", [], []), Kept(6, "c", [], [])])
    assert [one.image_id for one in sample.images] == ["a", "c", "b"]
