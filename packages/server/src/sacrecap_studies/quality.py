"""The quality of a study's answers: agreement, people, effects of the order shown, results of the systems.

Intervals are of 95 % and for other images (of shares of the first position: for other people); see `estimation`.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, median, pstdev
from typing import Any

import numpy as np

from sacrecap_studies import estimation
from sacrecap_studies.answers import PageAnswer, by_page, judged
from sacrecap_studies.kinds import StudyKind
from sacrecap_studies.questions import Choice, PageQuestion, captions_of

FEW_UNITS = 20
"""With fewer images, intervals are too narrow: the simulations of the tests find 91 % where 95 % are meant."""
SECONDS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0)
"""Where the bars of the distribution of seconds begin; the last has no end."""
EVEN_FROM = 10


@dataclass(frozen=True)
class Share:
    """Hits of trials, with an interval of the share."""

    hits: int
    trials: int
    interval: estimation.Interval | None

    @classmethod
    def of(cls, hits: Sequence[bool]) -> Share | None:
        """The share of independent trials; None if there are none."""
        return cls(sum(hits), len(hits), estimation.wilson(sum(hits), len(hits))) if hits else None


@dataclass
class PersonQuality:
    """One person's statistics; None if there is nothing to compute from."""

    person: int
    items: int = 0
    seconds: float | None = None
    """Median time of an answer."""
    spread: float | None = None
    """Standard deviation of the times by their mean: near 0 for a program that waits; None below `EVEN_FROM` times."""
    fast: int = 0
    """Answers that were faster than the page can be read."""
    timed: int = 0
    """Answers whose time is known."""
    checks: Share | None = None
    """Checks passed."""
    again: Share | None = None
    """Items that came a second time, and were answered as before."""
    with_others: float | None = None
    """Choices: share of answers that are the majority of the others. Ratings: correlation with the others' mean."""
    accuracy: float | None = None
    """Choices: by Dawid–Skene."""
    accuracy_interval: estimation.Interval | None = None
    alpha_without: float | None = None
    """Krippendorff's α of the others."""
    first: Share | None = None
    """Choices: those that stood first."""


@dataclass(frozen=True)
class Rating:
    """Ratings of one system."""

    system: str
    mean: float
    interval: estimation.Interval | None
    ratings: int


@dataclass
class Quality:
    """A study's answers as a whole."""

    answers: int
    pages: int
    """Items with an answer."""
    units: int
    """Images that these show: what intervals draw."""
    fast_below: float
    """Seconds; an answer in less is too fast."""
    alpha: float | None = None
    """Krippendorff's α: nominal for choices, interval for ratings."""
    alpha_interval: estimation.Interval | None = None
    alpha_judgment: str = ""
    """By Krippendorff's thresholds: low (below .667), tentative, reliable (.8 and more); empty without α."""
    unanimous: int = 0
    """Of the items that several people answered: those that all answered alike,"""
    majority: int = 0
    """those that most answered alike,"""
    undecided: int = 0
    """and the others."""
    differs: int = 0
    """Items whose most probable answer by Dawid–Skene is not the majority's."""
    first: Share | None = None
    """Choices of what stood first; ½ where the order plays no role."""
    strengths: list[list[estimation.Strength]] = field(default_factory=list)
    """Choices between systems: by Bradley–Terry, a list for each group of systems that were compared."""
    ratings: list[Rating] = field(default_factory=list)
    people: list[PersonQuality] = field(default_factory=list)
    seconds: list[int] = field(default_factory=list)
    """Answers per interval of `SECONDS`."""
    course_unit: str = ""
    """hour, day or week."""
    course: list[tuple[str, int]] = field(default_factory=list)
    """When such a unit began, UTC, and how many answers came in it; the empty ones too."""
    warnings: list[str] = field(default_factory=list)
    """Limits of the numbers, in sentences for people."""


def quality(kind: StudyKind, answers: Sequence[PageAnswer], *, fast_below: float | None = None) -> Quality:
    """The statistics of the answers that count; those of people also over answers that do not.

    Args:
        kind: the study's protocol. Where it has several questions, the statistics are of its `main` one.
        answers: in any order.
        fast_below: seconds, for answers of which it is not known whether they were too fast; the kind's by default.
    """
    counted = [replace(answer, answer=kind.reply(kind.main, answer.answer)) for answer in judged(answers)]
    limit = kind.seconds if fast_below is None else fast_below
    result = Quality(
        answers=len(counted),
        pages=len({answer.number for answer in counted}),
        units=len(set(map(_unit, counted))),
        fast_below=limit,
    )
    answers_of: dict[int, list[PageAnswer]] = defaultdict(list)
    for answer in answers:
        answers_of[answer.person].append(answer)
    people = {person: _person(person, of_person, limit) for person, of_person in answers_of.items()}
    if counted:
        if isinstance(kind.main, Choice) and kind.result == "pairs":
            _choices(result, people, counted, kind.main.answers)
        elif kind.main.is_rating:
            _ratings(result, people, counted, kind.main)
    _times(result, answers)
    _warn(result, kind, people)
    result.people = sorted(people.values(), key=lambda person: (-person.items, person.person))
    return result


