"""Combinations: the weighted mean of any metrics.

Madhyastha, Wang, Specia, *VIFIDEL: Evaluating the Visual Fidelity of Image Descriptions* (ACL 2019), average VIFIDEL
with CIDEr, and with a language model, in this simple way.

    Combine = Σ_k w_k M_k / Σ_k w_k

for an image, from the members' scores of the image; for the corpus, from their corpus scores. `combine(a, 0.5*b)` is
the sum `a + 0.5*b` of a reward, divided by the sum of the weights: it orders captions as the sum does, and without
weights it is the plain mean. As in a reward, members whose low scores are better are subtracted, unless that is so of
all: then low scores of the mean are better, too. Members are not rescaled: CIDEr-D reaches 10 and VIFIDEL 1, so weights
decide how much each counts; `combine(z(a), z(b))` adds standardised scores.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from sacrecap.errors import UsageError
from sacrecap.metrics.base import Bears, Metric, Ready, Status
from sacrecap.metrics.declared import spell
from sacrecap.metrics.weighted_sum import above_zero, write_term

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.needs import Needs


class WeightedMean(Metric):
    """The weighted mean of the scores of other metrics. It needs what they need, and is described by them too.

    A subclass has `members` and their `weights`.
    """

    arithmetic: ClassVar[str] = ""
    proposed_in: ClassVar[str]
    """The paper that proposes this mean."""
    own_cites: ClassVar[tuple[str, ...]] = ()
    """What to cite beside the members' publications."""

    if TYPE_CHECKING:

        @property
        def members(self) -> tuple[Metric, ...]:
            """The metrics."""

        @property
        def weights(self) -> tuple[float, ...]:
            """A weight per member."""

    @property
    def lower_is_better(self) -> bool:
        """Whether it is so of all members."""
        return all(member.lower_is_better for member in self.members)

    @property
    def signs(self) -> tuple[float, ...]:
        """−1 for a member that is subtracted: whose better scores are at the other end than those of the mean."""
        return tuple(-1.0 if member.lower_is_better != self.lower_is_better else 1.0 for member in self.members)

    @property
    def parts(self) -> tuple[Metric, ...]:
        return tuple(chain.from_iterable(member.parts for member in self.members))

    @property
    def cites(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(chain(self.own_cites, *(member.cites for member in self.members))))

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(chain.from_iterable(member.needs for member in self.members)))

    @property
    def needs_references(self) -> bool:
        return any(member.needs_references for member in self.members)

    @property
    def reads_tokens(self) -> bool:
        return any(member.reads_tokens for member in self.members)

    @property
    def uses_document_frequency(self) -> bool:  # type: ignore[override]
        return any(member.uses_document_frequency for member in self.members)

    @property
    def bears(self) -> Bears | None:  # type: ignore[override]
        """What all members bear."""
        ranges = [member.bears for member in self.members if member.bears is not None]
        if not ranges:
            return None
        low, high, low_if_long = zip(*ranges, strict=True)
        return Bears(max(low), min(high), max(low_if_long))

    @property
    def trained_on_references(self) -> bool:  # type: ignore[override]
        return any(member.trained_on_references for member in self.members)

    @property
    def trained_on(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(chain.from_iterable(member.trained_on for member in self.members)))

    @property
    def no_score_where(self) -> str | None:
        return next(filter(None, (member.no_score_where for member in self.members)), None)

    def status(self, needs: Needs) -> Status:
        """That of the member that hinders most."""
        found = [member.status(needs) for member in self.members]
        return min(found, key=lambda status: (status.hindrance is None, status.kind == "available"))

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Every part made ready."""
        members = dict.fromkeys(chain.from_iterable(member.parts for member in self.members))
        parts = {part: part.ready(corpus, needs) for part in members}
        signed = [*chain.from_iterable(ready.signature for ready in parts.values()), *self.signed(needs)]

        def read() -> dict[str, int]:
            found: dict[str, int] = {}
            for name, digest in chain.from_iterable(ready.digests().items() for ready in parts.values()):
                found[name] = (found.get(name, 0) + digest) % 2**32
            return found

        return Ready(corpus._core, signature=tuple(dict.fromkeys(signed)), digests=read, parts=parts)

    def signed(self, needs: Needs) -> tuple[str, ...]:
        """What the standards of the members add to signatures."""
        means = (member for member in self.members if isinstance(member, WeightedMean))
        return tuple(chain.from_iterable(mean.signed(needs) for mean in means))

    @property
    def equation(self) -> str:  # type: ignore[override]
        terms = [
            f"{' − ' if sign < 0 else ' + '}{write_term(member.label, weight)}"
            for sign, weight, member in zip(self.signs, self.weights, self.members, strict=True)
        ]
        total, mean = sum(self.weights), "".join(terms).removeprefix(" + ").strip()
        mean = mean if total == 1 else f"({mean}) / {spell(total)}"
        return ";  ".join(dict.fromkeys([f"{self.title} = {mean}", *(member.equation for member in self.members)]))

    @property
    def source(self) -> str:  # type: ignore[override]
        cited = "; ".join([self.proposed_in, *(member.source for member in self.members)])
        return "; ".join(dict.fromkeys(cited.split("; ")))

    @property
    def upper(self) -> float | None:  # type: ignore[override]
        return self._bound(largest=True)

    @property
    def smallest(self) -> float | None:
        return self._bound(largest=False)

    def _bound(self, *, largest: bool) -> float | None:
        """The mean of the members' bounds; None if one has none."""
        signed = list(zip(self.signs, self.members, strict=True))
        ends = [member.largest if (sign > 0) == largest else member.smallest for sign, member in signed]
        known = [sign * end for (sign, _), end in zip(signed, ends, strict=True) if end is not None]
        return self._mean(known) if len(known) == len(signed) else None

    @property
    def nothing(self) -> dict[str, str]:  # type: ignore[override]
        return {f"{member.label}, {case}": value for member in self.members for case, value in member.nothing.items()}

    def _mean(self, values: list[float]) -> float:
        products = (weight * value for weight, value in zip(self.weights, values, strict=True))
        return math.fsum(products) / math.fsum(self.weights)


