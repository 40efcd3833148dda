"""Mixtures as axes: `xe + {0,5,10}*cider-d` is a curve of three losses, of which λ is the weight.

    grid   = term, { "+", term }              a term of a mixture (`sacrecap_captioning.mixture`), or
    term   = "{", weight, { ",", weight }, "}", "*", name
    weight = number | "only"                  `only`: that name alone, without the rest of the mixture

Several pairs of braces expand to all combinations: the last one is the axis of each curve, and each combination of the
others is a curve of its own. Weights rise, as the axis does. The losses of Wang, Chan (CVPR 2019), Figure 8, are
`xe + {…}*cider-d`, `xe + {…}*retrieval`, `cider-d + {…}*retrieval`, and triples with both rewards.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from sacrecap.errors import UsageError
from sacrecap.metrics.weighted_sum import terms
from sacrecap_captioning.mixture import Mixture

ONLY = "only"
"""The weight of a reward alone."""
_BRACES = re.compile(r"\s*\{(?P<weights>[^{}]*)\}\s*\*\s*(?P<name>[^{}]+)")


@dataclass(frozen=True)
class Point:
    """A loss of a curve."""

    weight: str
    """λ, as it was written; empty for a loss without braces."""
    loss: str
    """The mixture, without what has no weight: the same loss is the same text in every curve."""


@dataclass(frozen=True)
class Curve:
    """Losses that differ in one weight, in its rising order."""

    name: str
    """The mixture with λ for that weight: `xe + λ*cider-d`."""
    points: tuple[Point, ...]


def read_curves(texts: Iterable[str]) -> tuple[Curve, ...]:
    """The curves of several texts, each once.

    Raises:
        UsageError: another form, a weight that is not a number of at least 0, weights that do not rise, an impossible
            mixture, or no text.
    """
    curves = tuple(dict.fromkeys(curve for text in texts for curve in _expanded(text)))
    if not curves:
        raise UsageError("a sweep has at least one loss, such as 'xe + {0,5,only}*cider-d'")
    return curves


def _expanded(text: str) -> list[Curve]:
    """The curves of one text."""
    parts = terms(text)
    axes = {number: _weights(part, text) for number, part in enumerate(parts) if "{" in part or "}" in part}
    if not axes:
        loss = str(Mixture.parse(text).at_work)
        return [Curve(loss, (Point("", loss),))]
    names = {number: parts[number].rpartition("}")[2].partition("*")[2].strip() for number in axes}
    if len(axes) > 1 and any(ONLY in weights for weights in axes.values()):
        raise UsageError(f"loss {text!r}: {ONLY} leaves the rest of the mixture out: it goes with one pair of braces")
    *fixed, last = axes

    def mixture(chosen: Iterable[str], weight: str) -> Mixture:
        """The mixture with these weights in the first pairs of braces, and this one in the last."""
        given = dict(zip((*fixed, last), (*chosen, weight), strict=True))
        written = [f"{given[n]}*{names[n]}" if n in given else part for n, part in enumerate(parts)]
        return Mixture.parse(names[last] if weight == ONLY else " + ".join(written)).at_work

    curves = []
    for chosen in itertools.product(*(axes[number] for number in fixed)):
        points = tuple(Point(weight, str(mixture(chosen, weight))) for weight in axes[last])
        [axis] = Mixture.parse(names[last]).names
        named = [
            f"λ*{axis}" if name == axis else str(Mixture(((name, weight),)))
            for name, weight in mixture(chosen, "1").weights
        ]
        curves.append(Curve(" + ".join(named), points))
    return curves


def _weights(term: str, text: str) -> tuple[str, ...]:
    """The weights of a term with braces."""
    found = _BRACES.fullmatch(term)
    if found is None:
        raise UsageError(
            f"loss {text!r}: {term} is not of the form {{weight,weight}}*name; example: 'xe + {{0,5,only}}*cider-d'"
        )
    weights = tuple(weight.strip() for weight in found["weights"].split(","))
    numbers = []
    for weight in weights:
        try:
            numbers.append(math.inf if weight == ONLY else float(weight))
        except ValueError:
            numbers.append(-1.0)
        if numbers[-1] < 0 or (math.isinf(numbers[-1]) and weight != ONLY):
            raise UsageError(f"loss {text!r}: a weight in braces is a number of at least 0, or {ONLY}, got {weight!r}")
    if any(one >= other for one, other in pairwise(numbers)):
        raise UsageError(f"loss {text!r}: weights in braces rise, each once, {ONLY} last; got {', '.join(weights)}")
    return weights
