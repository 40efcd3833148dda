"""BLEU equals the slow reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison import assert_equal
from corpora import Pairs, pairs
from reference.bleu import bleu
from sacrecap.metrics import Bleu


@pytest.mark.parametrize("smoothing", ["coco", "none", "floor", "add-k", "exp"])
@given(
    corpus=pairs(),
    k=st.sampled_from([0.0, 0.1, 1.0, 2.5]) | st.floats(1e-6, 10),
    length=st.sampled_from(["closest", "average", "shortest"]),
    brevity=st.booleans(),
)
def test_bleu_equals_the_formula(smoothing: str, corpus: Pairs, k: float, length: str, brevity: bool) -> None:
    metrics = [Bleu(n=n, smoothing=smoothing, k=k, length=length, brevity=brevity) for n in (1, 2, 3, 4)]
    scores = corpus.score(metrics)
    for metric in metrics:
        how = {"smoothing": smoothing, "k": k, "reference": length, "brevity": brevity}
        slow = bleu(corpus.candidates, corpus.references, n=metric.n, **how)
        assert_equal(scores[metric.key], slow)


def test_without_the_brevity_penalty_short_captions_lose_nothing() -> None:
    corpus = Pairs(("a dog",), (("a dog runs along the beach",),))
    scores = corpus.score("bleu-1, bleu-1(brevity=no)")
    assert scores["bleu-1"].value == pytest.approx(0.1353352832366127)  # exp(1 − 6/2)
    assert scores["bleu-1(brevity=no)"].value == pytest.approx(1)


def test_a_single_image_takes_the_closest_reference_length_too() -> None:
    corpus = Pairs(("a b c",), (("a b c", "a b c d e f g h i"),))
    assert corpus.score("bleu-1")["bleu-1"].value == pytest.approx(1, rel=1e-8)
    average = corpus.score("bleu-1(length=average)")["bleu-1(length=average)"].value
    assert average == pytest.approx(0.3678794411714423, rel=1e-8)  # exp(1 − 6/3)
