"""`sacrecap df build --language-model`, and fluency by what it made."""

from __future__ import annotations

import json

import pytest

from command_line import run
from runner import Runner
from sacrecap import LanguageModel

__all__ = ["run"]


def test_a_model_is_built_and_judged_by(run: Runner, references: str, candidates: str) -> None:
    assert run.ok("df", "build", references, "--language-model", "-o", "train.lm") == ""
    model = LanguageModel.load(run.folder / "train.lm")
    assert (model.images, model.n, model.tokenizer) == (60, 3, "ptb")
    assert model.source == "train.lm"
    metric = "fluency(references=no)"
    score = ["score", references, candidates, "--metrics", metric, "--interval", "none", "--format", "json"]
    document = json.loads(run.ok(*score, "--lm", "train.lm"))
    assert f"|lm:{model.checksum}(60)|" in document["signatures"][metric]
    # It learnt from the image's own references, too.
    own = json.loads(run.ok(*[part.replace(metric, "fluency(own=yes)") for part in score]))["scores"]
    assert document["scores"][metric] == own["fluency(own=yes)"]


def test_what_is_no_model_is_refused(run: Runner, references: str, candidates: str) -> None:
    score = ["score", references, candidates, "--metrics", "fluency(n=2, references=no)"]
    assert run.refused(*score).endswith("it needs a language model, from sacrecap df build --language-model: --lm FILE")
    assert run.refused(*score, "--lm", references) == f"{references}: not a language model of sacrecap"
    run.ok("df", "build", references, "--language-model", "-o", "train.lm")
    assert "build one with --n 2, or ask for fluency(n=3, references=no)" in run.refused(*score, "--lm", "train.lm")
    assert run.refused(*score, "--lm", "absent.lm").startswith("absent.lm: no such file")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["-o", "a.lm", "--stem"], "--stem is for document frequencies; leave it out with --language-model"),
        (["-o", "a.lm", "--engine", "stream"], "--engine is for document frequencies"),
        ([], "give -o FILE, the file to write"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_for_counts_is_refused(run: Runner, references: str, given: list[str], message: str) -> None:
    assert run.refused("df", "build", references, "--language-model", *given).startswith(message)
