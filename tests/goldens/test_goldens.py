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
EXAMPLE = read("example.json")


def of_example(system: str) -> dict[str, Any]:
    return {"references": EXAMPLE["references"], **EXAMPLE["systems"][system]}


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
    assert_golden(of_example(system))


@pytest.mark.parametrize("system", example.SYSTEMS)
def test_tokens_of_the_example(system: str) -> None:
    golden = of_example(system)
    references = list(chain(*example.references().values()))
    candidates = [example.systems()[system][image] for image in golden["references"]]
    for captions, tokens in [
        (references, list(chain(*golden["references"].values()))),
        (candidates, list(golden["candidates"].values())),
    ]:
        assert [" ".join(found) for found in sacrecap.tokenize(captions, tokenizer="ptb-stream")] == tokens


@pytest.mark.parametrize("system", example.SYSTEMS)
def test_scores_of_the_example_from_its_captions(system: str) -> None:
    golden = of_example(system)
    scores = sacrecap.score(
        example.references(), example.systems()[system], list(golden["corpus"]), tokenizer="ptb-stream", interval=None
    )
    for name, value in golden["corpus"].items():
        assert scores[name].value == pytest.approx(value, rel=1e-9, abs=1e-15), name
