"""Coverage and precision: the native code against slow Python, worked examples, what counts and what does not."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from reference import statements
from sacrecap import Corpus, _core
from sacrecap.metrics import Coverage, LongF1, Precision
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


@given(
    st.lists(st.lists(CAPTIONS, min_size=1, max_size=3), min_size=1, max_size=4),
    CAPTIONS,
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_the_scores_equal_the_slow_reference(images: list[list[str]], caption: str, worth: float) -> None:
    references = {str(number): captions for number, captions in enumerate(images)}
    corpus = Corpus(references, dict.fromkeys(references, caption))
    captions = [text for own in images for text in own]
    read = _core.Paragraphs(parser(), "ptb", [caption] * len(images), captions)
    frequencies = _core.StatementFrequencies(read, synonyms(), corpus._core.references)
    sides = [read.explain(synonyms(), frequencies, corpus._core, (image, worth)) for image in range(len(images))]
    candidate = _read([caption], sides[0][0][0])
    described = [_read(own, side[1][0]) for own, side in zip(images, sides, strict=True)]
    for category in ("all", "object", "attribute", "relation", "word"):
        metrics = [kind(category=category, synonyms=worth) for kind in (Coverage, Precision, LongF1)]
        scores = sacrecap.score(corpus, metrics=metrics, interval=None).values()
        expected = statements.scores(candidate, described, worth, _sets, _stem, category)
        assert [score.per_image[0] for score in scores] == pytest.approx(expected, abs=1e-12, nan_ok=True)


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
    whole = found.shares["all"]
    assert (whole.precision, whole.recall) == pytest.approx((result["precision"].value, result["coverage"].value))
    assert "[big]" in str(found)
    assert found.to_dict()["shares"]["object"]["precision"] == found.shares["object"].precision


def test_the_note_tells_each_kind_once() -> None:
    result = sacrecap.score({"1": ["a red dog"]}, {"1": "a red cat"}, "precision, coverage", interval=None)
    told = [note for note in result.notes if note.startswith("Statements")]
    assert len(told) == 1
    assert "objects P 0.000 R 0.000" in told[0]


def test_a_note_answers_how_true_and_how_complete_captions_are() -> None:
    references = {"1": ["A red dog runs.", "A dog."], "2": ["A blue boat.", "A boat on a lake."]}
    result = sacrecap.score(references, {"1": "A red dog runs.", "2": "A boat."}, "long-f1, precision", interval=None)
    [answer] = [note for note in result.notes if note.startswith("Beyond chance")]
    true, people = result["precision"].value, result["precision"].landmarks["people"]
    assert f"references say {100 * true:.0f} % of what the captions say (people's {100 * people:.0f} %)" in answer


def _sixteen() -> tuple[dict[str, list[str]], dict[str, str]]:
    colours, places = ("red", "blue", "green", "black"), ("couch", "street", "boat", "field")
    references = {
        f"{colour} {place}": [
            f"A {colour} dog sits on a {place}. A man walks.",
            f"A man walks. A {colour} dog sits on a {place}.",
        ]
        for colour in colours
        for place in places
    }
    return references, {image: f"A {image.split()[0]} dog is near a {image.split()[1]}." for image in references}


def test_scores_do_not_depend_on_threads_systems_or_the_engine() -> None:
    references, captions = _sixteen()
    one, many = (sacrecap.score(references, captions, "long", interval=None, threads=threads) for threads in (1, 4))
    streamed = sacrecap.score(references, captions, "long", interval=None, engine="stream")
    for key in LONG.split(", "):
        assert one[key].per_image_values() == many[key].per_image_values()
        assert one[key].value == pytest.approx(streamed[key].value, abs=1e-12)
        assert one[key].signature == streamed[key].signature
        assert "|chance:references(16)|" in one[key].signature
        assert one[key].landmarks == pytest.approx(streamed[key].landmarks)


def test_landmarks_are_chance_and_people() -> None:
    """Chance is subtracted, so a caption has 0 in the mean over all images; people are the first references."""
    references, captions = _sixteen()
    result = sacrecap.score(references, captions, LONG, interval=None)
    images = list(references)
    shuffled = [
        sacrecap.score(
            references,
            {image: captions[images[(at + by) % 16]] for at, image in enumerate(images)},
            "precision",
            interval=None,
        )["precision"].value
        for by in range(16)
    ]
    assert sum(shuffled) / 16 == pytest.approx(0, abs=1e-9)
    first = {image: own[0] for image, own in references.items()}
    for key, score in result.items():
        assert score.landmarks["chance"] == 0 < score.landmarks["people"] < 1
        assert result.to_dict()["landmarks"][key] == score.landmarks
    alone = sacrecap.score(first, captions, "precision", interval=None)["precision"]
    assert alone.landmarks == {"chance": 0}
    assert "chance 0" in str(result)


LONG = "coverage, precision, long-f1"


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+", text.strip())


def _laws(right: list[str], described: list[str], blind: list[str]) -> dict[str, tuple[str, list[str]]]:
    """What is made of right captions; and of their coverage, precision and long-f1 whether each may do anything (↕),
    must not rise (=), must not fall (≥) or must fall (↓).
    """
    random = Random(1)
    others = [*right[5:], *right[:5]]
    words, sentences = [text.split() for text in right], [_sentences(text) for text in right]
    some = [sorted(random.sample(range(len(own)), (len(own) + 1) // 2)) for own in sentences]
    return {
        "blind padding": ("↕=↓", [" ".join([text, *blind]) for text in right]),
        "a little of it": ("↕=↓", [" ".join([text, *blind[:5]]) for text in right]),
        "boilerplate alone": ("↓↓↓", [" ".join(blind)] * len(right)),
        "again": ("===", [f"{text} {text}" for text in right]),
        "another image's": ("↓↓↓", others),
        "first half": ("↓=↓", [" ".join(own[: len(own) // 2]) for own in words]),
        "first half of the sentences": ("↓=↓", [" ".join(own[: (len(own) + 1) // 2]) for own in sentences]),
        "half of the sentences": (
            "↓=↓",
            [" ".join(own[at] for at in to) for own, to in zip(sentences, some, strict=True)],
        ),
        # Where not all of a caption is supported, what is true raises its precision, too.
        "a true sentence": (
            "≥≥≥",
            [f"{text} {_sentences(own)[0]}" for text, own in zip(right, described, strict=True)],
        ),
        "a false sentence": (
            "=↓↓",
            [f"{text} {_sentences(other)[0]}" for text, other in zip(right, others, strict=True)],
        ),
        "shuffled": ("↓↓↓", [" ".join(random.sample(own, len(own))) for own in words]),
        "denied": ("↓↓↓", [f"It is false that {'. It is false that '.join(map(_lower, own))}" for own in sentences]),
    }


def _lower(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:].rstrip('.')}"


def _broken(references: dict[str, list[str]], right: list[str], blind: list[str]) -> list[str]:
    """The laws that do not hold: a mean difference counts from two standard errors on."""
    described = [own[0] for own in references.values()]
    before = sacrecap.score(references, dict(zip(references, right, strict=True)), LONG, interval=None)
    broken = []
    for name, (law, texts) in _laws(right, described, blind).items():
        after = sacrecap.score(references, dict(zip(references, texts, strict=True)), LONG, interval=None)
        for key, sign in zip(LONG.split(", "), law, strict=True):
            rises = after[key].per_image - before[key].per_image
            rise = rises.mean() / max(rises.std(ddof=1) / len(rises) ** 0.5, 1e-9)
            if not {"↕": True, "=": rise < 2, "≥": rise > -2, "↓": rise < -2}[sign]:
                broken.append(f"{name}: {key} {sign}, {before[key].value:.4f} to {after[key].value:.4f}, z {rise:.1f}")
        if name == "denied":
            assert after["precision"].value < 2 / 3 * before["precision"].value
    return broken


def test_the_laws() -> None:
    references, captions = _sixteen()
    blind = [f"There is a {word}." for word in ("man", "dog", "couch", "street", "boat", "field")]
    right = [f"A {colour} dog sits. Behind it is a {place}." for colour, place in map(str.split, captions)]
    assert _broken(references, right, blind) == []


def _d_foil(shared: Path) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = json.loads(
        gzip.decompress((shared / "data" / "long" / "d-foil-even.json.gz").read_bytes())
    )
    return rows


def test_the_laws_on_long_captions(shared: Path) -> None:
    """On every other row of D-FOIL, whose captions people corrected."""
    rows = _d_foil(shared)
    words = Counter(word for row in rows for word in set(re.findall("[a-z]{4,}", row["caption"].lower())))
    blind = [f"There is a {word}." for word, _ in words.most_common(40)]
    references = {str(number): [row["caption"]] for number, row in enumerate(rows)}
    assert _broken(references, [row["human_corrected_hall_caption"] for row in rows], blind) == []


def test_a_wrong_detail_is_found(shared: Path) -> None:
    rows = [row for row in _d_foil(shared) if row["human_corrected_hall_caption"] != row["hall_caption"]]
    references = {str(number): [row["caption"]] for number, row in enumerate(rows)}
    right, wrong = (
        sacrecap.score(
            references, {str(at): row[f"{kind}hall_caption"] for at, row in enumerate(rows)}, LONG, interval=None
        )
        for kind in ("human_corrected_", "")
    )
    for key in ("precision", "long-f1"):
        assert (right[key].per_image > wrong[key].per_image).mean() >= 0.97, key
