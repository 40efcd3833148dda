"""sacrecap-1: the weighted mean, what it says of itself, and the studies that it was fitted without."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import cast

import pytest

import sacrecap
from sacrecap import example
from sacrecap.judgments import rank_references
from sacrecap.metrics import Combine
from sacrecap.metrics.registry import parse_metrics
from sacrecap.metrics.sacrecap_1 import FILE, STUDIES, Sacrecap1
from sacrecap.report.html import render_html

CHOSEN: dict[str, str] = json.loads(files("sacrecap.resources").joinpath(FILE).read_text(encoding="utf-8"))
PLAIN = example.systems()["plain"]


@pytest.mark.parametrize("without", ["none", *STUDIES])
def test_a_score_is_that_of_the_combination_that_was_chosen(without: str) -> None:
    metric, [combination] = Sacrecap1(without=without), parse_metrics(CHOSEN[without])
    assert isinstance(combination, Combine)
    result = sacrecap.score(example.references(), PLAIN, [metric, *combination.members], interval=None)
    products = [
        weight * result[member.key].per_image
        for weight, member in zip(combination.weights, combination.members, strict=True)
    ]
    assert result[metric.key].per_image == pytest.approx(sum(products) / sum(combination.weights), abs=1e-12)
    assert len(set(result[metric.key].per_image)) > 10
    assert result[metric.key].value == pytest.approx(result[metric.key].per_image.mean())
    alone = sacrecap.score(example.references(), PLAIN, [combination], interval=None)
    assert result[metric.key].value == alone[combination.key].value


def test_every_study_can_be_left_out() -> None:
    assert list(CHOSEN) == ["none", *STUDIES]
    assert Sacrecap1().key == "sacrecap-1"
    assert Sacrecap1().trained_on == STUDIES
    for study in STUDIES:
        assert study not in Sacrecap1(without=study).trained_on
        assert len(Sacrecap1(without=study).trained_on) == len(STUDIES) - 1


def test_the_scale_is_from_nothing_to_one() -> None:
    assert sum(Sacrecap1().weights) == 1
    assert Sacrecap1().largest == 1
    assert Sacrecap1().equation.startswith("sacrecap-1 = 0.")
    for without in CHOSEN:
        metric = Sacrecap1(without=without)
        whole = sum(
            weight * cast("float", one.largest) for weight, one in zip(metric.weights, metric.members, strict=True)
        )
        assert whole == pytest.approx(1)


def test_the_explanation_is_the_sum() -> None:
    result = sacrecap.score(example.references(), PLAIN, "sacrecap-1, cider-paper", interval=None)
    for image in result.image_ids[:5]:
        told = result.explain(image)["contribution"]
        place = result.image_ids.index(image)
        assert told.score == pytest.approx(result["sacrecap-1"].per_image[place], abs=1e-12)
        first = told.contributions[0]
        assert (first.metric, len(told.contributions)) == ("CIDEr-paper(scale=1)", 3)
        assert 10 * first.score == pytest.approx(result["cider-paper"].per_image[place])
        assert first.part == pytest.approx(Sacrecap1().weights[0] * first.score)
        assert json.loads(json.dumps(told.to_dict()))["score"] == told.score
        assert str(told).count(" adds ") == 3
    assert "sacrecap-1 0." in render_html(result)


def test_its_words_are_stems_wherever_they_are_weighed() -> None:
    """One of its members compares stems, so document frequencies that are made for it must be of stems."""
    references = {"1": ["a dog runs", "a red bus", "one dog"], "2": ["two cats sleep", "cats sleeping"]}
    ranking = rank_references(references, metrics="sacrecap-1")
    assert ranking.order("1", "sacrecap-1")[-1].caption == "a red bus"


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
    assert (scores[0], scores[-1]) == (pytest.approx(1), 0)


def test_the_signature_names_the_weights_and_every_resource() -> None:
    result = sacrecap.score(example.references(), PLAIN, "sacrecap-1", interval=None)
    weights = ":".join(map(str, Sacrecap1().weights))
    parts = ("sacrecap-1|without:none|", f"|weights:{weights}|", "|model:", "|synonyms:", "|embeddings:default", "|df:")
    assert all(part in result["sacrecap-1"].signature for part in parts)
