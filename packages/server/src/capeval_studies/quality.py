"""How good a study's answers are: agreement, people, effects of the order shown, what the systems get."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Literal

import numpy as np

from capeval.errors import MissingDependencyError
from capeval_studies.aggregate import bradley_terry, dawid_skene, numbered
from capeval_studies.answers import Answer, by_page, judged
from capeval_studies.diversity import STEPS
from capeval_studies.kinds import StudyKind


@dataclass
class PersonQuality:
    """One person's statistics; None where there is nothing to compute from."""

    person: int
    items: int = 0
    seconds: float | None = None
    """Median time of an answer."""
    checks: tuple[int, int] = (0, 0)
    """Right, and answered."""
    with_others: float | None = None
    """Choices: share of answers that are the majority of the others. Ratings: correlation with the others' mean."""
    accuracy: float | None = None
    """Choices: by Dawid–Skene."""
    first: float | None = None
    """Choices: share of those that stood first."""


@dataclass
class Quality:
    """A study's answers as a whole."""

    answers: int
    pages: int
    """Items with an answer."""
    alpha: float | None = None
    """Krippendorff's α: nominal for choices, interval for ratings."""
    unanimous: int = 0
    """Of the items that several people answered: those that all answered alike,"""
    majority: int = 0
    """those that most answered alike,"""
    undecided: int = 0
    """and the others."""
    differs: int = 0
    """Items whose most probable answer by Dawid–Skene is not the majority's."""
    first: float | None = None
    """Share of choices of what stood first; ½ where the order plays no role."""
    strengths: list[dict[str, float]] = field(default_factory=list)
    """Choices between systems: by Bradley–Terry, sum 1 in each group of systems that were compared."""
    ratings: dict[str, tuple[float, int]] = field(default_factory=dict)
    """Ratings: mean and number per system."""
    people: list[PersonQuality] = field(default_factory=list)


def quality(kind: StudyKind, answers: Sequence[Answer]) -> Quality:
    """The statistics of the answers that count; those of people also over answers that do not.

    Raises `MissingDependencyError` without krippendorff.
    """
    counted = judged(answers)
    result = Quality(answers=len(counted), pages=len({one.number for one in counted}))
    people = {person: PersonQuality(person) for person in dict.fromkeys(one.person for one in answers)}
    for person, own in _by_person(answers).items():
        _describe(people[person], own)
    if kind.name in ("triplet", "pairwise"):
        _choices(result, people, counted)
    elif kind.name == "diversity":
        _ratings(result, people, counted)
    result.people = list(people.values())
    return result


def _by_person(answers: Sequence[Answer]) -> dict[int, list[Answer]]:
    found: dict[int, list[Answer]] = defaultdict(list)
    for one in answers:
        found[one.person].append(one)
    return found


def _describe(person: PersonQuality, answers: list[Answer]) -> None:
    items = [one for one in answers if one.role == "item"]
    checks = [one.correct for one in answers if one.correct is not None and one.role != "practice"]
    seconds = [one.seconds for one in items if one.seconds is not None]
    person.items = len(items)
    person.seconds = median(seconds) if seconds else None
    person.checks = (sum(checks), len(checks))
    person.first = _share_of_first(items)


def _share_of_first(items: Sequence[Answer]) -> float | None:
    choices = ["bc".index(one.answer) == one.order[0] for one in items if one.answer in ("b", "c")]
    return mean(choices) if choices else None


def _choices(result: Quality, people: dict[int, PersonQuality], counted: list[Answer]) -> None:
    if not counted:
        return
    pages = list(by_page(counted))
    votes = np.array([[sum(one.answer == name for one in page) for name in "bc"] for page in pages])
    result.alpha = _alpha(votes, [0, 1], "nominal")
    several = votes[votes.sum(axis=1) > 1]
    result.undecided = int((several[:, 0] == several[:, 1]).sum())
    result.unanimous = int((several.min(axis=1) == 0).sum())
    result.majority = len(several) - result.undecided - result.unanimous
    result.first = _share_of_first(counted)
    items, _ = numbered([one.number for one in counted])
    persons, names = numbered([one.person for one in counted])
    estimate = dawid_skene(items, persons, np.array(["bc".index(one.answer) for one in counted]))
    decided = votes[:, 0] != votes[:, 1]
    result.differs = int((estimate.posterior.argmax(axis=1) != votes.argmax(axis=1))[decided].sum())
    for person, accuracy in zip(names, estimate.accuracy, strict=True):
        people[person].accuracy = float(accuracy)
    for person, share in _with_majority(pages).items():
        people[person].with_others = share
    result.strengths = _strengths(counted)


def _with_majority(pages: list[list[Answer]]) -> dict[int, float]:
    """How often each person says what most of the others of the item say."""
    found: dict[int, list[bool]] = defaultdict(list)
    for page in pages:
        votes = Counter(one.answer for one in page)
        for one in page:
            others = votes - Counter([one.answer])
            if others["b"] != others["c"]:
                found[one.person].append((others["b"] > others["c"]) == (one.answer == "b"))
    return {person: mean(same) for person, same in found.items()}


def _strengths(counted: list[Answer]) -> list[dict[str, float]]:
    wins: Counter[tuple[str, str]] = Counter()
    for one in counted:
        pair = (one.content.get("b_system"), one.content.get("c_system"))
        if None not in pair:
            wins[pair if one.answer == "b" else pair[::-1]] += 1  # type: ignore[index]
    return bradley_terry(wins)


def _ratings(result: Quality, people: dict[int, PersonQuality], counted: list[Answer]) -> None:
    """A unit is a set of captions, which several people rate."""
    by_system: dict[str, list[float]] = defaultdict(list)
    pairs: dict[int, list[tuple[float, float]]] = defaultdict(list)
    votes = []
    for page in by_page(counted):
        for number, one_set in enumerate(page[0].content["sets"]):
            scores = [one.answer[number] for one in page]
            by_system[one_set["system"]] += scores
            votes.append(np.bincount([round(score * STEPS) for score in scores], minlength=STEPS + 1))
            for one, score in zip(page, scores, strict=True):
                if len(scores) > 1:
                    pairs[one.person].append((score, (sum(scores) - score) / (len(scores) - 1)))
    if votes:
        result.alpha = _alpha(np.array(votes), [step / STEPS for step in range(STEPS + 1)], "interval")
    result.ratings = {system: (mean(scores), len(scores)) for system, scores in by_system.items()}
    for person, both in pairs.items():
        people[person].with_others = _correlation(np.array(both))


def _correlation(both: np.ndarray) -> float | None:
    varies = len(both) > 2 and both.std(axis=0).min() > 0
    return float(np.corrcoef(both.T)[0, 1]) if varies else None


def _alpha(votes: np.ndarray, domain: Sequence[float], level: Literal["nominal", "interval"]) -> float | None:
    """Krippendorff's α of (units, values) counts; None where nobody judged the same, or all values are one."""
    try:
        import krippendorff
    except ImportError as error:
        raise MissingDependencyError("Krippendorff's alpha", extra="server") from error
    shared = votes[votes.sum(axis=1) > 1]
    if not len(shared) or (shared.sum(axis=0) > 0).sum() < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(krippendorff.alpha(value_counts=shared, value_domain=domain, level_of_measurement=level))
