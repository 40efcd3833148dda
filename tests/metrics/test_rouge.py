"""ROUGE-N, ROUGE-L and ROUGE-S equal the slow reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison import assert_equal
from corpora import Pairs, pairs
from reference.rouge import rouge_l, rouge_n, rouge_s
from sacrecap.metrics import RougeL, RougeN, RougeS

betas = st.sampled_from([1.0, 1.2, 2.0]) | st.floats(1e-6, 1e6)


@given(corpus=pairs())
def test_rouge_n_equals_the_formula(corpus: Pairs) -> None:
    metrics = [RougeN(n=n) for n in (1, 2, 3, 4)]
    scores = corpus.score(metrics)
    for metric in metrics:
        assert_equal(scores[metric.key], rouge_n(corpus.candidates, corpus.references, n=metric.n))


@given(corpus=pairs(), beta=betas)
def test_rouge_l_equals_the_formula(corpus: Pairs, beta: float) -> None:
    metric = RougeL(beta=beta)
    assert_equal(corpus.score(metric)[metric.key], rouge_l(corpus.candidates, corpus.references, beta=beta))


@given(corpus=pairs("abcde", longest=80, most=2))
def test_rouge_l_of_captions_longer_than_a_machine_word_has_bits(corpus: Pairs) -> None:
    assert_equal(corpus.score("rouge-l")["rouge-l"], rouge_l(corpus.candidates, corpus.references))


@given(corpus=pairs(["half", "1\N{NO-BREAK SPACE}1/2", "1", "1/2", "cup"]))
def test_a_token_with_a_no_break_space_is_one_token_to_rouge_l(corpus: Pairs) -> None:
    assert_equal(corpus.score("rouge-l")["rouge-l"], rouge_l(corpus.candidates, corpus.references))


@given(corpus=pairs(), distance=st.integers(1, 12), beta=betas)
def test_rouge_s_equals_the_formula(corpus: Pairs, distance: int, beta: float) -> None:
    metric = RougeS(distance=distance, beta=beta)
    slow = rouge_s(corpus.candidates, corpus.references, distance=distance, beta=beta)
    assert_equal(corpus.score(metric)[metric.key], slow)


@pytest.mark.parametrize("metric", [RougeL(beta=1e200), RougeS(beta=1e200)])
def test_recall_alone_counts_with_an_enormous_beta(metric: RougeL | RougeS) -> None:
    corpus = Pairs(("a b c d",), (("a b c d e f g h",),))
    recall = {"rouge-l": 4 / 8, "rouge-s": 6 / 22}[metric.name]
    assert corpus.score(metric)[metric.key].value == pytest.approx(recall, rel=1e-12)
