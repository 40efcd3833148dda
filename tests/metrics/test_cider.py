"""CIDEr with all its variants, and CIDEr-D, equal the slow reference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison import assert_equal
from corpora import Pairs, pairs, stem
from reference.cider import cider, cider_d
from reference.document_frequency import document_frequencies, word_form
from sacrecap.metrics import CiderD, CiderPaper

variants = st.fixed_dictionaries(
    {
        "n": st.integers(1, 4),
        "only": st.integers(0, 4),
        "idf": st.booleans(),
        "pool": st.sampled_from(["mean", "max"]),
        "weights": st.sampled_from(["uniform", "exponential"]),
        "scale": st.sampled_from([1.0, 10.0]) | st.floats(1e-3, 1e3),
    }
)


@pytest.mark.parametrize("stemmed", [True, False], ids=["stems", "forms"])
@given(corpus=pairs(), variant=variants)
def test_cider_equals_the_formula(stemmed: bool, corpus: Pairs, variant: dict[str, Any]) -> None:
    metric = CiderPaper(stem=stemmed, **variant)
    slow = cider(corpus.candidates, corpus.references, stem=stem if stemmed else word_form, **variant)
    assert_equal(corpus.score(metric)[metric.key], slow)


@pytest.mark.parametrize("stemmed", [True, False], ids=["stems", "forms"])
@given(corpus=pairs(most=3), elsewhere=pairs())
def test_cider_with_given_document_frequencies(stemmed: bool, corpus: Pairs, elsewhere: Pairs) -> None:
    metric = CiderPaper(stem=stemmed)
    form = stem if stemmed else word_form
    given_ = elsewhere.frequencies(stem=stemmed)
    slow = cider(
        corpus.candidates,
        corpus.references,
        stem=form,
        frequencies=document_frequencies(elsewhere.references, stem=form),
    )
    assert_equal(corpus.score(metric, document_frequency=given_)[metric.key], slow)


@given(corpus=pairs(), n=st.integers(1, 4), sigma=st.sampled_from([1.0, 6.0]) | st.floats(0.1, 100))
def test_cider_d_equals_the_formula(corpus: Pairs, n: int, sigma: float) -> None:
    metric = CiderD(n=n, sigma=sigma)
    assert_equal(corpus.score(metric)[metric.key], cider_d(corpus.candidates, corpus.references, n=n, sigma=sigma))


@given(corpus=pairs(most=3), elsewhere=pairs())
def test_cider_d_with_given_document_frequencies(corpus: Pairs, elsewhere: Pairs) -> None:
    slow = cider_d(corpus.candidates, corpus.references, frequencies=document_frequencies(elsewhere.references))
    assert_equal(corpus.score("cider-d", document_frequency=elsewhere.frequencies())["cider-d"], slow)


def test_the_smallest_sigma_leaves_captions_of_equal_length() -> None:
    corpus = Pairs(("a b c d", "e f g h"), (("a b c d", "a b c d x"), ("x y",)))
    [score] = corpus.score("cider-d(sigma=1e-200)").values()
    assert score.per_image.tolist() == [5.0, 0.0]
