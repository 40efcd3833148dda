"""Edge cases: each entry of a metric's `nothing` has a check here."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import sacrecap
import sets as sets_of
from corpora import EMBEDDINGS, Pairs
from laws.registered import ELSEWHERE, REGISTERED
from sacrecap import Corpus, SacrecapWarning, _core
from sacrecap.metrics import Metric
from sacrecap.metrics.combine import WeightedMean
from sacrecap.metrics.declared import ParameterValue
from sacrecap.resources.embeddings import Embeddings, table_of_arrays
from sacrecap.scoring.score import score_corpus

Check = Callable[[Metric], None]
CHECKS: dict[tuple[str, str], Check] = {}
"""By the metric's kernel, or family where Python counts it, and the entry."""

LONG = "a dog runs along the beach"


def entry(kernel: str, name: str) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        CHECKS[kernel, name] = check
        return check

    return register


def per_image(metric: Metric, *images: tuple[str, tuple[str, ...]]) -> list[float]:
    """Scores of images, of which an empty reference stays: nothing is left out of a part of a corpus."""
    candidates, references = zip(*images, strict=True)
    pairs = Pairs(candidates, references)
    described, captions = map(_core.Captions.from_dict, pairs.by_id)
    [corpus] = Corpus.of_part(described, {"": captions}, tokenizer="none").values()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SacrecapWarning)
        scored = score_corpus(corpus, [metric], objects=pairs.objects, embeddings=EMBEDDINGS, rubric=pairs.by_id[0])
    scores: list[float] = scored[metric.key].per_image.tolist()
    return scores


def empty_caption(metric: Metric) -> None:
    scores = per_image(metric, ("", (LONG,)), (LONG, ("two birds", "two cats")), ("", ("",)), (LONG, ("",)))
    assert [scores[0], scores[2], scores[3]] == [0, 0, 0]


@entry("meteor", "empty caption")
@entry("meteor", "empty reference")
@entry("meteor", "no word in common")
def nothing_to_align(metric: Metric) -> None:
    scores = per_image(metric, ("", (LONG,)), ("", ("",)), (LONG, ("",)), ("", ("", LONG)), ("two cats", (LONG,)))
    assert scores == [0, 0, 0, 0, 0]


@entry("bleu", "empty caption")
def empty_caption_of_bleu(metric: Metric) -> None:
    scores = per_image(metric, ("", (LONG,)), (LONG, ("two birds", "two cats")), ("", ("",)), ("", ("a",)))
    assert [scores[0], scores[2], scores[3]] == [0, 0, 0]


@entry("rouge-l", "empty caption")
def empty_caption_of_rouge_l(metric: Metric) -> None:
    scores = per_image(metric, ("", (LONG,)), ("", ("",)), ("", (LONG, "")), (LONG, ("",)))
    assert scores == [0, 1, 1, 0]


@entry("spice", "empty caption")
@entry("spice", "caption that names no object")
@entry("spice", "references that name no object")
def nothing_is_named(metric: Metric) -> None:
    scores = per_image(metric, ("", (LONG,)), ("running", (LONG,)), (LONG, ("",)), (LONG, ("running", "")), ("", ("",)))
    assert scores == [0, 0, 0, 0, 0]


@entry("spice", "references without a tuple of the category")
def nothing_of_the_category(metric: Metric) -> None:
    of_colour = metric.with_parameters({"category": "color"})
    scores = per_image(of_colour, ("a red dog", ("a dog",)), ("a dog", ("a red dog",)), ("a red dog", ("a red dog",)))
    assert math.isnan(scores[0])
    assert scores[1:] == [0, 1]


@entry("coverage", "references that say nothing")
@entry("precision", "references that say nothing")
@entry("long-f1", "references that say nothing")
def the_references_say_nothing(metric: Metric) -> None:
    assert per_image(metric, (LONG, ("",)), (LONG, ("the", ""))) == [0, 0]


@entry("rubric", "empty caption")
@entry("rubric", "item that says nothing")
def the_rubric_or_the_caption_says_nothing(metric: Metric) -> None:
    assert per_image(metric, ("", (LONG,)), (LONG, ("the",)), (LONG, ("the", LONG))) == [0, 0, 1 / 2]


@entry("coverage", "references without a statement of the category")
@entry("precision", "caption without a statement of the category")
@entry("long-f1", "neither side with a statement of the category")
def one_side_says_nothing_of_the_category(metric: Metric) -> None:
    of_qualities = metric.with_parameters({"category": "attribute"})
    scores = per_image(of_qualities, ("dogs", ("dogs",)), ("a red dog", ("a red dog",)), ("a red dog", ("a blue cat",)))
    assert math.isnan(scores[0])
    assert scores[1:] == [1, -1 / 2]  # one of two other images has the red dog


