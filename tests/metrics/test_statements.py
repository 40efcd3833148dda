"""Coverage and precision: the native code against slow Python, worked examples, what counts and what does not."""

from __future__ import annotations

import math
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from reference import statements
from sacrecap import Corpus, _core
from sacrecap.metrics import Coverage, Precision
from sacrecap.resources.english import parser, synonyms

WORDS = (
    "a the two no without possibly red blue big large left dog dogs puppy cat couch sofa man woman image beach sky "
    "runs running sits stands holds on under with beside and . ."
).split()
CAPTIONS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join)


@cache
def _stem(word: str) -> str:
    corpus = Corpus({"1": [word]}, {"1": word}, tokenizer="none").native(stems=True)
    return corpus.texts(0)[0][0]


def _sets(name: str) -> set[int]:
    return set(synonyms().sets(name))


def _read(captions: list[str], read: list[tuple[list[str], list[int]]]) -> list[statements.Read]:
    graphs = _core.SceneGraphs.paragraphs(parser(), captions, "ptb")
    parts = zip(read, graphs, strict=True)
    return [(tokens, ends, graph, statuses) for (tokens, ends), (_, graph, statuses) in parts]


@given(CAPTIONS, st.lists(CAPTIONS, min_size=1, max_size=3), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_scores_equal_the_slow_reference(caption: str, references: list[str], worth: float) -> None:
    corpus = Corpus({"1": references}, {"1": caption})
    read = _core.Paragraphs(parser(), "ptb", [caption], references)
    (own, _), (others, _) = read.explain(synonyms(), corpus._core, 0, worth)
    candidate, described = _read([caption], own), _read(references, others)
    for category in ("all", "object", "attribute", "relation", "word"):
        metrics = [kind(category=category, synonyms=worth) for kind in (Precision, Coverage)]
        precision, coverage = sacrecap.score(corpus, metrics=metrics, interval=None).values()
        for score, side, other in ((precision, candidate, described), (coverage, described, candidate)):
            expected = statements.score(side, other, worth, _sets, _stem, category)
            assert score.per_image[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def _scores(caption: str, *references: str, metrics: str = "precision, coverage") -> list[float]:
    return [score.value for score in sacrecap.score({"1": references}, {"1": caption}, metrics, interval=None).values()]


def test_a_caption_equal_to_its_reference_has_everything() -> None:
    caption = "Two dogs sit on a red couch. The larger dog is on the left."
    assert _scores(caption, caption) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("right", "foil"),
    [
        ("three dogs sit", "two dogs sit"),
        ("a man in a red shirt", "a man in a blue shirt"),
        ("a man on the left holds a cup", "a man on the right holds a cup"),
        ("a woman sits on a chair", "a woman stands on a chair"),
        ("a cup on the table", "a cup under the table"),
    ],
)
def test_one_detail_counts(right: str, foil: str) -> None:
    for good, bad in zip(_scores(right, right), _scores(foil, right), strict=True):
        assert good == 1 > bad


def test_a_synonym_is_worth_less_than_the_word_and_more_than_another() -> None:
    same, synonym, other = (
        _scores(f"a {name} by the window", "a couch by the window")[0] for name in ("couch", "sofa", "bed")
    )
    assert same == 1 > synonym > other


def test_what_is_denied_is_not_said() -> None:
    caption, reference = "A dog runs on the beach.", "a dog runs on the beach"
    assert _scores(f"{caption} There are no people.", reference) == _scores(caption, reference) == [1.0, 1.0]
    assert _scores(f"{caption} There are people.", reference)[0] < 1


def test_references_are_united() -> None:
    """What several references say counts once, and what differs by a synonym as one thing."""
    one = _scores("a dog", "a dog", "a red couch")[1]
    assert _scores("a dog", "a dog", "a red couch", "a red couch", "a dog")[1] == pytest.approx(one)
    objects = "coverage(category=object)"
    assert _scores("a dog", "a dog and a couch", "a sofa", metrics=objects) == [0.5]
    assert _scores("a dog", "a dog and a couch", "a bed", metrics=objects) == [pytest.approx(1 / 3)]


@pytest.mark.parametrize(
    ("caption", "reference", "expected"),
    [
        ("", "A dog runs.", [0.0, 0.0]),
        ("dog", "dog", [1.0, 1.0]),
        ("dog", "A cat.", [0.0, 0.0]),
        ("There are no dogs.", "A dog runs.", [0.0, 0.0]),
        ("A dog runs.", "There are no dogs.", [0.0, 0.0]),
        ("There are no dogs.", "There are no dogs.", [0.0, 0.0]),
        ("The image.", "The image.", [0.0, 0.0]),
        ("A dog runs. " * 2_500, "A dog runs.", [1.0, 1.0]),
    ],
    ids=["empty", "one word", "another word", "denied", "denied by references", "both deny", "no thing", "7,500 words"],
)
def test_edge_cases(caption: str, reference: str, expected: list[float]) -> None:
    assert _scores(caption, reference) == expected


def test_the_order_of_references_says_nothing() -> None:
    references = ["a couch and a dog", "a big sofa", "two large dogs on a couch"]
    scores = _scores("a large couch", *references)
    assert _scores("a large couch", *reversed(references)) == pytest.approx(scores, abs=1e-12)


def test_a_category_without_statements_has_no_score() -> None:
    precision, coverage = _scores(
        "dogs", "a red dog", metrics="precision(category=attribute), coverage(category=attribute)"
    )
    assert math.isnan(precision)
    assert coverage == 0


def test_the_explanation_marks_words_and_sums_to_the_scores() -> None:
    references, caption = (
        ["A small dog on a red couch. There are no people."],
        "The image shows a **big** dog on a couch.",
    )
    result = sacrecap.score({"1": references}, {"1": caption}, "coverage, precision", interval=None)
    found = result.explain("1")["statement"]
    assert "".join(text for text, _ in found.candidate.pieces()[0]) == caption
    marked = {text for text, support in found.candidate.pieces()[0] if support == 0}
    assert "big" in marked
    assert {"dog", "couch"} <= {text for text, support in found.candidate.pieces()[0] if support == 1}
    left_out = {text for text, support in found.references.pieces()[0] if support == 0}
    assert {"small", "red"} <= left_out
    assert "people" not in left_out
    whole = found.shares()["all"]
    assert (whole.precision, whole.recall) == pytest.approx((result["precision"].value, result["coverage"].value))
    assert "[big]" in str(found)
    assert found.to_dict()["shares"]["object"]["precision"] == found.shares()["object"].precision


def test_the_note_tells_each_kind_once() -> None:
    result = sacrecap.score({"1": ["a red dog"]}, {"1": "a red cat"}, "precision, coverage", interval=None)
    told = [note for note in result.notes if note.startswith("Statements")]
    assert len(told) == 1
    assert "objects P 0.000 R 0.000" in told[0]


def test_scores_do_not_depend_on_threads_or_on_other_images() -> None:
    references = {
        str(number): [f"{number} dogs on a {colour} couch"] for number, colour in enumerate(["red", "blue"] * 8)
    }
    captions = dict.fromkeys(references, "three dogs on a blue sofa. A man runs.")
    one, many = (sacrecap.score(references, captions, "long", interval=None, threads=threads) for threads in (1, 4))
    for key in ("coverage", "precision"):
        assert one[key].per_image_values() == many[key].per_image_values()
        alone = sacrecap.score({"5": references["5"]}, {"5": captions["5"]}, key, interval=None)
        assert alone[key].value == one[key].per_image_values()[5]
