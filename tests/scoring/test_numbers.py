"""Scores as numbers, and results as flat dictionaries for loggers."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import numpy as np
import pytest

import sacrecap

REFERENCES = {"1": ["a dog runs"], "2": ["a red bus"]}


def scored(metrics: str = "rouge-l, cider-d(sigma=5), bleu-4(smoothing=floor, k=2)") -> sacrecap.Result:
    return sacrecap.score(REFERENCES, {"1": "a dog", "2": "a bus"}, metrics, interval=None)


def test_a_score_behaves_as_its_value() -> None:
    score = scored()["rouge-l"]
    value = score.value
    assert isinstance(score, float)
    assert json.loads(json.dumps(score)) == value
    assert type(score.value) is float
    assert (f"{score:.2f}", f"{score:8.1%}") == (f"{value:.2f}", f"{value:8.1%}")
    assert (round(score, 2), round(score)) == (0.77, 1)
    assert (score * 100, 100 * score, score / 2, 2 / score) == (value * 100, 100 * value, value / 2, 2 / value)
    assert (score + 1, 1 + score, score - 1, 1 - score) == (value + 1, 1 + value, value - 1, 1 - value)
    assert (-score, abs(score), bool(score), math.floor(float(score)), int(score)) == (-value, value, True, 0, 0)
    assert score == value == score
    assert score != value + 1
    assert hash(score) == hash(value)
    assert score < 1 and 1 > score and score <= value and score >= value and score > 0  # noqa: PT018, SIM300
    assert max(scored().values()) == scored()["cider-d(sigma=5)"]
    assert sum(scored().values()) == pytest.approx(sum(score.value for score in scored().values()))
    assert np.array([score], dtype=float)[0] == value
    assert math.isclose(score, value)
    assert score != "rouge-l"
    with pytest.raises(TypeError):
        score < "a"  # type: ignore[operator]  # noqa: B015
    with pytest.raises(TypeError):
        score + "a"  # type: ignore[operator]


def test_equal_scores_of_two_metrics_are_not_the_same_score() -> None:
    result = sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, "rouge-l, rouge-1", interval=None)
    assert result["rouge-l"] == 1.0 == result["rouge-1"].value
    assert result["rouge-l"] != result["rouge-1"]
    assert not result["rouge-l"] == result["rouge-1"]  # noqa: SIM201


def test_a_score_as_text_begins_with_its_value() -> None:
    score = scored()["rouge-l"]
    score = dataclasses.replace(score, interval=(0.5, 0.75))
    assert f"{score}" == str(score) == f"{score.value:.4f} [0.5000, 0.7500]"
    assert repr(score) == f"{score} {score.signature}"
    assert str(dataclasses.replace(score, interval=None)) == f"{score.value:.4f}"


def test_flat_names_are_those_that_loggers_take() -> None:
    result = scored()
    flat = result.flat("val/", percent=True)
    assert [*flat] == ["val/rouge-l", "val/cider-d.sigma_5", "val/bleu-4.smoothing_floor.k_2"]
    assert [*flat.values()] == [score * 100 for score in result.values()]
    assert all(re.fullmatch(r"[\w./ -]+", name, re.ASCII) for name in flat)
    assert [*result.flat().values()] == [score.value for score in result.values()]


def test_keys_stay_apart() -> None:
    metrics = "cider-d, cider-d(sigma=5), cider-d(n=2, sigma=5), combine(bleu-1, rouge-l), combine(bleu-2, rouge-l)"
    assert len(scored(metrics).flat()) == 5