@entry("chair-i", "caption that names no object")
@entry("chair-s", "caption that names no object")
@entry("chair-recall", "caption that names no object")
def no_object_is_named(metric: Metric) -> None:
    scores = per_image(metric, ("", ("a dog",)), ("running along", ("a dog",)), ("a dog", ("a dog",)), ("cat", ("",)))
    assert scores[:2] == [0, 0]
    assert scores[2] == (0 if metric.lower_is_better else 1)


@entry("chair-i", "no caption names an object")
@entry("chair-s", "no caption names an object")
def nobody_names_an_object(metric: Metric) -> None:
    with pytest.warns(SacrecapWarning, match=f"{metric.label}: no caption names an object of the vocabulary coco"):
        result = sacrecap.score({"1": ["a dog"]}, {"1": "running"}, metric, objects={"1": ["dog"]}, interval=None)
    assert result[metric.key].value == 0


@entry("chair-recall", "image without a gold object")
def there_is_nothing_to_name(metric: Metric) -> None:
    scores = per_image(metric, ("a dog", ("running",)), ("a dog", ("a dog",)))
    assert math.isnan(scores[0])
    assert scores[1] == 1
    with pytest.warns(SacrecapWarning, match="labels of objects are not in the vocabulary coco: sky"):
        result = sacrecap.score({"1": ["running"]}, {"1": "a dog"}, metric, objects={"1": ["sky"]}, interval=None)
    assert math.isnan(result[metric.key].value)
    assert any("1 of 1 images has no score" in note for note in result.notes)


@entry("fluency", "empty caption")
def nothing_is_not_fluent(metric: Metric) -> None:
    scores = per_image(metric, ("", (LONG,)), (LONG, ("two birds", "")))
    assert scores[0] == 0 < scores[1]


@entry("fluency", "empty reference")
def nothing_is_learnt(metric: Metric) -> None:
    with_it, without = (per_image(metric, (LONG, (LONG,)), (LONG, more)) for more in ((LONG, ""), (LONG,)))
    assert with_it == without
    assert per_image(metric, (LONG, ("",)), (LONG, ("",))) == [0, 0]


@entry("fluency", "one image")
def no_other_image(metric: Metric) -> None:
    with pytest.warns(SacrecapWarning, match=f"so {metric.label} is 0; score more images together"):
        result = sacrecap.score({"1": [LONG]}, {"1": LONG}, metric, tokenizer="none", interval=None)
    assert result[metric.key].value == 0


@entry("fluency", "unknown word")
def unknown_words_are_all_alike(metric: Metric) -> None:
    scores = per_image(metric, ("two zebras run", (LONG,)), ("two yaks run", (LONG,)), ("a dog runs", (LONG,)))
    assert 0 < scores[0] == scores[1] < scores[2]


@entry("bleu", "caption shorter than n words")
def short_caption(metric: Metric) -> None:
    for words in range(1, 5):
        caption = " ".join(LONG.split()[:words])
        score = per_image(metric, (caption, (caption,)), (LONG, (LONG,)))[0]
        if words < metric.n:  # type: ignore[attr-defined]
            assert 0 < score < 0.05
        else:
            assert score == pytest.approx(1, rel=1e-8)


@entry("rouge-n", "references shorter than n words")
def short_references(metric: Metric) -> None:
    n = metric.n  # type: ignore[attr-defined]
    short, enough = " ".join(LONG.split()[: n - 1]), " ".join(LONG.split()[:n])
    assert per_image(metric, (LONG, (short, short)), (LONG, (short, enough))) == [0, 1]


@entry("rouge-s", "caption of one word")
def one_word(metric: Metric) -> None:
    assert per_image(metric, ("a", ("a",)), ("a", (LONG,)), (LONG, ("a",))) == [0, 0, 0]


def one_image_and_no_document_frequencies(metric: Metric) -> None:
    with pytest.warns(SacrecapWarning, match=f"every IDF and {metric.label} is 0; give document frequencies"):
        result = sacrecap.score({"1": [LONG]}, {"1": LONG}, metric, tokenizer="none", interval=None)
    assert result[metric.key].value == 0
    elsewhere = Pairs(("", ""), ((LONG,), ("two birds",))).every_frequency()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = sacrecap.score(
            {"1": [LONG]}, {"1": LONG}, metric, tokenizer="none", document_frequency=elsewhere, interval=None
        )
    assert result[metric.key].value == pytest.approx(10)


def fewer_than_four_words(metric: Metric) -> None:
    words = LONG.split()
    images = [(caption, (caption,)) for caption in (" ".join(words[:length]) for length in range(1, 5))]
    df = Pairs(("", ""), ((LONG,), ("two birds",))).every_frequency()
    scores = Pairs(*zip(*images, strict=True)).score(metric, document_frequency=df)[metric.key].per_image
    assert scores.tolist() == pytest.approx([2.5, 5.0, 7.5, 10.0])


