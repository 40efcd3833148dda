"""The text that says what training minimises: `xe + 5*cider-d`, `0..5@1000*cider-d + 2*retrieval`.

It is a weighted sum in the notation of `sacrecap.metrics.weighted_sum`. Its names are `xe`, `retrieval`, `evaluator`,
and metrics, with parameters if need be: `cider-d(sigma=5)`. Its weights are at least 0, and may move over the steps:
`0..5@1000` from the first number to the second over the first steps, `0..5@500-1000` between these steps.

The losses of Wang, Chan (CVPR 2019), section 5.3, are `xe + λ*cider-d`, `xe + β*retrieval`, `cider-d + α*retrieval` and
`xe + λ*cider-d + β*retrieval`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sacrecap.errors import UsageError
from sacrecap.metrics.weighted_sum import Weight, check_distinct, read_term, terms, write_term
from sacrecap.rewards.terms import single_metric

CROSS_ENTROPY = "xe"
RETRIEVAL = "retrieval"
EVALUATOR = "evaluator"
"""The reward of a captioner's own evaluator, which learns beside it; `cgan` has one."""
_OWN = (CROSS_ENTROPY, RETRIEVAL, EVALUATOR)


@dataclass(frozen=True)
class Mixture:
    """Losses and rewards by name, each with its weight; prints as the text it is parsed from."""

    weights: tuple[tuple[str, Weight], ...]

    @classmethod
    def parse(cls, text: str) -> Mixture:
        """Reads the text form.

        Raises:
            UsageError: it is not of that form, names no registered metric (the nearest is suggested), names one twice,
                a weight is negative, or all its weights are 0.
        """
        where = f"loss {text!r}"
        read = [read_term(term, where) for term in terms(text)]
        weights = tuple((_name(name, where), weight) for name, weight in read)
        check_distinct([name for name, _ in weights], where)
        for _, weight in weights:
            if not all(0 <= number < math.inf for number in (weight.start, weight.end)):
                raise UsageError(f"{where}: a weight is a number of at least 0, got {weight}")
        if all(weight.is_nothing for _, weight in weights):
            raise UsageError(f"{where}: every weight is 0, so nothing would be learnt")
        return cls(weights)

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
        return " + ".join(write_term(name, weight) for name, weight in self.weights)


def _name(name: str, where: str) -> str:
    if name.lower() in _OWN:
        return name.lower()
    try:
        return single_metric(name, where).key
    except UsageError as error:
        raise UsageError(f"{error}; a loss also takes {', '.join(_OWN)}") from None
