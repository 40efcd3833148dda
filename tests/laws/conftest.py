"""METEOR's tables are looked over once for all laws: that takes longer than the scores of a few images."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from capeval.metrics.meteor import tables


@pytest.fixture(scope="session", autouse=True)
def tables_are_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "load", cache(tables.load))
        yield
