"""Coverage and precision: the native code against slow Python, worked examples, what counts and what does not."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import Counter
from collections.abc import Callable
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
    whole = found.shares()["all"]
    assert (whole.precision, whole.recall) == pytest.approx((result["precision"].value, result["coverage"].value))
    assert "[big]" in str(found)
    assert found.to_dict()["shares"]["object"]["precision"] == found.shares()["object"].precision


def test_the_note_tells_each_kind_once() -> None:
    result = sacrecap.score({"1": ["a red dog"]}, {"1": "a red cat"}, "precision, coverage", interval=None)
    told = [note for note in result.notes if note.startswith("Statements")]
    assert len(told) == 1
    assert "objects P 0.000 R 0.000" in told[0]


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
BLIND = "There is a man. There is a dog. There is a couch. There is a street. There is a boat. There is a field."


@pytest.mark.parametrize(
    ("change", "coverage", "precision", "both"),
    [
        (lambda text, _: f"{text} {BLIND}", 0, -1, -1),
        (lambda _, __: BLIND, -1, -1, -1),
        (lambda text, _: f"{text} {text}", 0, 0, 0),
        (lambda _, other: other, -1, -1, -1),
        (lambda text, _: f"{text} A dog sits.", 1, 0, 1),
        (lambda text, _: f"{text} A cat sleeps in a purple basket.", 0, -1, -1),
    ],
    ids=["blind padding", "boilerplate alone", "again", "another image's", "a true sentence more", "a false one more"],
)
def test_laws(change: Callable[[str, str], str], coverage: int, precision: int, both: int) -> None:
    """−1 must fall, 0 must not rise, 1 may rise."""
    references, captions = _sixteen()
    texts = list(captions.values())
    others = [*texts[5:], *texts[:5]]
    changed = {image: change(text, other) for (image, text), other in zip(captions.items(), others, strict=True)}
    before, after = (sacrecap.score(references, given, LONG, interval=None) for given in (captions, changed))
    for key, law in zip(LONG.split(", "), (coverage, precision, both), strict=True):
        rise = after[key].value - before[key].value
        assert law == 1 or rise < (1e-9 if law == 0 else -1e-3), (key, rise)


def test_laws_on_long_captions(shared: Path) -> None:
    """On every other row of D-FOIL, whose captions people corrected: padding buys nothing, and details count."""
    path = shared / "data" / "long" / "d-foil-even.json.gz"
    rows = json.loads(gzip.decompress(path.read_bytes()))
    references = {str(number): [row["caption"]] for number, row in enumerate(rows)}
    right, foil = ([row[f"{kind}hall_caption"] for row in rows] for kind in ("human_corrected_", ""))
    words = Counter(word for row in rows for word in set(re.findall("[a-z]{4,}", row["caption"].lower())))
    blind = [f"There is a {word}." for word, _ in words.most_common(160)]
    random = Random(1)
    systems = {
        "right": right,
        "foil": foil,
        "other": [*right[1:], *right[:1]],
        "half": [" ".join(text.split()[: len(text.split()) // 2]) for text in right],
        "shuffled": [" ".join(random.sample(words, len(words))) for words in map(str.split, right)],
        "alone": [" ".join(blind[:40])] * len(rows),
        **{f"padded {count}": [" ".join([text, *blind[:count]]) for text in right] for count in (5, 40, 160)},
    }
    scores = {
        name: sacrecap.score(references, dict(zip(references, texts, strict=True)), LONG, interval=None)
        for name, texts in systems.items()
    }
    means = {name: [result[key].value for key in LONG.split(", ")] for name, result in scores.items()}
    coverage, precision, both = means["right"]
    assert all(means["other"][at] < 0.1 * value for at, value in enumerate((coverage, precision, both)))
    for name in ("foil", "shuffled", "alone"):
        assert all(less < more for less, more in zip(means[name], means["right"], strict=True)), name
    assert means["half"][0] < coverage
    assert means["half"][2] < both
    for count in (5, 40, 160):
        assert means[f"padded {count}"][1] < precision
        assert means[f"padded {count}"][2] < both
    differ = [at for at, (one, other) in enumerate(zip(right, foil, strict=True)) if one != other]
    for key in ("precision", "long-f1"):
        gain = scores["right"][key].per_image - scores["foil"][key].per_image
        assert (gain[differ] > 0).mean() >= 0.97, key
