"""Scores and tokens equal the recorded ones of the COCO caption evaluation code; `record.py` records them."""

from __future__ import annotations

import json
import warnings
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from sacrecap import SacrecapWarning, example

HERE = Path(__file__).parent


def read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((HERE / name).read_text(encoding="utf-8"))
    return document


WORKED = read("worked.json")["corpora"]


def assert_golden(golden: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SacrecapWarning)
        scores = sacrecap.score(
            golden["references"], golden["candidates"], list(golden["corpus"]), tokenizer="none", interval=None
        )
    for name, value in golden["corpus"].items():
        assert scores[name].value == pytest.approx(value, rel=1e-9, abs=1e-15), name
        assert scores[name].per_image == pytest.approx(golden["per_image"][name], rel=1e-9, abs=1e-15), name


@pytest.mark.parametrize("name", WORKED)
def test_scores_of_worked_examples(name: str) -> None:
    assert_golden(WORKED[name])


@pytest.mark.parametrize("system", example.SYSTEMS)
def test_scores_of_the_example(system: str) -> None:
    assert_golden(read(f"example-{system}.json"))


@pytest.mark.parametrize("system", example.SYSTEMS)
def test_tokens_of_the_example(system: str) -> None:
    golden = read(f"example-{system}.json")
    references = list(chain(*example.references().values()))
    candidates = [example.systems()[system][image] for image in golden["references"]]
    for captions, tokens in [
        (references, list(chain(*golden["references"].values()))),
        (candidates, list(golden["candidates"].values())),
    ]:
        assert [" ".join(found) for found in sacrecap.tokenize(captions, tokenizer="ptb-stream")] == tokens


@pytest.mark.parametrize("system", example.SYSTEMS)
def test_scores_of_the_example_from_its_captions(system: str) -> None:
    golden = read(f"example-{system}.json")
    scores = sacrecap.score(
        example.references(), example.systems()[system], list(golden["corpus"]), tokenizer="ptb-stream", interval=None
    )
    for name, value in golden["corpus"].items():
        assert scores[name].value == pytest.approx(value, rel=1e-9, abs=1e-15), name


def test_the_numbers_that_are_passed_around() -> None:
    """As printed in notes about the suite; recorded independently of `record.py`."""
    golden = WORKED["four images"]
    assert golden["corpus"] == pytest.approx(
        {
            "bleu-1": 0.5496387630201759,
            "bleu-2": 0.417789740180175,
            "bleu-3": 2.5874258749551504e-06,
            "bleu-4": 6.919228519553413e-09,
            "rouge-l": 0.4177271932473891,
            "cider-d": 1.276050147702811,
        },
        rel=1e-12,
    )
    assert golden["per_image"]["bleu-1"] == pytest.approx(
        [0.8333333331944446, 0.4999999999166668, 0, 0.1353352829659427], rel=1e-12
    )
    assert golden["per_image"]["bleu-2"] == pytest.approx(
        [0.5773502690837784, 0.44721359541796896, 0, 1.3533528e-4], rel=1e-7
    )
    assert golden["per_image"]["rouge-l"] == pytest.approx([0.73939394, 0.47286822, 0, 0.45864662], abs=1e-8)
    assert golden["per_image"]["cider-d"] == pytest.approx([2.02344808, 1.71537762, 0, 1.36537489], abs=1e-8)