for _kernel in ("cider", "cider-d"):
    entry(_kernel, "one image and no --df")(one_image_and_no_document_frequencies)
    entry(_kernel, "caption of fewer than 4 words")(fewer_than_four_words)


def moved(metric: Metric, *images: tuple[str, tuple[str, ...], list[str]], **parameters: ParameterValue) -> list[float]:
    """Scores of images of caption, references and objects, with vectors of length 2 along three axes."""
    axes = Embeddings("axes", lambda: table_of_arrays("axes", ["dog", "cat", "sky"], 2 * np.eye(3), "0" * 12))
    ids = [str(number) for number in range(len(images))]
    candidates, references, objects = (dict(zip(ids, part, strict=True)) for part in zip(*images, strict=True))
    chosen = metric.with_parameters(parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SacrecapWarning)
        result = sacrecap.score(
            {image: [*captions] for image, captions in references.items()},
            candidates,
            chosen,
            objects=objects,
            embeddings=axes,
            interval=None,
        )
    scores: list[float] = result[chosen.key].per_image.tolist()
    assert all(map(math.isfinite, scores))
    return scores


DOG = ["dog"]
NO_WORD_KNOWN = [(caption, ("a dog",), DOG) for caption in ("", "the", "xyzzy plugh", "...")]


@entry("wmd", "no known content word in the caption")
def nothing_to_move(metric: Metric) -> None:
    assert moved(metric, *NO_WORD_KNOWN) == [0] * 4
    assert moved(metric, *NO_WORD_KNOWN, similarity=False) == [16] * 4
    assert moved(metric, *NO_WORD_KNOWN, similarity=False, p=1) == [4] * 4
    assert moved(metric, *NO_WORD_KNOWN, similarity=False, normalise=True) == [4] * 4


@entry("wmd", "no known content word in any reference")
def nowhere_to_move(metric: Metric) -> None:
    images = [("a dog", ("the", "xyzzy"), DOG), ("", ("the",), DOG)]
    assert moved(metric, *images) == [0, 0]
    assert moved(metric, *images, similarity=False) == [16, 4]


@entry("wmd", "no known content word in one of the references")
def one_reference_says_nothing(metric: Metric) -> None:
    for pool in ("best", "worst", "mean"):
        with_it, without = moved(
            metric, ("a dog", ("a cat", "xyzzy", "the"), DOG), ("a dog", ("a cat",), DOG), pool=pool
        )
        assert with_it == without == pytest.approx(math.exp(-8))


@entry("wmd", "every distance zero")
def the_same_words(metric: Metric) -> None:
    images = [("a dog and a cat", ("the cat with the dog",), DOG)]
    assert moved(metric, *images) == [1]
    assert moved(metric, *images, similarity=False) == [0]


@entry("vifidel", "no known content word in the caption")
def nothing_is_said(metric: Metric) -> None:
    assert moved(metric, *NO_WORD_KNOWN) == [0] * 4
    assert moved(metric, *NO_WORD_KNOWN, variant="released") == [2] * 4
    assert moved(metric, *NO_WORD_KNOWN, variant="released", normalise=False) == [4] * 4


@entry("vifidel", "no known object")
def nothing_is_there(metric: Metric) -> None:
    images = [("a dog", ("a cat",), []), ("a dog", ("a cat",), ["xyzzy"]), ("", ("the",), [])]
    assert moved(metric, *images) == [0, 0, 0]
    assert moved(metric, *images, variant="released") == [2, 2, 2]


@entry("vifidel", "no known content word in any reference")
def nobody_says_what_matters(metric: Metric) -> None:
    images = [("a dog", ("the", "xyzzy"), ["cat"])]
    assert moved(metric, *images) == moved(metric, *images, references=False) == pytest.approx([math.exp(-8)])


@entry("vifidel", "every distance zero")
def exactly_what_is_there(metric: Metric) -> None:
    images = [("a dog and a cat", ("the sky",), ["cat", "dog"]), ("a dog", ("a dog",), DOG)]
    assert moved(metric, *images) == [1, 1]
    assert moved(metric, *images, variant="released") == [0, 0]


def per_set(metric: Metric, *captions: list[str]) -> list[float]:
    """Each set's score; words that no other set has weigh more than 0."""
    sets = {f"image-{number}": chosen for number, chosen in enumerate([*captions, ["other words entirely here"]])}
    figures: list[float] = sets_of.score(sets, metric)[metric.key].per_image.tolist()
    return figures[:-1]


LONGER, OTHER = "a dog runs along the beach", "two birds sit upon some wire"


@entry("self-cider", "one caption")
@entry("lsa", "one caption")
@entry("mbleu-mix", "one caption")
def alone(metric: Metric) -> None:
    assert per_set(metric, [LONGER], ["dog"], [""]) == [0, 0, 0]