def _unit(answer: PageAnswer) -> tuple[str, Any]:
    """What answers have in common that are not independent: the image, or the file's item where it names none."""
    image = answer.content.get("image_id")
    return ("item", answer.group) if image is None else ("image", image)


def _person(person: int, answers: list[PageAnswer], limit: float) -> PersonQuality:
    answers = [answer for answer in answers if answer.role != "practice"]
    items = [answer for answer in answers if answer.role == "item"]
    again = [answer.correct for answer in answers if answer.role == "again" and answer.correct is not None]
    answers = [answer for answer in answers if answer.role != "again"]
    checks = [answer.correct for answer in answers if answer.correct is not None]
    seconds = [answer.seconds for answer in items if answer.seconds is not None]
    timed = [(answer, answer.seconds) for answer in answers if answer.seconds is not None]
    return PersonQuality(
        person,
        items=len(items),
        seconds=median(seconds) if seconds else None,
        spread=pstdev(seconds) / mean(seconds) if len(seconds) >= EVEN_FROM and max(seconds) > 0 else None,
        fast=sum(took < limit if answer.too_fast is None else answer.too_fast for answer, took in timed),
        timed=len(timed),
        checks=Share.of(checks),
        again=Share.of(again),
        first=Share.of(_firsts(items)),
    )


def _firsts(items: Sequence[PageAnswer]) -> list[bool]:
    """Whether each choice is what stood first."""
    return [
        "bc".index(answer.answer) == answer.order[0]
        for answer in items
        if answer.answer in ("b", "c") and len(answer.order) == 2
    ]


def _choices(result: Quality, people: dict[int, PersonQuality], counted: list[PageAnswer], answers: list[str]) -> None:
    pages = list(by_page(counted))
    votes = np.array([[sum(answer.answer == name for answer in page) for name in answers] for page in pages])
    ranked = np.sort(votes, axis=1)[:, ::-1]
    several = ranked[votes.sum(axis=1) > 1]
    result.undecided = int((several[:, 0] == several[:, 1]).sum())
    result.unanimous = int((several[:, 1] == 0).sum())
    result.majority = len(several) - result.undecided - result.unanimous
    items, _ = estimation.numbered([answer.number for answer in counted])
    persons, names = estimation.numbered([answer.person for answer in counted])
    labels = np.array([answers.index(answer.answer) for answer in counted])
    units, _ = estimation.numbered([_unit(page[0]) for page in pages])
    alpha = estimation.Alpha(votes, list(range(len(answers))), "nominal")
    _agreement(result, people, alpha, units, (persons, items, labels), names)
    estimate = estimation.dawid_skene(items, persons, labels, label_count=len(answers))
    decided = ranked[:, 0] != ranked[:, 1]
    result.differs = int((estimate.posterior.argmax(axis=1) != votes.argmax(axis=1))[decided].sum())
    intervals = estimation.accuracy_intervals(items, persons, labels, units, estimate)
    for person, accuracy, interval in zip(names, estimate.accuracy, intervals, strict=True):
        people[person].accuracy, people[person].accuracy_interval = float(accuracy), interval
    # How often each person says what most of the others of the item say.
    agreements: dict[int, list[bool]] = defaultdict(list)
    for page in pages:
        counts = Counter(answer.answer for answer in page)
        for answer in page:
            rest = (counts - Counter([answer.answer])).most_common(2)
            if rest and (len(rest) == 1 or rest[0][1] > rest[1][1]):
                agreements[answer.person].append(answer.answer == rest[0][0])
    for person, same in agreements.items():
        people[person].with_others = mean(same)
    chosen = [answer for answer in counted if answer.answer in ("b", "c")]
    first = np.array(_firsts(chosen), dtype=float)
    if 0 < len(first) == len(chosen):
        persons, _ = estimation.numbered([answer.person for answer in chosen])
        sums = estimation.sums_by_unit(persons, first, np.ones(len(first)))
        result.first = Share(int(first.sum()), len(first), estimation.share_interval(sums))
    choices = []
    for answer in chosen:
        b, c = answer.content.get("b_system"), answer.content.get("c_system")
        if b is not None and c is not None:
            choices.append((_unit(answer), b, c) if answer.answer == "b" else (_unit(answer), c, b))
    result.strengths = estimation.strengths(choices)


