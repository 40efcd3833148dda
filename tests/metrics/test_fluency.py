"""Fluency equals the slow reference, and behaves as a language model should."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from comparison import assert_equal
from corpora import Pairs, captions, pairs
from reference.fluency import Model, fluency
from sacrecap import SacrecapWarning, example
from sacrecap.metrics import Fluency

with_strangers = pairs(["a", "the", "dog", "runs", "</s>", "<unk>", "\N{SNOWMAN}", "a dog"])


@given(corpus=pairs() | with_strangers, n=st.integers(1, 4), own=st.booleans())
def test_fluency_equals_the_formula(corpus: Pairs, n: int, own: bool) -> None:
    metric = Fluency(n=n, own=own)
    slow = fluency(corpus.candidates, corpus.references, n=n, own=own)
    assert_equal(corpus.score(metric)[metric.key], slow)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("own", [True, False])
def test_fluency_equals_the_formula_where_discounts_are_estimated(n: int, own: bool) -> None:
    references = example.references()
    candidates = example.systems()["plain"]
    ids = list(references)[:20]
    corpus = Pairs(
        tuple(" ".join(words) for words in sacrecap.tokenize(candidates[image] for image in ids)),
        tuple(tuple(" ".join(words) for words in sacrecap.tokenize(references[image])) for image in ids),
    )
    text = [sentence.split() for sentences in corpus.references for sentence in sentences]
    assert any(discounts != [0.0, 0.5, 1.0, 1.5] for discounts in Model(text, n).discounts.values())
    metric = Fluency(n=n, own=own)
    assert_equal(corpus.score(metric)[metric.key], fluency(corpus.candidates, corpus.references, n=n, own=own))


@given(corpus=pairs(least=2), sentences=st.lists(captions().filter(str.strip), min_size=1, max_size=5).map(tuple))
def test_an_images_own_references_do_not_matter(corpus: Pairs, sentences: tuple[str, ...]) -> None:
    other = Pairs(corpus.candidates, (sentences, *corpus.references[1:]))
    first, second = (images.score("fluency")["fluency"].per_image[0] for images in (corpus, other))
    assert first == second


def test_word_order_counts_from_bigrams_on() -> None:
    people = tuple((f"a dog runs on the {place}",) for place in ("beach", "grass", "road", "sand"))
    well, badly = (
        Pairs((caption, *["a dog"] * 3), people).score("fluency, fluency(n=1)")
        for caption in ("a dog runs on the beach", "beach the on runs dog a")
    )
    assert well["fluency"].per_image[0] > 3 * badly["fluency"].per_image[0]
    assert well["fluency(n=1)"].per_image[0] == pytest.approx(badly["fluency(n=1)"].per_image[0])


def test_one_image_is_warned_of() -> None:
    with pytest.warns(SacrecapWarning, match=r"no other image's references to learn from, so Fluency is 0; .*own=yes"):
        [score] = sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, "fluency", interval=None).values()
    assert score.value == 0
    [score] = sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, "fluency(own=yes)", interval=None).values()
    assert score.value > 0


def test_the_signature_says_what_was_learnt_from() -> None:
    score = Pairs(("a", "b"), (("a",), ("b",))).score("fluency")["fluency"]
    assert score.signature.startswith("fluency|n:3|own:no|lm:references(2)|tok:none|refs:1|sacrecap:")
