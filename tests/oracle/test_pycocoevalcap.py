"""Equal to the COCO caption evaluation code, run live."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import assume, given

import sacrecap
from corpora import Pairs, pairs
from oracle import suite
from sacrecap import example

METRICS = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d")


def assert_agrees(corpus: Pairs) -> None:
    truth = suite.scores(*corpus.by_id)
    assert tuple(truth) == METRICS
    scores = corpus.score(METRICS)
    for name, (value, per_image) in truth.items():
        assert scores[name].value == pytest.approx(value, rel=1e-9, abs=1e-15), name
        assert scores[name].per_image == pytest.approx(per_image, rel=1e-9, abs=1e-15), name


@given(corpus=pairs(shortest=1, least=2))
def test_scores_of_corpora(corpus: Pairs) -> None:
    assert_agrees(corpus)


@given(corpus=pairs(least=2, most=3))
def test_scores_where_captions_are_empty(corpus: Pairs) -> None:
    assume(any(map(any, corpus.references)))  # CiderScorer stops at references without a single word.
    assert_agrees(corpus)


@given(corpus=pairs(shortest=1, most=1))
def test_scores_of_a_single_image(corpus: Pairs) -> None:
    assert_agrees(corpus)


@given(corpus=pairs(["half", "1\N{NO-BREAK SPACE}1/2", "1", "1/2", "cup"], shortest=1, least=2, most=3))
def test_scores_where_tokens_hold_a_no_break_space(corpus: Pairs) -> None:
    assert_agrees(corpus)


OPENINGS = (
    "A man",
    "Two dogs",
    "The U.S. flag",
    "Someone's hat",
    "(An old lady)",
    "5-year-old twins",
    "It's a cat that",
)
MIDDLES = ("is riding", "can't see", "— who looks at —", "sits 3.5 ft. from", "looks @", '"smiles" at', "won't eat")
ENDINGS = (
    "a horse.",
    "the T.V. set",
    "me&you!",
    "its café…",
    "N.Y. at 10:30 p.m.",
    "$20 bills, etc.",
    "and/or 1/2 a pizza?",
)


@pytest.mark.java
def test_tokens_of_the_original_tokenizer() -> None:
    """Of varied captions, in one stream."""
    made = [" ".join(parts) for parts in itertools.product(OPENINGS, MIDDLES, ENDINGS)]
    random.Random(1).shuffle(made)
    sentences = [*itertools.chain(*example.references().values()), *made]
    truth = suite.tokens({"all": sentences})["all"]
    found = sacrecap.tokenize(sentences, tokenizer="ptb-stream")
    different = [
        (caption, theirs, " ".join(mine))
        for caption, theirs, mine in zip(sentences, truth, found, strict=True)
        if " ".join(mine) != theirs
    ]
    assert not different, f"{len(different)} of {len(sentences)} differ, first: {different[:3]}"
