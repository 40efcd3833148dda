"""Combinations: the weighted mean of any metrics, and standardised scores, so that different scales can be added.

Madhyastha, Wang, Specia, *VIFIDEL: Evaluating the Visual Fidelity of Image Descriptions* (ACL 2019), average VIFIDEL
with CIDEr, and with a language model, in this simple way.

    Combine = Σ_k w_k M_k / Σ_k w_k
    z       = (M − mean) / deviation

for an image, from the members' scores of the image; for the corpus, from their corpus scores. `combine(a, 0.5*b)` is
the sum `a + 0.5*b` of a reward, divided by the sum of the weights: it orders captions as the sum does, and without
weights it is the plain mean. As in a reward, members whose low scores are better are subtracted, unless that is so of
all: then low scores of the mean are better, too. Members are not rescaled: CIDEr-D reaches 10 and VIFIDEL 1, so weights
decide how much each counts; `combine(z(a), z(b))` adds standardised scores, which are distances from one mean of
images' scores in deviations; where low scores are better, the direction is turned. Mean and deviation come from a file,
or from all rows of all systems of the call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import DataError, UsageError, naming, option
from sacrecap.metrics.base import Bears, Metric, Ready, Status
from sacrecap.metrics.declared import spell
from sacrecap.metrics.weighted_sum import above_zero, write_term
from sacrecap.resources.needs import Needs


def _any(name: str) -> Any:
    return property(lambda mean: any(getattr(member, name) for member in mean.members))


def _joined(name: str) -> Any:
    """What the members have, each once."""
    return property(
        lambda mean: tuple(dict.fromkeys(chain.from_iterable(getattr(member, name) for member in mean.members)))
    )


class WeightedMean(Metric):
    """The weighted mean of the scores of other metrics. It needs what they need, and is described by them too."""

    arithmetic = ""
    proposed_in: ClassVar[str]
    """The paper that proposes this mean."""
    members: tuple[Metric, ...]
    weights: tuple[float, ...]
    """One per member."""

    needs: ClassVar[Any] = _joined("needs")
    cites: ClassVar[Any] = _joined("cites")
    trained_on: ClassVar[Any] = _joined("trained_on")
    needs_references: Any = _any("needs_references")
    reads_tokens: Any = _any("reads_tokens")
    uses_document_frequency: ClassVar[Any] = _any("uses_document_frequency")
    trained_on_references: ClassVar[Any] = _any("trained_on_references")

    @property
    def lower_is_better(self) -> bool:
        return all(member.lower_is_better for member in self.members)

    @property
    def upper(self) -> float | None:  # type: ignore[override]
        return self._bound(largest=True)

    @property
    def smallest(self) -> float | None:
        return self._bound(largest=False)

    @property
    def signs(self) -> tuple[float, ...]:
        """−1 for a member that is subtracted: whose better scores are at the other end than those of the mean."""
        return tuple(-1.0 if member.lower_is_better != self.lower_is_better else 1.0 for member in self.members)

    @property
    def parts(self) -> tuple[Metric, ...]:
        return tuple(chain.from_iterable(member.parts for member in self.members))

    @property
    def bears(self) -> Bears | None:  # type: ignore[override]
        """What all members bear."""
        ranges = [member.bears for member in self.members if member.bears is not None]
        if not ranges:
            return None
        low, high, low_if_long = zip(*ranges, strict=True)
        return Bears(max(low), min(high), max(low_if_long))

    @property
    def no_score_where(self) -> str | None:
        return next(filter(None, (member.no_score_where for member in self.members)), None)

    def status(self, needs: Needs) -> Status:
        """That of the member that hinders most."""
        statuses = [member.status(needs) for member in self.members]
        return min(statuses, key=lambda status: (status.hindrance is None, status.kind == "available"))

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Every part made ready."""
        parts = {part: part.ready(corpus, needs) for part in dict.fromkeys(self.parts)}
        signed = [*chain.from_iterable(ready.signature for ready in parts.values()), *self.signed(needs)]

        def read() -> dict[str, int]:
            total: dict[str, int] = {}
            for name, digest in chain.from_iterable(ready.digests().items() for ready in parts.values()):
                total[name] = (total.get(name, 0) + digest) % 2**32
            return total

        return Ready(corpus._core, signature=tuple(dict.fromkeys(signed)), digests=read, parts=parts)

    def signed(self, needs: Needs) -> tuple[str, ...]:
        """What the standards of the members add to signatures."""
        means = (member for member in self.members if isinstance(member, WeightedMean))
        return tuple(chain.from_iterable(mean.signed(needs) for mean in means))

    @property
    def equation(self) -> str:  # type: ignore[override]
        texts = [write_term(member.label, weight) for member, weight in zip(self.members, self.weights, strict=True)]
        terms = [f"{' − ' if sign < 0 else ' + '}{text}" for sign, text in zip(self.signs, texts, strict=True)]
        total, mean = sum(self.weights), "".join(terms).removeprefix(" + ").strip()
        mean = mean if total == 1 else f"({mean}) / {spell(total)}"
        return ";  ".join(dict.fromkeys([f"{self.title} = {mean}", *(member.equation for member in self.members)]))

    @property
    def source(self) -> str:  # type: ignore[override]
        cited = "; ".join([self.proposed_in, *(member.source for member in self.members)])
        return "; ".join(dict.fromkeys(cited.split("; ")))

    def _bound(self, *, largest: bool) -> float | None:
        """The mean of the members' bounds; None if one has none."""
        signed = list(zip(self.signs, self.members, strict=True))
        ends = [member.largest if (sign > 0) == largest else member.smallest for sign, member in signed]
        bounds = [sign * end for (sign, _), end in zip(signed, ends, strict=True) if end is not None]
        if len(bounds) < len(signed):
            return None
        products = (weight * bound for weight, bound in zip(self.weights, bounds, strict=True))
        return math.fsum(products) / math.fsum(self.weights)

    @property
    def nothing(self) -> dict[str, str]:  # type: ignore[override]
        return {f"{member.label}, {case}": value for member in self.members for case, value in member.nothing.items()}


