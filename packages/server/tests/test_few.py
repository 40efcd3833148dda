"""Attacks on single hidden references, as somebody runs them who knows other captions of the same kind."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from sacrecap import example
from sacrecap._core import Captions
from sacrecap.boards import leaks
from sacrecap.boards.leaks import CaptionLimits, limit_of, problems
from sacrecap.corpus.corpus import Corpus
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.score import score_corpus
from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import child_scorer
from sacrecap_server_testing.benchmark import SYSTEMS, make, submit
from sacrecap_server_testing.boards import enter

REFERENCES = {f"{copy} {image}": texts for copy in range(5) for image, texts in example.references().items()}
"""300 images: the example's five times."""
IMAGES = list(REFERENCES)
METRICS = "bleu-4, bleu-1, rouge-l, meteor, cider-d"


def scored(captions, metrics="bleu-4", *, baseline=False):
    """What the server keeps of the scores of a file."""
    files = [json.dumps(each).encode() for each in (REFERENCES, captions)]
    header = {
        "metrics": metrics,
        "tokenizer": "ptb",
        "objects": None,
        "private": None,
        "second": None,
        "baseline": baseline,
    }
    answer = child_scorer.compute(header, files, lambda _: None)["scores"]["all"]
    return {metric: [round(value, 4) for value in values] for metric, values in answer.items()}


def compared(one, other, metrics=METRICS):
    """The p that the server keeps of two files, by metric."""
    header = {
        "metrics": metrics,
        "tokenizer": "ptb",
        "objects": None,
        "private": None,
        "second": None,
        "first": 1,
        "others": [2],
    }
    files = [json.dumps(each).encode() for each in (REFERENCES, one, other)]
    answer = child_scorer.compare({**header, "unscored": [2]}, files, lambda _: None)
    return {metric: p for _, _, metric, _, _, _, p in answer["pairs"]}


def of_references(image):
    """A caption of which the references of the image have every n-gram."""
    return REFERENCES[image][0]


@pytest.mark.parametrize("others", ["a thing{}", "of of{} a in the the"], ids=["too short", "without 4-grams"])
def test_bleu_does_not_say_whether_one_image_has_four_words(others):
    """The attack: all other captions match no n-gram of the order, so the score hangs on the image asked about."""
    captions = {image: others.format(place) for place, image in enumerate(IMAGES)}
    asked = IMAGES[7]
    for caption in (of_references(asked), "qq ww ee rr tt yy"):
        file = {**captions, asked: caption}
        exact = scored(file, baseline=True)["bleu-4"]
        assert (exact[0] > 0) == (caption == of_references(asked))
        assert scored(file)["bleu-4"] == [0.0, 0.0, 0.0]


def test_captions_too_short_for_an_ngram_of_bleu_are_limited_as_empty_ones(world):
    make(world, metrics="cider-d, bleu-4")
    short = {image: f"a man {place}" for place, image in enumerate(example.references())}
    refused = submit(world, json.dumps(short).encode())
    assert refused.status_code == 422
    assert "60 of 60 captions are degenerate, and this board takes 5 %: 60 of fewer than 4 words." in refused.text
    assert "of fewer than 4 or more than 100 words" in refused.text
    make(world, slug="words", title="Words", metrics="cider-d, bleu-1")
    assert "of more than 100 words" in world.browser(Role.MEMBER).get("/benchmarks/words/submit").text
    assert problems(short.values(), CaptionLimits(fewest_words=3)) == []


@pytest.mark.parametrize("filler", ["the same", "words that match nothing"])
def test_no_p_says_whether_one_image_has_a_word(filler):
    """The attack: two files that differ in a control, whose answer is known, and in the image asked about.

    Other words that match nothing, in all other captions, do not make these files differ in more.
    """
    file = {image: f"a man thing{place} zz{place} in on" for place, image in enumerate(IMAGES)}
    other = dict(file) if filler == "the same" else {image: text.replace("zz", "qq") for image, text in file.items()}
    control, asked = IMAGES[0], IMAGES[7]
    other[control] = of_references(control)
    found = set()
    for caption in (of_references(asked), "qq ww ee rr tt yy"):
        found |= set(compared(file, {**other, asked: caption}).values())
    assert found == {None}
    assert set(compared(file, other).values()) == {None}
    assert set(compared(file, file).values()) == {None}


def test_a_p_is_told_of_two_systems(world):
    """And on the page only the limit that it is below."""
    make(world, metrics=METRICS)
    careful, plain = (json.loads(SYSTEMS[name]) for name in ("careful", "plain"))
    a, b = enter(world, "A", careful), enter(world, "B", plain)
    c = enter(world, "C", {**careful, next(iter(careful)): "Another caption of this image."})
    world.run_jobs()
    page = world.browser().get(f"/benchmarks/ours/compare?a={a}&b={b}").text
    cells = re.findall(r'<td class="number">(&lt; 0\.\d+|≥ 0\.05)</td>', page)
    assert len(cells) == len(METRICS.split(","))
    hidden = world.browser().get(f"/benchmarks/ours/compare?a={a}&b={c}").text
    assert hidden.count('<td class="number">–</td>') == len(METRICS.split(","))
    assert "Test these two" not in hidden
    rows = world.api().get("/api/v1/benchmarks/ours/board").json()["rows"]
    assert [row["not_compared"] for row in rows] == [0, 0, 0]
    assert [row["better_than"] for row in rows] == [1, 1, 0]


@pytest.mark.parametrize(
    ("p", "limit"), [(1e-9, "< 0.001"), (0.001, "< 0.01"), (0.02, "< 0.05"), (0.05, "≥ 0.05"), (1.0, "≥ 0.05")]
)
def test_of_a_p_only_the_limit_leaves(p, limit):
    assert limit_of(p) == limit


@pytest.mark.parametrize(
    ("values", "few_images"),
    [
        (np.ones(100), False),
        (np.r_[np.ones(5), np.zeros(95)], True),
        (np.r_[np.ones(6), np.zeros(94)], False),
        (np.r_[100.0, np.ones(99)], True),
        (np.zeros(100), True),
        (np.random.default_rng(1).standard_normal(1000), False),
    ],
)
def test_what_hangs_on_few_images(values, few_images):
    """Fewer than 6 of 100 images that add the same, however many others add next to nothing."""
    assert leaks.hangs_on_few(values) == few_images


def test_the_pseudo_values_of_a_mean_are_its_images_scores():
    captions = json.loads(SYSTEMS["plain"])
    parsed = [Captions.parse(json.dumps(each).encode(), None, None) for each in (example.references(), captions)]
    rows = score_corpus(Corpus(*parsed, tokenizer="ptb"), parse_metrics("rouge-l"))["rouge-l"].rows
    assert leaks.pseudo_values(rows) == pytest.approx(np.frombuffer(rows.row_scores()), abs=1e-9)
