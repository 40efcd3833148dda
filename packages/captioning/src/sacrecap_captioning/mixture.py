"""The text that says what training minimises: `xe + 5*cider-d`, `0..5@1000*cider-d + 2*retrieval`.

    mixture = term, { "+", term }
    term    = [ weight, "*" ], name           without a weight: 1
    weight  = number                          the same at every step
            | number "..", number "@", steps  moves from the first to the second over the first steps, then stays
            | number "..", number "@", step "-", step      moves between these steps
    name    = "xe" | "retrieval" | "evaluator" | a registered metric, with parameters if need be: cider-d(sigma=5)

The losses of Wang, Chan (CVPR 2019), section 5.3, are `xe + λ*cider-d`, `xe + β*retrieval`, `cider-d + α*retrieval` and
`xe + λ*cider-d + β*retrieval`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sacrecap.errors import UsageError
from sacrecap.metrics.declared import spell
from sacrecap.metrics.registry import parse_metrics
from sacrecap.rewards.mixture import cut

CROSS_ENTROPY = "xe"
RETRIEVAL = "retrieval"
EVALUATOR = "evaluator"
"""The reward of a captioner's own evaluator, which learns beside it; `cgan` has one."""
_OWN = (CROSS_ENTROPY, RETRIEVAL, EVALUATOR)

EXAMPLES = "xe, cider-d, xe + 5*cider-d, xe + 0..5@1000*cider-d + 2*retrieval"
"""Examples for messages and help."""


@dataclass(frozen=True)
class Weight:
    """A weight at each step: a straight line from `start` at step `first` to `end` at step `last`, level outside."""

    start: float
    end: float
    first: int = 0
    last: int = 0

    def __post_init__(self) -> None:
        if not all(math.isfinite(weight) and weight >= 0 for weight in (self.start, self.end)):
            raise UsageError(f"a weight is a number of at least 0, got {self}")
        if not 0 <= self.first <= self.last or (self.start != self.end and self.last == 0):
            raise UsageError(f"a weight moves over steps, 0..5@1000 or 0..5@500-1000, got {self}")

    def at(self, step: int) -> float:
        """The weight of a step; the first one is step 0."""
        if step >= self.last:
            return self.end
        passed = max(step - self.first, 0) / (self.last - self.first)
        return self.start + passed * (self.end - self.start)

    @property
    def is_nothing(self) -> bool:
        """Whether it is 0 at every step."""
        return self.start == self.end == 0

    def __str__(self) -> str:
        if self.start == self.end:
            return spell(self.end)
        steps = f"{self.first}-{self.last}" if self.first else str(self.last)
        return f"{spell(self.start)}..{spell(self.end)}@{steps}"


@dataclass(frozen=True)
class Mixture:
    """Losses and rewards by name, each with its weight; prints as the text it is parsed from."""

    weights: tuple[tuple[str, Weight], ...]

    @classmethod
    def parse(cls, text: str) -> Mixture:
        """Reads the text form.

        Raises:
            UsageError: it is not of that form, names no registered metric (the nearest is suggested), names one twice,
                or all its weights are 0.
        """
        terms = [_term(term.strip(), text) for term in cut(text)]
        names = [name for name, _ in terms]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"loss {text!r}: {name} occurs twice; add its weights")
        if all(weight.is_nothing for _, weight in terms):
            raise UsageError(f"loss {text!r}: every weight is 0, so nothing would be learnt")
        return cls(tuple(terms))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its parts, in order."""
        return tuple(name for name, _ in self.weights)

    @property
    def rewards(self) -> tuple[str, ...]:
        """Names of its rewards (parts other than cross-entropy) that ever have a weight, in order."""
        return tuple(name for name, weight in self.weights if name != CROSS_ENTROPY and not weight.is_nothing)

    @property
    def at_work(self) -> Mixture:
        """The mixture without the parts that never have a weight."""
        return Mixture(tuple((name, weight) for name, weight in self.weights if not weight.is_nothing))

    def at(self, step: int) -> dict[str, float]:
        """The weights of a step that are not 0."""
        return {name: found for name, weight in self.weights if (found := weight.at(step)) > 0}

    def __str__(self) -> str:
        return " + ".join(name if str(weight) == "1" else f"{weight}*{name}" for name, weight in self.weights)


_NUMBER = r"\d+(?:\.\d*)?(?:[eE]-?\d+)?|\.\d+"
_WEIGHT = re.compile(rf"(?P<start>{_NUMBER})(?:\.\.(?P<end>{_NUMBER})@(?:(?P<first>\d+)-)?(?P<last>\d+))?")


def _term(term: str, text: str) -> tuple[str, Weight]:
    weight, name = term.split("*", 1) if "*" in term.partition("(")[0] else ("1", term)
    found = _WEIGHT.fullmatch(re.sub(r"\s", "", weight))
    if found is None or not name.strip():
        raise UsageError(f"loss {text!r}: {term or 'nothing'} is not of the form weight*name; examples: {EXAMPLES}")
    start = float(found["start"])
    if found["end"] is None:
        return _name(name.strip(), text), Weight(start, start)
    return _name(name.strip(), text), Weight(start, float(found["end"]), int(found["first"] or 0), int(found["last"]))


def _name(name: str, text: str) -> str:
    if name.lower() in _OWN:
        return name.lower()
    try:
        metrics = parse_metrics(name)
    except UsageError as error:
        raise UsageError(f"loss {text!r}: {name} is neither {', '.join(_OWN)} nor a metric: {error}") from None
    if len(metrics) > 1:
        raise UsageError(f"loss {text!r}: {name} is a group of {len(metrics)} metrics; name each with its weight")
    return metrics[0].key