class Combine(WeightedMean):
    """The mean of two metrics or more, weighted by `weights` (one per member; equal by default).

    Its text is `combine(rouge-l, 0.5*cider-d)`. Equal weights are no weights, so a combination without any is the plain
    mean. Raises `UsageError` for fewer than two members, for what is not a metric, and for weights that are not numbers
    above 0, one per member.
    """

    title = "Combine"
    summary = "The weighted mean of the scores of other metrics."
    proposed_in = "Madhyastha et al., ACL 2019"

    def __init__(self, *members: Metric, weights: tuple[float, ...] | None = None) -> None:
        instances: tuple[object, ...] = members
        for member in instances:
            if not isinstance(member, Metric):
                raise UsageError(f"Combine: members must be metrics, as sacrecap.metrics.CiderD(), got {member!r}")
            if member.scores_sets:
                raise UsageError(f"Combine: {member.key} scores caption sets; members must score one caption per image")
        if len(members) < 2:
            raise UsageError("Combine: members must be two metrics or more, as in combine(fluency, cider-d)")
        alike = (1.0,) * len(members)
        numbers = tuple(above_zero(weight, "Combine") for weight in (alike if weights is None else weights))
        if len(numbers) != len(members):
            raise UsageError(f"Combine: {len(members)} members have {len(members)} weights, got {len(numbers)}")
        if not math.isfinite(sum(numbers)):
            raise UsageError(f"Combine: weights must have a finite sum, got {', '.join(map(spell, numbers))}")
        equal = alike if len({*numbers}) == 1 else numbers
        # In the order of their keys: in any other, the mean is the same.
        ordered = sorted(zip(members, equal, strict=True), key=lambda pair: (pair[0].key, pair[1]))
        members, weights = zip(*ordered, strict=True)
        vars(self).update(members=members, weights=weights)

    @property
    def without_references(self) -> Combine | None:
        members = [member.without_references for member in self.members]
        without = [member for member in members if member is not None]
        return type(self)(*without, weights=self.weights) if without == members else None

    key: Any = property(lambda mean: mean._text(mean.name, [member.key for member in mean.members]))
    head: Any = property(lambda mean: mean._text(mean.name, [member.head for member in mean.members], ","))
    label: Any = property(lambda mean: mean._text(mean.title, [member.label for member in mean.members]))

    def __str__(self) -> str:
        return self._text(self.title, list(map(str, self.members)))

    def _text(self, name: str, members: list[str], comma: str = ", ") -> str:
        return f"{name}({comma.join(map(write_term, members, self.weights))})"


