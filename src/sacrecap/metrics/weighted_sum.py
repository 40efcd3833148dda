"""The notation of weighted sums, which combinations, rewards and losses share: `cider-d + 0.5*rouge-l`.

    sum      = term, { "+", term }            of rewards and losses
             | term, { ",", term }            in the parentheses of `combine`
    term     = [ weight, "*" ], name          without a weight: 1
    weight   = number
             | number, "..", number, "@", [ step, "-" ], step       a schedule, in losses alone

What names stand for, and which weights make sense, is up to those who read the sum.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sacrecap.errors import UsageError
from sacrecap.metrics.declared import spell
from sacrecap.parameters import split

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_WEIGHT = re.compile(rf"(?P<start>{_NUMBER})(?:\.\.(?P<end>{_NUMBER})@(?:(?P<first>\d+)-)?(?P<last>\d+))?")


@dataclass(frozen=True)
class Weight:
    """A weight at each step: a straight line from `start` at step `first` to `end` at step `last`, level outside."""

    start: float
    end: float
    first: int = 0
    last: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.last or (self.start != self.end and self.last == 0):
            raise UsageError(f"a weight moves over steps, 0..5@1000 or 0..5@500-1000, got {self}")

    def at(self, step: int) -> float:
        """The weight of a step; the first one is step 0."""
        if step >= self.last:
            return self.end
        share_passed = max(step - self.first, 0) / (self.last - self.first)
        return self.start + share_passed * (self.end - self.start)

    @property
    def is_nothing(self) -> bool:
        """Whether it is 0 at every step."""
        return self.start == self.end == 0

    def __str__(self) -> str:
        if self.start == self.end:
            return spell(self.end)
        steps = f"{self.first}-{self.last}" if self.first else str(self.last)
        return f"{spell(self.start)}..{spell(self.end)}@{steps}"


def terms(text: str) -> list[str]:
    """The terms of a sum, cut at its plus signs."""
    return [term.strip() for term in split(text, lambda piece, _: piece == "+")]


def read_term(term: str, where: str) -> tuple[str, Weight]:
    """Name and weight of a term. Raises `UsageError`, beginning with `where`, for another form."""
    weight, _, name = term.partition("*") if "*" in term.partition("(")[0] else ("1", "", term)
    name = name.strip()
    match = _WEIGHT.fullmatch(re.sub(r"\s", "", weight))
    if match is None or not name or "=" in name.partition("(")[0]:
        raise UsageError(f"{where}: {term or 'nothing'} is not of the form weight*name, as in 0.5*rouge-l")
    start = float(match["start"])
    if match["end"] is None:
        return name, Weight(start, start)
    return name, Weight(start, float(match["end"]), int(match["first"] or 0), int(match["last"]))


def write_term(name: str, weight: float | Weight) -> str:
    """The text of a term: `cider-d`, `0.5*rouge-l`."""
    spelled = str(weight) if isinstance(weight, Weight) else spell(float(weight))
    return name if spelled == "1" else f"{spelled.replace('e+', 'e')}*{name}"


def above_zero(weight: object, where: str) -> float:
    """A weight that does not move, as a number. Raises `UsageError`, beginning with `where`, unless it is above 0."""
    number = weight.end if isinstance(weight, Weight) and weight.start == weight.end else weight
    if not isinstance(number, (int, float)) or isinstance(number, bool) or not 0 < number < math.inf:
        raise UsageError(f"{where}: a weight is a number above 0, got {weight}")
    return float(number)


def check_distinct(names: Sequence[str], where: str) -> None:
    """Raises `UsageError`, beginning with `where`, if a name occurs twice."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{where}: {twice} occurs twice; add its weights")