class Combine(WeightedMean):
    """The mean of two metrics or more, weighted by `weights` (one per member; equal by default).

    Its text is `combine(rouge-l, 0.5*cider-d)`. Equal weights are no weights, so a combination without any is the plain
    mean. Raises `UsageError` for fewer than two members, for what is not a metric, and for weights that are not numbers
    above 0, one per member.
    """

    family: ClassVar[str] = "combine"
    title: ClassVar[str] = "Combine"
    summary: ClassVar[str] = "The weighted mean of the scores of other metrics."
    proposed_in: ClassVar[str] = "Madhyastha et al., ACL 2019"

    members: tuple[Metric, ...]
    """In the order of their keys: in any other, the mean is the same."""
    weights: tuple[float, ...]

    def __init__(self, *members: Metric, weights: tuple[float, ...] | None = None) -> None:
        _check_members(members)
        given = _checked_weights((1.0,) * len(members) if weights is None else weights, len(members))
        equal = (1.0,) * len(members) if len({*given}) == 1 else given
        ordered = sorted(zip(members, equal, strict=True), key=lambda pair: (pair[0].key, pair[1]))
        members, weights = zip(*ordered, strict=True)
        vars(self).update(members=members, weights=weights)

    @property
    def without_references(self) -> Combine | None:
        members = [member.without_references for member in self.members]
        known = [member for member in members if member is not None]
        return type(self)(*known, weights=self.weights) if known == members else None

    @property
    def key(self) -> str:
        return self._text(self.name, [member.key for member in self.members])

    @property
    def label(self) -> str:
        return self._text(self.title, [member.label for member in self.members])

    def __str__(self) -> str:
        return self._text(self.title, list(map(str, self.members)))

    @property
    def head(self) -> str:
        return self._text(self.name, [member.head for member in self.members], ",")

    def _text(self, name: str, members: list[str], comma: str = ", ") -> str:
        return f"{name}({comma.join(map(write_term, members, self.weights))})"


def _check_members(members: tuple[object, ...]) -> None:
    for member in members:
        if not isinstance(member, Metric):
            raise UsageError(f"Combine: members must be metrics, as sacrecap.metrics.CiderD(), got {member!r}")
        if member.scores_sets:
            raise UsageError(f"Combine: {member.key} scores caption sets; members must score one caption per image")
    if len(members) < 2:
        raise UsageError("Combine: members must be two metrics or more, as in combine(fluency, cider-d)")


def _checked_weights(weights: tuple[object, ...], count: int) -> tuple[float, ...]:
    numbers = tuple(above_zero(weight, "Combine") for weight in weights)
    if len(numbers) != count:
        raise UsageError(f"Combine: {count} members have {count} weights, got {len(numbers)}")
    if not math.isfinite(sum(numbers)):
        raise UsageError(f"Combine: weights must have a finite sum, got {', '.join(map(spell, numbers))}")
    return numbers
