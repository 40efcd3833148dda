"""Needs that go to another process."""

from __future__ import annotations

import pickle

import pytest

import sacrecap
from sacrecap.errors import SacrecapError


def test_needs_take_their_values_along() -> None:
    needs = sacrecap.Needs({"threshold": 0.5}, threads=3, progress=print)
    copy = pickle.loads(pickle.dumps(needs))
    assert (copy.get("threshold"), copy.threads, copy.progress) == (0.5, 3, None)
    with pytest.raises(SacrecapError, match="treshold"):
        pickle.loads(pickle.dumps(sacrecap.Needs.of(needs, {"treshold": 1})))
