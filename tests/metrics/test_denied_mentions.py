"""CHAIR with what captions deny left out, and the finding that they deny much."""

from __future__ import annotations

import pytest

import sacrecap

REFERENCES = {"1": ["A dog runs on the beach."], "2": ["A cat sleeps on a mat.", "A cat without a dog."]}
CAPTIONS = {
    "1": "A dog runs on the beach. There are no people, cars or other dogs visible in the image.",
    "2": "A dog and a cat.",
}
SKIPPED = "chair-i(gold=references, denied=skip)"


def _scores(metrics: str) -> dict[str, float]:
    result = sacrecap.score(REFERENCES, CAPTIONS, metrics, interval=None)
    return {key: float(score) for key, score in result.scores.items()}


def test_what_is_denied_is_no_mention() -> None:
    """People and cars are hallucinated by the released program; a reference's denied dog is gold to it."""
    found = list(
        _scores(
            "chair-i(gold=references), chair-s(gold=references), "
            "chair-i(gold=references, denied=skip), chair-s(gold=references, denied=skip)"
        ).values()
    )
    # dog, people, cars, dogs | dog, cat   against   dog | dog, cat, where the dog is not gold
    assert found == pytest.approx([2 / 6, 1 / 2, 1 / 3, 1 / 2])


def test_what_is_looked_up_is_not_shared_by_metrics_that_look_otherwise() -> None:
    captions = {"1": "A dog. There are no people.", "2": "A cat."}
    found = sacrecap.score(REFERENCES, captions, f"chair-i(gold=references), {SKIPPED}", interval=None)
    assert [float(score) for score in found.values()] == pytest.approx([1 / 3, 0])


def test_the_default_is_the_released_one() -> None:
    [default, named] = (
        next(iter(sacrecap.score(REFERENCES, CAPTIONS, metric, interval=None).scores.values()))
        for metric in ("chair-i(gold=references)", "chair-i(gold=references, denied=count)")
    )
    assert default.signature == named.signature
    assert "denied" not in default.signature


def test_the_explanation_shows_what_counts() -> None:
    result = sacrecap.score(REFERENCES, CAPTIONS, SKIPPED, interval=None)
    assert [one.object for one in result.hallucination("1").mentions] == ["dog"]


def test_many_denials_are_found() -> None:
    references = {str(number): ["a dog on a street"] for number in range(20)}
    captions = {image: "a street without cars" if int(image) < 6 else "a dog" for image in references}
    counted, skipped, other = (
        [one for one in sacrecap.score(references, captions, metric).findings if one.kind == "denied"]
        for metric in ("chair-i(gold=references)", "chair-i(gold=references, denied=skip)", "rouge-l")
    )
    assert [(one.count, one.share) for one in counted] == [(6, 0.3)]
    assert "denied=skip" in counted[0].message
    assert skipped == other == []


@pytest.mark.parametrize(
    "caption",
    ["No cat here; the dog is missing.", "No cars, and it fails to show a dog.", "Without a cat, the dog is absent."],
)
def test_a_denial_before_a_mark_does_not_turn_the_next(caption: str) -> None:
    result = sacrecap.score(REFERENCES | {"1": ["A dog"]}, {"1": caption, "2": "A cat"}, SKIPPED, interval=None)
    assert not result.hallucination("1").mentions
