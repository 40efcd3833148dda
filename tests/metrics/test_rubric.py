"""Rubric: each item against coverage's statements, what rules decide, and the items that a judge is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from fake_endpoint import FakeEndpoint, Reply
from sacrecap.errors import DataError, UsageError
from sacrecap.report.explanation_pictures import explanation_figures
from sacrecap.resources.rubrics import statement

CAPTION = "A brown dog runs on the beach. There are no people."
ITEMS = ["a brown dog", "Does the caption mention a beach?", "a cat", "a brown puppy", "the"]
WORDS = "a the two no red blue dog dogs puppy cat couch sofa image beach runs sits on under".split()
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


def _scored(
    caption: str, items: list[str], metric: str = "rubric", judge: sacrecap.Endpoint | None = None
) -> sacrecap.Result:
    references = {"1": [caption or "a dog"]}
    return sacrecap.score(references, {"1": caption}, metric, rubric={"1": items}, judge=judge, interval=None)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(["0", "0.5", "1"]))
def test_an_item_has_the_coverage_of_a_reference_with_these_words(caption: str, items: list[str], worth: str) -> None:
    metric = f"coverage(synonyms={worth})"  # of one image: without chance
    alone = (sacrecap.score({"1": [item]}, {"1": caption}, metric, interval=None) for item in items)
    per_image = [score.value for result in alone for score in result.values()]
    found = _scored(caption, items, f"rubric(synonyms={worth})")
    [score] = found.values()
    assert score.value == pytest.approx(sum(per_image) / len(items), abs=1e-12)
    said = found.explain("1")["item"].said
    assert [one or 0.0 for one in said] == pytest.approx(per_image, abs=1e-12)


def test_rules_decide_what_is_said_in_every_part_or_in_none() -> None:
    result = _scored(CAPTION, ITEMS)
    items = result.explain("1")["item"]
    assert items.answers == ("yes", "yes", "not mentioned", None, None)
    assert items.said[-1] is None
    assert 0 < items.said[3] < 1
    assert result["rubric"].value == pytest.approx((2 + items.said[3]) / 5)
    assert "Rubric: of 5 items 2 are said in every part, 1 in none; 2 left open, for a judge or for people." in (
        result.notes
    )
    assert str(items).splitlines()[0] == "1.00  yes            a brown dog"
    assert items.to_dict()["answers"] == items.answers
    drawn = explanation_figures(result.explain("1"))
    assert '<span class="there" title="said">a brown dog</span>' in drawn
    assert '<span class="left-out" title="not mentioned">a cat</span>' in drawn
    assert 'title="20% of it is said">a brown puppy</span>' in drawn
    assert 'title="says nothing">the</span>' in drawn


def test_a_detail_that_differs_is_not_decided_for_the_caption() -> None:
    for item in ("a red dog", "a dog under the beach", "two brown dogs", "a brown dog sits on the beach"):
        [answer] = _scored(CAPTION, [item]).explain("1")["item"].answers
        assert answer is None, item
    assert _scored(CAPTION, ["people"]).explain("1")["item"].answers == ("not mentioned",)


@pytest.mark.parametrize(
    ("item", "asked"),
    [
        ("Does the caption mention a dog?", "a dog"),
        ("Does the caption accurately state that the dog is brown?", "the dog is brown"),
        ("Do the captions place the dog on the left?", "the dog on the left"),
        ("Is the dog described as brown?", "Is the dog brown"),
        ("Is there a mention of a dog in the caption?", "a dog in"),
        ("Is a dog's presence mentioned?", "Is a dog's presence"),
        ("A caption is described.", "A caption is described."),
        ("", ""),
        ("Does the caption mention?", ""),
    ],
)
def test_what_asks_is_no_part_of_an_item(item: str, asked: str) -> None:
    assert statement(item) == asked


def test_an_empty_caption_says_nothing() -> None:
    assert _scored("", ITEMS)["rubric"].value == 0


def test_every_item_counts_once_and_needs_a_rubric() -> None:
    references = {"1": ["a dog"], "2": ["a cat"]}
    rubric = {"1": ["a dog"], "2": ["a dog", "a bus", "a car"]}
    result = sacrecap.score(references, {"1": "a dog", "2": "a cat"}, "rubric", rubric=rubric, interval=None)
    assert result["rubric"].per_image.tolist() == [1, 0]
    assert result["rubric"].value == 1 / 4
    others = {**rubric, "2": ["a dog", "a bus"]}
    again = sacrecap.score(references, {"1": "a dog", "2": "a cat"}, "rubric", rubric=others, interval=None)
    assert again["rubric"].signature != result["rubric"].signature
    assert "|rubric:" in result["rubric"].signature
    with pytest.raises(UsageError, match="looks for the items of a rubric: give rubric=FILE"):
        sacrecap.score(references, {"1": "a dog", "2": "a cat"}, "rubric")
    with pytest.raises(DataError, match="the rubric has no items for 1 image .2."):
        sacrecap.score(references, {"1": "a dog", "2": "a cat"}, "rubric", rubric={"1": ["a dog"]})


def test_a_judge_is_asked_what_rules_leave_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked: list[str] = []
    most: list[int] = []

    def answer(body: dict[str, Any], _: int) -> Reply:
        asked.append(body["messages"][0]["content"])
        most.append(body["max_tokens"])
        return Reply(json.dumps({"answers": ["no", "not mentioned"]}))

    with FakeEndpoint(answer) as fake:
        judge = sacrecap.Endpoint(fake.url, "m")
        result = _scored(CAPTION, ITEMS, "judge(rubric-rest)", judge=judge)
        assert result["judge(rubric-rest)"].value == 2 / 5
        assert (
            "Judge(rubric-rest): of 5 items 2 are said, 0.6667 of those that it speaks of, 1 contradicted, 2 not"
            in (" ".join(result.notes))
        )
        [body] = asked
        assert "a brown puppy" in body
        assert "a cat" not in body
        assert most == [256 + 2 * 8], "room for the answers that are asked for"
        decided = _scored(CAPTION, ITEMS[:3], "judge(rubric-rest)", judge=judge)
        assert next(iter(decided.values())).value == 2 / 3
        assert len(asked) == 1, "nothing is left to ask"
        _scored("a dog on a couch", ["a sofa", "a bus with a couch"], "judge(rubric-rest)", judge=judge)
        assert "a sofa" in asked[1], "a synonym is neither the word nor nothing"
        empty = _scored("", ITEMS, "judge(rubric-rest)", judge=judge)
        assert next(iter(empty.values())).value == 0
