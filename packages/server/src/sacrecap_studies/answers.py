"""Answers of people in a study."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from sacrecap_studies.questions import Content


@dataclass(frozen=True)
class PageAnswer:
    """One answer of one person to one page."""

    role: str
    """item, gold, attention or practice."""
    number: int
    """The page's place among those of its role."""
    group: int
    """The file's item that the page comes from."""
    content: Content
    person: int
    worker: str
    answer: Any
    order: list[int]
    """Which option stood first, second and so on."""
    correct: bool | None
    """On checks."""
    counts: bool
    """False if the answer was rejected, or the person excluded or practising."""
    given: dt.datetime
    """When the page was given to the person."""
    answered: dt.datetime
    active_seconds: float | None
    """How long the page was visible, according to the browser."""
    id: int = 0
    too_fast: bool | None = None
    """Whether it came sooner than the page can be read; None if no time is known."""
    repeated: bool | None = None
    """Whether somebody else had written the same before; on sentences."""
    state: str = "counted"
    """counted, rejected (by the owner), excluded (the person is), or practice."""
    reason: str = ""
    """Why it does not count."""
    platform_study: str = ""
    """What a crowd platform calls the study,"""
    platform_session: str = ""
    """and the person's visit."""

    @property
    def elapsed(self) -> float | None:
        """Seconds from the page to the answer; None if the server's clock was set back in between."""
        return elapsed(self.given, self.answered)

    @property
    def seconds(self) -> float | None:
        """From the page to the answer: time in sight where it is known."""
        return shortest(self.elapsed, self.active_seconds)


def elapsed(begun: dt.datetime, answered: dt.datetime) -> float | None:
    """Seconds between two moments of the server's clock; None if the later one has the earlier time."""
    seconds = (answered - begun).total_seconds()
    return seconds if seconds >= 0 else None


def shortest(*seconds: float | None) -> float | None:
    """The shortest of the times that are known; None if none is."""
    return min((value for value in seconds if value is not None), default=None)


def judged(answers: Iterable[PageAnswer]) -> list[PageAnswer]:
    """The answers that count, to items; in the order of the items."""
    return sorted(filter(_is_judgment, answers), key=attrgetter("number"))


def by_page(answers: Iterable[PageAnswer]) -> Iterator[list[PageAnswer]]:
    """The answers that count, a list per item that has any; one item is in memory at a time.

    Args:
        answers: in the order of the items.
    """
    return (list(group) for _, group in groupby(filter(_is_judgment, answers), attrgetter("number")))


def by_group(answers: Iterable[PageAnswer]) -> Iterator[list[list[PageAnswer]]]:
    """As `by_page`, and pages of one item of the file together: all references of a triplet's pair."""
    return (list(pages) for _, pages in groupby(by_page(answers), lambda page: page[0].group))


def _is_judgment(answer: PageAnswer) -> bool:
    return answer.counts and answer.role == "item"
