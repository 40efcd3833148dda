"""What holds for the scores of every metric, present and future."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora import Pairs, caption, mixed, pairs, seeds, stem
from laws.registered import (
    ALL,
    every_comparing_metric,
    every_consensus_metric,
    every_metric,
    few,
    frequencies,
    score_of_equals,
    variations,
)
from sacrecap.metrics import Metric


def begins_written(word: str) -> bool:
    """Whether a text that begins so may be one that a program wrote of a list, a tuple, a set, bytes or an array."""
    return word.startswith(("[", "(", "{", "b'", 'b"', "array("))


unicode_words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=4
).filter(lambda word: len(word.split()) == 1 and not begins_written(word))


def equal(a: object, b: object) -> object:
    """Two images without a score are equal too."""
    return a == pytest.approx(b, rel=1e-12, abs=1e-15, nan_ok=True)


@every_metric
@few
@given(corpus=pairs(), seed=seeds)
def test_the_order_of_images_is_irrelevant(metric: Metric, corpus: Pairs, seed: int) -> None:
    order = list(range(len(corpus.candidates)))
    Random(seed).shuffle(order)
    before, after = corpus.score(variations(metric)), corpus.pick(order).score(variations(metric))
    for key in before:
        assert equal(after[key].value, before[key].value), key
        np.testing.assert_array_equal(after[key].per_image, before[key].per_image[order], key)


@every_comparing_metric
@few
@given(corpus=pairs(least=2), data=st.data())
def test_shards_merge_to_the_whole(metric: Metric, corpus: Pairs, data: st.DataObject) -> None:
    images = range(len(corpus.candidates))
    cut = data.draw(st.integers(1, len(images) - 1))
    df = frequencies(corpus, metric)
    whole, first, second = (
        corpus.pick(part).score(variations(metric), document_frequency=df)
        for part in (images, images[:cut], images[cut:])
    )
    for key, score in whole.items():
        merged = first[key].statistics.merge(second[key].statistics)
        assert merged.rows == len(images)
        assert equal(merged.score(), score.value), key
        assert equal(np.frombuffer(merged.row_scores()), score.per_image), key


@every_metric
@few
@given(corpus=pairs(), threads=st.integers(2, 9))
def test_any_number_of_threads_gives_the_same_bits(metric: Metric, corpus: Pairs, threads: int) -> None:
    many = corpus.pick([*range(len(corpus.candidates))] * 4)
    one, several = many.score(variations(metric), threads=1), many.score(variations(metric), threads=threads)
    for key in one:
        assert one[key].statistics.values() == several[key].statistics.values(), key
        np.testing.assert_equal(one[key].value, several[key].value, key)


@every_metric
@few
@given(corpus=pairs(), foreign=pairs(st.lists(unicode_words, min_size=1, max_size=8), longest=6))
def test_scores_lie_within_their_range(metric: Metric, corpus: Pairs, foreign: Pairs) -> None:
    for captions_ in (corpus, foreign):
        scores = captions_.score(variations(metric))
        for score in scores.values():
            values = [score.value, *score.per_image]
            if score.metric.no_score_where is not None:
                values = [value for value in values if not math.isnan(value)]
            least, bound = score.metric.smallest, score.metric.largest
            assert all(map(math.isfinite, values)), score.metric
            assert least is None or min(values, default=0) >= least * (1 + 1e-12), score.metric
            assert bound is None or max(values, default=0) <= bound * (1 + 1e-12), score.metric


@every_consensus_metric
@few
@given(corpus=pairs(shortest=4, least=2), seed=seeds)
def test_a_reference_scored_against_itself_is_the_maximum(metric: Metric, corpus: Pairs, seed: int) -> None:
    """Of captions with at least four words: shorter ones lack n-grams of some orders, which count 0 or a constant."""
    chance = Random(seed)
    own = Pairs(corpus.candidates, tuple(sentences[:1] for sentences in corpus.references))
    itself = Pairs(tuple(sentence for (sentence,) in own.references), own.references)
    others = [own]
    for _ in range(3):
        described = (chance.choice((caption(chance), mixed(chance, sentences))) for sentences in own.references)
        others.append(Pairs(tuple(described), own.references))
    chosen = [variation for variation in variations(metric) if score_of_equals(variation) == variation.largest]
    best = itself.score(chosen)
    for other in others:
        scores = other.score(chosen)
        for key in best:
            if best[key].metric.lower_is_better:
                assert (scores[key].per_image >= best[key].per_image).all(), key
            else:
                assert (scores[key].per_image <= best[key].per_image * (1 + 1e-12)).all(), key


@every_consensus_metric
@few
@given(first=st.permutations(["u", "b", "c", "d", "e"]), second=st.permutations(["v", "w", "x", "y", "z"]))
def test_captions_equal_to_references_that_share_no_word_reach_the_bound(
    metric: Metric, first: list[str], second: list[str]
) -> None:
    """There every n-gram is in one of two documents, so that each has some weight."""
    one, other = " ".join(first), " ".join(second)
    corpus = Pairs((one, other), ((one,), (other,)))
    scores = corpus.score(variations(metric))
    for score in scores.values():
        bound = score_of_equals(score.metric)
        if score.metric.lower_is_better:
            assert score.value == 0, score.metric
        elif bound is not None:
            # The COCO code's constant in BLEU's denominators is 1e-9.
            assert score.value == pytest.approx(bound, rel=1e-8), score.metric


@every_comparing_metric
@few
@given(corpus=pairs(least=2))
def test_an_image_more_leaves_the_scores_of_the_others(metric: Metric, corpus: Pairs) -> None:
    fewer = corpus.pick(range(len(corpus.candidates) - 1))
    df = frequencies(corpus, metric)
    all_of_them, of_fewer = (images.score(variations(metric), document_frequency=df) for images in (corpus, fewer))
    for key, score in all_of_them.items():
        np.testing.assert_array_equal(of_fewer[key].per_image, score.per_image[:-1], key)


@every_comparing_metric
@few
@given(corpus=pairs())
def test_references_given_twice_count_once(metric: Metric, corpus: Pairs) -> None:
    """Every metric takes the mean, the maximum or a quotient over them."""
    twice = Pairs(corpus.candidates, tuple(sentences + sentences for sentences in corpus.references))
    once, again = corpus.score(variations(metric)), twice.score(variations(metric))
    for key in once:
        assert equal(again[key].value, once[key].value), key
        assert equal(again[key].per_image, once[key].per_image), key


@pytest.mark.parametrize("metric", [m for m in ALL if "stem" in m.prepared], ids=lambda metric: metric.key)
@few
@given(corpus=pairs())
def test_stems_are_words_like_others(metric: Metric, corpus: Pairs) -> None:
    stems = Pairs(
        tuple(stemmed(caption) for caption in corpus.candidates),
        tuple(tuple(map(stemmed, image)) for image in corpus.references),
    )
    of_words, of_stems = (metric.with_parameters({"stem": stem}) for stem in (False, True))
    found, expected = corpus.score(of_stems)[of_stems.key], stems.score(of_words)[of_words.key]
    assert found.statistics.values() == expected.statistics.values()


def stemmed(caption: str) -> str:
    return " ".join(map(stem, caption.split(" ")))
