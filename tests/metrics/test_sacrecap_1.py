"""sacrecap-1: its curves, the sum, and what it says of itself."""

from __future__ import annotations

import json
import zlib
from bisect import bisect_right
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from sacrecap import example
from sacrecap.metrics.sacrecap_1 import MEMBERS, curves

FILE = files("sacrecap.resources").joinpath("sacrecap-1.json").read_bytes()
CURVES = json.loads(FILE)


def slow(key: str, share: float) -> float:
    """What a curve adds, by the straight line between the two points around a share."""
    scores, parts = CURVES[key]["scores"], CURVES[key]["parts"]
    if share >= scores[-1]:
        return float(parts[-1])
    right = bisect_right(scores, share)
    along = (share - scores[right - 1]) / (scores[right] - scores[right - 1])
    return float(parts[right - 1] + along * (parts[right] - parts[right - 1]))


def test_a_score_is_the_sum_of_what_the_curves_add() -> None:
    keys = [metric.key for metric, _ in MEMBERS]
    result = sacrecap.score(example.references(), example.systems()["plain"], ["sacrecap-1", *keys], interval=None)
    expected = [
        sum(slow(metric.key, float(result[metric.key].per_image[image]) / largest) for metric, largest in MEMBERS)
        for image in range(len(result.image_ids))
    ]
    assert result["sacrecap-1"].per_image == pytest.approx(expected, abs=1e-12)
    assert len(set(expected)) > 10
    assert result["sacrecap-1"].value == pytest.approx(np.mean(expected))


def test_scores_are_shares_of_the_largest_that_their_metric_gives() -> None:
    """The curves were fitted to shares from 0 to 1, of CIDEr-D as of the others."""
    assert {metric.key: largest for metric, largest in MEMBERS} == {metric.key: metric.largest for metric, _ in MEMBERS}
    assert {metric.key: largest for metric, largest in MEMBERS if largest != 1} == {"cider-d": 10}


def test_curves_begin_at_nothing_never_fall_and_end_at_one_together() -> None:
    assert set(curves()) == {metric.key for metric, _ in MEMBERS}
    for curve in curves().values():
        assert curve.scores[0] == curve.parts[0] == 0
        assert curve.scores[-1] == 1
        assert list(curve.scores) == sorted(set(curve.scores))
        assert list(curve.parts) == sorted(curve.parts)
        assert curve.parts[-1] > 0
    assert sum(curve.parts[-1] for curve in curves().values()) == pytest.approx(1, abs=1e-5)


@given(st.sampled_from(sorted(CURVES)), st.floats(0, 1.2), st.floats(0, 1.2))
def test_more_is_never_worse(key: str, one: float, other: float) -> None:
    low, high = (float(curves()[key].at(np.array(share))) for share in sorted((one, other)))
    assert low <= high
    assert low == pytest.approx(slow(key, min(one, other)), abs=1e-12)


def test_the_explanation_is_the_sum() -> None:
    result = sacrecap.score(example.references(), example.systems()["careful"], "sacrecap-1, cider-d", interval=None)
    for image in result.image_ids[:5]:
        told = result.explain(image)["contribution"]
        place = result.image_ids.index(image)
        assert told.score == pytest.approx(result["sacrecap-1"].per_image[place], abs=1e-12)
        assert told.contributions[0].metric == "CIDEr-D"
        assert told.contributions[0].score == result["cider-d"].per_image[place]
        assert all(0 <= one.part <= one.most for one in told.contributions)
        assert json.loads(json.dumps(told.to_dict()))["score"] == told.score
        assert str(told).count(" adds ") == 4


def test_it_agrees_with_what_is_plain() -> None:
    references = {"1": ["a brown dog runs on the beach"] * 2, "2": ["two cats sleep on a sofa"] * 2}
    scores = [
        sacrecap.score(references, candidates, "sacrecap-1", interval=None)["sacrecap-1"].value
        for candidates in (
            {"1": "a brown dog runs on the beach", "2": "two cats sleep on a sofa"},
            {"1": "a dog runs", "2": "two cats on a couch"},
            {"1": "two cats sleep on a sofa", "2": "a brown dog runs on the beach"},
            {"1": "", "2": ""},
        )
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4
    assert scores[-1] == 0
    assert scores[0] <= 1


def test_the_signature_names_the_curves_and_every_resource() -> None:
    result = sacrecap.score(example.references(), example.systems()["careful"], "sacrecap-1", interval=None)
    signature = result["sacrecap-1"].signature
    checksum = zlib.crc32(FILE)
    parts = (f"|curves:{checksum:08x}|", "|model:", "|synonyms:", "|embeddings:default", "|df:")
    assert all(part in signature for part in parts)