def _agreement(
    result: Quality,
    people: dict[int, PersonQuality],
    alpha: estimation.Alpha,
    clusters: Any,
    answers: tuple[Any, Any, Any],
    names: list[int],
) -> None:
    """α, its interval, and α without each person; `answers` has person, unit and value of each."""
    result.alpha, result.alpha_interval = alpha.value, alpha.interval(clusters)
    if result.alpha is not None:
        result.alpha_judgment = estimation.judgment(result.alpha)
    for person, without in zip(names, alpha.without(*answers, len(names)), strict=True):
        people[person].alpha_without = without


def _ratings(
    result: Quality, people: dict[int, PersonQuality], counted: list[PageAnswer], question: PageQuestion
) -> None:
    """A unit of α is a caption, or a set of them, which several people rate."""
    by_system: dict[str, list[tuple[int, float]]] = defaultdict(list)
    pairs: dict[int, list[tuple[float, float]]] = defaultdict(list)
    triples: list[tuple[int, int, float]] = []
    pages = list(by_page(counted))
    images, _ = estimation.numbered([_unit(page[0]) for page in pages])
    clusters: list[int] = []
    _, names = estimation.numbered([answer.person for answer in counted])
    place = dict(zip(names, range(len(names)), strict=True))
    for page, image in zip(pages, images, strict=True):
        captions = captions_of(page[0].content)
        rated = [(answer, question.ratings(answer.answer, len(captions))) for answer in page]
        for number, caption in enumerate(captions):
            scores = [(answer.person, score) for answer, ratings in rated if (score := ratings[number]) is not None]
            total = sum(score for _, score in scores)
            by_system[caption["system"]] += [(int(image), score) for _, score in scores]
            for person, score in scores:
                triples.append((place[person], len(clusters), score))
                if len(scores) > 1:
                    pairs[person].append((score, (total - score) / (len(scores) - 1)))
            clusters.append(int(image))
    if not triples:
        return
    persons, units, scores_given = map(np.array, zip(*triples, strict=True))
    values, places = np.unique(scores_given, return_inverse=True)
    votes = np.zeros((len(clusters), len(values)), dtype=int)
    np.add.at(votes, (units, places), 1)
    alpha = estimation.Alpha(votes, list(values), "interval")
    _agreement(result, people, alpha, np.array(clusters), (persons, units, places), names)
    for system, scores in by_system.items():
        if not scores:
            continue
        units, _ = estimation.numbered([unit for unit, _ in scores])
        values = np.array([score for _, score in scores])
        interval = estimation.mean_interval(estimation.sums_by_unit(units, values, np.ones(len(values))))
        result.ratings.append(Rating(system, float(values.mean()), interval, len(values)))
    for person, ratings in pairs.items():
        table = np.array(ratings)
        if len(table) > 2 and table.std(axis=0).min() > 0:
            people[person].with_others = float(np.corrcoef(table.T)[0, 1])


def _times(result: Quality, answers: Sequence[PageAnswer]) -> None:
    """How fast, and when, answers to items came; those that do not count too."""
    items = [answer for answer in answers if answer.role == "item"]
    seconds = [answer.seconds for answer in items if answer.seconds is not None]
    places = np.searchsorted(SECONDS, seconds, side="right") - 1
    result.seconds = [int(count) for count in np.bincount(places, minlength=len(SECONDS))] if seconds else []
    if not items:
        return
    moments = [answer.answered for answer in items]
    first, last = min(moments), max(moments)
    if last - first <= dt.timedelta(hours=72):
        result.course_unit, step = "hour", dt.timedelta(hours=1)
        begin = first.replace(minute=0, second=0, microsecond=0)
    else:
        is_long = last - first > dt.timedelta(days=120)
        result.course_unit, step = ("week", dt.timedelta(days=7)) if is_long else ("day", dt.timedelta(days=1))
        begin = first.replace(hour=0, minute=0, second=0, microsecond=0)
    counts = Counter((moment - begin) // step for moment in moments)
    result.course = [((begin + number * step).isoformat(), counts[number]) for number in range(max(counts) + 1)]


def _warn(result: Quality, kind: StudyKind, people: dict[int, PersonQuality]) -> None:
    """Limits of the numbers."""
    if not result.answers or not kind.main.is_rating:
        return
    judges = sum(person.alpha_without is not None or person.accuracy is not None for person in people.values())
    is_few, has_alpha = result.units < FEW_UNITS, result.alpha is not None
    has_notes = any(strength.note for group in result.strengths for strength in group)
    texts = {
        "Few images have answers: intervals are rough, and rather too narrow.": is_few,
        "α needs questions that at least two people answered, and two different answers among them.": not has_alpha,
        "Fewer than three people answered: Dawid–Skene cannot tell who is right where they disagree.": (
            kind.result == "pairs" and 0 < judges < 3
        ),
        "Some systems never lost or never won. Their strengths have no finite value, so more choices are needed before "
        "they can be compared.": has_notes,
        "Some systems were never compared, not even by way of others: strengths in different tables say nothing of one "
        "another.": len(result.strengths) > 1,
    }
    result.warnings = [text for text, holds in texts.items() if holds]
