"""Guards: figures of completions, and warnings where a policy leaves what people write."""

from __future__ import annotations

import copy
import pickle
import random
import warnings

import pytest

from sacrecap.errors import SacrecapWarning
from sacrecap.rewards import CaptionReward, Guards

NOUNS = "dog cat man woman child bus boat bird horse train girl boy kite clock cow sheep".split()
VERBS = "runs sits plays waits jumps sleeps stands turns".split()
PLACES = "beach street park field river house road hill garden lake station forest".split()
ADJECTIVES = "red blue old small large brown wet tall busy quiet".split()


def sentences(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    kinds = (
        "a {a} {n} {v} near the {b} {p}",
        "the {n} {v} in a {p}",
        "{a} {n} and {b} {m} at the {p}",
        "in the {p} a {n} {v} with a {m}",
    )
    return [
        draw.choice(kinds).format(
            a=draw.choice(ADJECTIVES),
            b=draw.choice(ADJECTIVES),
            n=draw.choice(NOUNS),
            m=draw.choice(NOUNS),
            v=draw.choice(VERBS),
            p=draw.choice(PLACES),
        )
        for _ in range(count)
    ]


IMAGES = [f"image {number}" for number in range(200)]
PEOPLE = dict(zip(IMAGES, ([*sentences(5, number)] for number in range(200)), strict=True))


def calls(reward: CaptionReward, captions: list[str], *, each: int = 4, **told: list[bool]) -> list[str]:
    """Warnings of calls with 8 images of a few captions."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for start in range(0, len(captions), 8 * each):
            part = captions[start : start + 8 * each]
            images = [IMAGES[(start + row) // each % 200] for row in range(len(part))]
            columns = {name: values[start : start + 8 * each] for name, values in told.items()}
            reward(part, images, **columns)
    assert all(issubclass(each.category, SacrecapWarning) for each in found)
    return [str(each.message) for each in found]


def test_figures_of_one_call() -> None:
    reward = CaptionReward(PEOPLE, num_generations=2)
    captions = ["a dog a dog a dog a dog", "a dog", "", "a cat sits on the"]
    reward(captions, [IMAGES[0]] * 2 + [IMAGES[1]] * 2, finished=[True, True, True, False])
    found = reward.last
    assert found is not None
    assert (found.words, found.repetition, found.empty) == (15 / 4, (1 - 2 / 7) / 4, 0.25)
    assert (found.bad_endings, found.unfinished, found.distinct, found.vocabulary) == (0.25, 0.25, 1.0, 2.0)
    assert found.within > 0
    reward([], [])
    assert reward.last is not None
    assert (reward.last.words, reward.last.repetition, reward.last.empty) == (0, 0, 0)


def test_people_s_captions_are_no_reason_to_warn() -> None:
    reward = CaptionReward(PEOPLE, num_generations=4)
    assert calls(reward, sentences(6400, -1), finished=[True] * 6400) == []
    assert reward.last is not None
    assert reward.last.distinct > 0.9


def test_a_collapse_is_told_of_before_it_is_complete() -> None:
    """1,000 different captions become 7, a tenth of the way at each turn; every one of them is well formed."""
    final, draw, warned = sentences(7, -2), random.Random(3), []
    reward = CaptionReward(PEOPLE, num_generations=4)
    for tenths in range(11):
        fresh = sentences(640, 100 + tenths)
        said = [draw.choice(final) if draw.random() < tenths / 10 else text for text in fresh]
        found = calls(reward, said)
        warned += [(tenths, text) for text in found]
    assert warned, "no guard moved"
    assert 0 < warned[0][0] < 10
    names = " ".join(text for _, text in warned)
    assert all(f"{name} is" in names for name in ("distinct", "between"))
    old = reward.last
    assert old is not None
    assert (old.repetition, old.empty, old.bad_endings) == (pytest.approx(0, abs=0.05), 0, 0)  # what nobody sees it by
    calls(reward, [final[0]] * 640)
    assert calls(reward, [final[0]] * 640) == []  # each figure is told of once


@pytest.mark.parametrize(
    ("said", "figure"),
    [
        (lambda text: f"{text} with a", "bad_endings"),
        (lambda text: f"{text} {text} {text} {text}", "words"),
        (lambda text: "dog dog dog dog dog dog dog", "repetition"),
        (lambda text: "", "empty"),
    ],
)
def test_each_way_out_is_told_of(said: object, figure: str) -> None:
    captions = [said(text) for text in sentences(640, 5)]  # type: ignore[operator]
    assert f"{figure} is" in " ".join(calls(CaptionReward(PEOPLE), captions))


def test_completions_without_an_end_are_told_of() -> None:
    found = calls(CaptionReward(PEOPLE), sentences(640, 5), finished=[row % 5 > 0 for row in range(640)])
    assert len(found) == 1
    assert found[0] == (
        "the policy leaves what people write: unfinished is 0.203, people's 0. Look at its captions: it may be gaming "
        "the reward"
    )


def test_few_references_have_no_band() -> None:
    few = {image: PEOPLE[image] for image in IMAGES[:63]}
    reward = CaptionReward(few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(20):
            reward(["a dog"] * 63, IMAGES[:63])


def test_copies_remember_what_they_saw() -> None:
    reward = CaptionReward(PEOPLE)
    calls(reward, sentences(320, 5))
    for other in (copy.deepcopy(reward), pickle.loads(pickle.dumps(reward))):
        other(["a dog"], [IMAGES[0]])
        assert other.last is not None
        assert other.last.vocabulary > 20
    assert isinstance(reward.last, Guards)