Scale = dict[str, float]
"""`mean` and `deviation`."""


@dataclass(frozen=True)
class Standard:
    """Mean and deviation of metrics, by key, taken from all captions of a call."""

    scales: Mapping[str, Scale]


class Standardised(WeightedMean):
    """A metric's score as a distance from a mean, in deviations; higher is better."""

    title = "z"
    summary = "The caption is above the average, by the metric in parentheses."
    proposed_in = "sacrecap"

    of: Metric
    weights: tuple[float, ...] = (1.0,)
    lower_is_better: bool = False
    largest: None = None
    smallest: None = None

    def __init__(self, of: Metric) -> None:
        vars(self)["of"] = of

    members: Any = property(lambda metric: (metric.of,))
    needs: ClassVar[Any] = property(lambda metric: (*metric.of.needs, "standard"))

    @property
    def without_references(self) -> Standardised | None:
        plain = self.of.without_references
        return None if plain is None else type(self)(plain)

    key: Any = property(lambda metric: f"z({metric.of.key})")
    head: Any = property(lambda metric: f"z({metric.of.head})")
    label: Any = property(lambda metric: f"z({metric.of.label})")

    def __str__(self) -> str:
        return f"z({self.of})"

    @property
    def equation(self) -> str:  # type: ignore[override]
        return f"z = ({self.of.label} − mean) / deviation;  {self.of.equation}"

    def scale(self, needs: Needs) -> tuple[float, float]:
        """Mean, and deviation with the sign of the direction. Raises `UsageError` if the call has none."""
        scales = _scales(needs)
        if scales is None:
            flag = option("standard", "FILE", flag="--standard")
            raise UsageError(
                f"{self.key} needs the mean and the deviation of {self.of.key}: {flag}; sacrecap compare and agreement "
                "take those of all captions that they score, and --format json of these writes such a file"
            )
        if self.of.key not in scales:
            raise UsageError(f"the standard has no {self.of.key}; it has {', '.join(scales)}: make one with {self.key}")
        scale = scales[self.of.key]
        return scale["mean"], -scale["deviation"] if self.of.lower_is_better else scale["deviation"]

    def signed(self, needs: Needs) -> tuple[str, ...]:
        """A digest of mean and deviation."""
        return (*super().signed(needs), f"standard:{_core.digest([self.of.head], [repr(self.scale(needs))]):08x}")


def _scales(needs: Needs) -> Mapping[str, Scale] | None:
    """The standard of a call: `{metric: {"mean", "deviation"}}`, or a JSON file of it, alone or in a result."""
    from sacrecap.data.rows import parsed
    from sacrecap.data.source import display_name, read_bytes

    standard = needs.get("standard")
    if standard is None or isinstance(standard, Standard):
        return None if standard is None else standard.scales
    if isinstance(standard, Mapping):
        return _checked(standard, "standard")

    def read() -> dict[str, Scale]:
        source = display_name(standard)
        with naming(f"{source}: "):
            document = parsed(read_bytes(standard))
        return _checked(document.get("standard", document) if isinstance(document, dict) else None, source)

    return needs.once(("standard", str(standard)), read)


def _checked(scales: Any, source: str) -> dict[str, Scale]:
    """The scales. Raises `DataError` for another shape, or a deviation that is not above 0."""
    if not isinstance(scales, Mapping) or not scales:
        raise DataError(f'{source}: expected {{"metric": {{"mean": …, "deviation": …}}}}, or a result with "standard"')
    for name, scale in scales.items():
        numbers: list[Any] = [scale.get(part) for part in ("mean", "deviation")] if isinstance(scale, Mapping) else [""]
        if not all(isinstance(part, (int, float)) and math.isfinite(part) for part in numbers) or numbers[-1] <= 0:
            raise DataError(f"{source}: {name} must have a finite mean and a deviation above 0, got {scale!r:.60}")
    return {name: {part: float(scale[part]) for part in ("mean", "deviation")} for name, scale in scales.items()}


def unscaled(metrics: Iterable[Metric]) -> dict[Metric, None]:
    """The metrics whose mean and deviation these need."""
    needed: dict[Metric, None] = {}
    for metric in metrics:
        if isinstance(metric, Standardised):
            needed[metric.of] = None
        if isinstance(metric, WeightedMean):
            needed |= unscaled(metric.members)
    return needed
