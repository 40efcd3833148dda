"""How many items and people a study needs, for an interval of a given width.

The interval is of 95 % and for other items, as those of `estimation` and of `sacrecap agreement`: what one judgment of
one item varies is σ² between items, and s² between people about the same item, so that the mean of m items with k
people each has the variance (σ² + s²/k) / m.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist, fmean, variance
from typing import Any

from sacrecap.errors import DataError

MOST_ITEMS = 10_000_000
_EXPORT = "give the file that the study's Export writes"
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Spread:
    """Standard deviations of judgments."""

    between: float
    """Of the items' true values."""
    within: float
    """Of people's answers to one item."""


@dataclass(frozen=True)
class Need:
    """What a number of people per item costs."""

    judgments: int
    """People per item."""
    items: int
    answers: int
    people: int
    expected: float | None
    """What the study would find, where disagreement of people lowers it: an accuracy or a τ."""
    width: float
    """Of the interval."""


@dataclass(frozen=True)
class Target:
    """What a study estimates: how wide its interval is, by items and people."""

    width: Callable[[int, int], float]
    """Of the interval of so many items, with so many people each."""
    expected: Callable[[int], float | None]
    """The value that so many people per item lead to."""

    def need(self, width: float, judgments: int, per_person: int) -> Need:
        """The fewest items for an interval of at most this width. Raises `DataError` if 10 million do not do."""
        low, high = 1, MOST_ITEMS
        if self.width(high, judgments) > width:
            raise DataError(f"an interval of width {width:g} needs more than {MOST_ITEMS:,} items; accept a wider one")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.width(middle, judgments) <= width else (middle, high)
        return self.of(high, judgments, per_person)

    def of(self, items: int, judgments: int, per_person: int) -> Need:
        """A study of so many items."""
        answers = items * judgments
        people = max(judgments, -(-answers // per_person))
        return Need(judgments, items, answers, people, self.expected(judgments), self.width(items, judgments))


def mean(spread: Spread) -> Target:
    """A mean rating; or, with the spread of differences, the difference of two systems on the same items."""

    def width(items: int, judgments: int) -> float:
        return 2 * _Z * math.sqrt((spread.between**2 + spread.within**2 / judgments) / items)

    return Target(width, lambda _: None)


def accuracy(assumed: float, agree: float) -> Target:
    """How often a metric prefers what people do, where it prefers what is right in the `assumed` share of items.

    Single people are right as often as they `agree`; the majority of several is right more often.
    """

    def expected(judgments: int) -> float:
        # How often most of so many people are right; where they are undecided, a coin decides.
        chances = [math.comb(judgments, n) * agree**n * (1 - agree) ** (judgments - n) for n in range(judgments + 1)]
        right = sum(chances[judgments // 2 + 1 :]) + (0 if judgments % 2 else chances[judgments // 2] / 2)
        return assumed * right + (1 - assumed) * (1 - right)

    def width(items: int, judgments: int) -> float:
        share = expected(judgments)
        return 2 * _Z * math.sqrt(share * (1 - share) / items)

    return Target(width, expected)


def tau(assumed: float, spread: Spread) -> Target:
    """Kendall's τ of a metric with the mean rating, of values that are about normal.

    The variance of atanh τ is .437 / (m − 4) (Fieller, Hartley and Pearson, *Tests for rank correlation
    coefficients*, Biometrika 44, 1957). Disagreement of people lowers the `assumed` τ with what people think on
    average, as it lowers Pearson's r.
    """

    def expected(judgments: int) -> float:
        total = spread.between**2 + spread.within**2 / judgments
        reliability = spread.between**2 / total if total else 1.0
        return 2 / math.pi * math.asin(math.sin(math.pi * assumed / 2) * math.sqrt(reliability))

    def width(items: int, judgments: int) -> float:
        if items < 5:
            return 2.0
        centre, half = math.atanh(expected(judgments)), _Z * math.sqrt(0.437 / (items - 4))
        return math.tanh(centre + half) - math.tanh(centre - half)

    return Target(width, expected)


@dataclass(frozen=True)
class Pilot:
    """An export of a study, as `sacrecap study plan` reads it: what varies in its answers."""

    lines: Sequence[Mapping[str, Any]]
    source: str

    @classmethod
    def read(cls, data: bytes, source: str) -> Pilot:
        """From `pairs.jsonl` or `ratings.jsonl`. Raises `DataError`."""
        try:
            lines = [json.loads(line) for line in data.decode("utf-8-sig").splitlines() if line.strip()]
        except ValueError as error:
            raise DataError(f"{source}: not JSON lines ({error}); {_EXPORT}") from None
        if not lines or not all(isinstance(line, dict) for line in lines):
            raise DataError(f"{source}: no judgments; {_EXPORT}")
        return cls(lines, source)

    def ratings(self) -> Spread:
        """Of ratings of each system."""
        groups: dict[Any, list[list[float]]] = defaultdict(list)
        for line, rating in self._rated():
            groups[line.get("system")].append(rating)
        return _pooled(groups.values(), self.source)

    def differences(self) -> Spread:
        """Between two systems on the same image: of ratings by the same person, or of choices as 1, −1 and 0."""
        if all("said" in line for line in self.lines):
            groups: dict[Any, list[list[float]]] = defaultdict(list)
            for line in self.lines:
                systems = (str(line.get("b_system")), str(line.get("c_system")))
                sign = 1.0 if systems == tuple(sorted(systems)) else -1.0
                for page in line["said"]:
                    counts = {sign: len(page["b"]), -sign: len(page["c"]), 0.0: len(page.get("tie", ()))}
                    groups[frozenset(systems)].append([value for value in counts for _ in range(counts[value])])
            return _pooled(groups.values(), self.source)
        images: dict[Any, dict[Any, dict[Any, float]]] = defaultdict(dict)
        for line, rating in self._rated():
            images[line.get("image_id")][line.get("system")] = dict(zip(line["people"], rating, strict=True))
        if None in images:
            raise DataError(f"{self.source}: a line has no image_id; give --between and --within of the differences")
        groups = defaultdict(list)
        for systems_of in images.values():
            for first, second in combinations(sorted(systems_of, key=str), 2):
                common = systems_of[first].keys() & systems_of[second].keys()
                groups[first, second].append([systems_of[first][who] - systems_of[second][who] for who in common])
        return _pooled(groups.values(), self.source)

    def agree(self) -> float:
        """How often single people are right who choose: from how often two of them choose alike."""
        pages = [counts for line in self.lines for counts in line.get("people", ()) if isinstance(counts, list)]
        pairs = sum(math.comb(b + c, 2) for b, c in pages)
        if not pairs:
            raise DataError(f"{self.source}: no question that two people answered; give --agree, or another --pilot")
        alike = sum(math.comb(b, 2) + math.comb(c, 2) for b, c in pages) / pairs
        return (1 + math.sqrt(max(0.0, 2 * alike - 1))) / 2

    def _rated(self) -> list[tuple[Mapping[str, Any], list[float]]]:
        """Each line with its ratings; where there are several aspects, of the first, as `sacrecap agreement` takes."""
        counts = []
        for line in self.lines:
            rating = line.get("rating")
            if isinstance(rating, dict):
                rating = next(iter(rating.values()), None)
            if not isinstance(rating, list) or len(rating) != len(line.get("people", ())):
                raise DataError(f"{self.source}: no ratings by person; {_EXPORT}, or --between and --within")
            counts.append((line, rating))
        return counts


def _pooled(groups: Iterable[Sequence[Sequence[float]]], source: str) -> Spread:
    """By a one-way analysis of variance in each group of items."""
    groups = [[answers for answers in group if answers] for group in groups]
    inside, between, weight, freedom = 0.0, 0.0, 0, 0
    for items in groups:
        for answers in items:
            if len(answers) > 1:
                inside += variance(answers) * (len(answers) - 1)
                freedom += len(answers) - 1
        if len(items) > 1:
            between += variance(fmean(answers) for answers in items) * (len(items) - 1)
            weight += len(items) - 1
    if not freedom or not weight:
        raise DataError(f"{source}: two items are needed that two people judged; give --between and --within instead")
    within = inside / freedom
    share = fmean(1 / len(answers) for items in groups for answers in items)
    return Spread(math.sqrt(max(0.0, between / weight - within * share)), math.sqrt(within))