@entry("vendi", "one caption")
@entry("vendi", "equal captions")
def one_effective_caption(metric: Metric) -> None:
    assert per_set(metric, [LONGER], ["dog"], [LONGER] * 7) == pytest.approx([1, 1, 1], abs=1e-12)


@entry("mbleu", "one caption")
@entry("distinct", "one caption")
def alone_as_if_repeated(metric: Metric) -> None:
    assert per_set(metric, [LONGER], ["dog"], [""]) == [1, 1, 1]


@entry("self-cider", "equal captions")
@entry("lsa", "equal captions")
def equal_captions(metric: Metric) -> None:
    assert per_set(metric, [LONGER] * 2, [LONGER] * 7, ["dog"] * 3) == pytest.approx([0, 0, 0], abs=1e-12)


@entry("distinct", "equal captions")
def equal_captions_are_one(metric: Metric) -> None:
    assert per_set(metric, [LONGER] * 2, [LONGER] * 5) == [1 / 2, 1 / 5]


@entry("mbleu", "equal captions")
def equal_captions_repeat_all(metric: Metric) -> None:
    n = metric.n  # type: ignore[attr-defined]
    long, short = per_set(metric, [LONGER] * 3, ["a dog"] * 3)
    assert long == pytest.approx(1, rel=1e-8)
    assert short == pytest.approx(1, rel=1e-8) if n <= 2 else short < 0.01


@entry("mbleu-mix", "equal captions")
def equal_captions_have_no_variety(metric: Metric) -> None:
    long, short = per_set(metric, [LONGER] * 3, ["a dog"] * 3)
    assert long == pytest.approx(0, abs=1e-8)
    assert short > 0.4


@entry("self-cider", "all similarities 0")
@entry("lsa", "all similarities 0")
@entry("vendi", "all similarities 0")
def no_similarity(metric: Metric) -> None:
    assert per_set(metric, ["", ""], ["", "", ""]) == [0, 0]


@entry("self-cider", "empty caption")
@entry("lsa", "empty caption")
def an_empty_caption_among_others(metric: Metric) -> None:
    with_it, alone_, two = per_set(metric, [LONGER, OTHER, ""], [LONGER, ""], [LONGER, OTHER])
    assert alone_ == 0
    assert with_it == pytest.approx(two * math.log(2) / math.log(3))


@entry("vendi", "empty caption")
def an_empty_caption_counts_for_nothing(metric: Metric) -> None:
    with_it, without, alone_ = per_set(metric, [LONGER, OTHER, ""], [LONGER, OTHER], ["", LONGER])
    assert (with_it, alone_) == (pytest.approx(without), 1)


@entry("mbleu", "empty caption")
def nothing_has_no_bleu(metric: Metric) -> None:
    assert per_set(metric, ["", "", ""])[0] == 0
    assert per_set(metric, [LONGER, LONGER, ""])[0] == pytest.approx(2 / 3, rel=1e-8)


@entry("mbleu-mix", "empty caption")
def nothing_differs_from_all(metric: Metric) -> None:
    assert per_set(metric, ["", "", ""])[0] == 1
    assert per_set(metric, [LONGER, LONGER, ""])[0] == pytest.approx(1 / 3, rel=1e-8)


@entry("self-cider", "caption of fewer than 4 words")
def short_captions_of_a_set(metric: Metric) -> None:
    words = LONGER.split()
    captions = {"1": [" ".join(words[:length]) for length in range(1, 5)], "2": [OTHER]}
    matrix = sets_of.score(captions, metric).image("1").matrix
    assert matrix.diagonal().tolist() == pytest.approx([0.25, 0.5, 0.75, 1.0])


@entry("div", "no word")
def no_word(metric: Metric) -> None:
    assert per_set(metric, [""], ["", ""]) == [0, 0]


@entry("div", "captions shorter than n words")
def no_ngram(metric: Metric) -> None:
    n = metric.n  # type: ignore[attr-defined]
    short = " ".join(LONGER.split()[: n - 1])
    assert per_set(metric, [short, short]) == [0]


CONTRACTS = [
    (metric, name)
    for metric in REGISTERED
    if not isinstance(metric, (WeightedMean, *ELSEWHERE))
    for name in metric.nothing
]
"""A mean promises what its members do; those of `ELSEWHERE` have tests of their own."""


@pytest.mark.parametrize(("metric", "name"), CONTRACTS, ids=lambda value: getattr(value, "key", value))
def test_nothing(metric: Metric, name: str) -> None:
    usual = empty_caption if (name, metric.nothing[name]) == ("empty caption", "0") else None
    check = CHECKS.get((metric.arithmetic or metric.family, name), usual)
    assert check is not None, f"no check of what {metric} promises for: {name}; add one to this file"
    check(metric)
