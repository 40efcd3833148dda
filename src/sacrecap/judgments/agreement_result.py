"""Agreement with people: every number with its interval, printable and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sacrecap.above import Printable
from sacrecap.judgments.agreement_statistics import ALL, IN_IMAGE, alpha, counts, icc
from sacrecap.judgments.bootstrap import Columns, Estimate, MetricPair
from sacrecap.judgments.judged_rows import Pairs, Ratings, liked_otherwise
from sacrecap.resources.spending import Usage
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.result import finite

BAND = 0.95
"""Share of the draws that a band covers."""
STATISTICS = {"flickr8k-cf": "kendall_b", "thumb": "kendall_b"}
"""What papers report of ratings of a data set, where it is not τ-c."""


@dataclass(frozen=True, eq=False)
class Measured:
    """One metric's agreement, against one number of references."""

    name: str
    """Key of the metric."""
    label: str
    """The name as papers print it."""
    references: int | None
    """Number of references per row that were used; None for all."""
    statistics: dict[str, Estimate]
    """Accuracy by category, or correlations by name."""
    signature: str
    draws: dict[str, list[float]] | None
    """Values of the statistics over random draws of references."""
    scores: Columns = field(repr=False)
    """Scores by column of candidates, aligned with the judgments' rows; negated if `lower_is_better`."""
    ties: dict[str, int] | None = None
    """Pairs on which the metric ties, by category."""
    otherwise: dict[str, float] | None = None
    """Accuracy by category if ties count the other way: as half right instead of wrong, or as wrong instead of half."""
    lower_is_better: bool = False
    unscored: int = 0
    """Number of captions without a score by this metric, which are left out; or of such pairs, which count as ties."""
    fitted: bool = False
    """Whether the metric was fitted to these judgments, so that it agrees with them better than with others."""

    def __repr__(self) -> str:
        values = ", ".join(f"{name} {estimate.value:.4f}" for name, estimate in self.statistics.items())
        of = "" if self.references is None else f" ({self.references} references)"
        return f"{self.name}{of}: {values}"


@dataclass(frozen=True)
class Systems:
    """Shares of wins (or mean ratings and scores) of each system, and their correlations with people's."""

    people: dict[str, float]
    metrics: dict[str, dict[str, float]]
    agreement: dict[str, dict[str, float]]


@dataclass(frozen=True, eq=False)
class Agreement(Printable):
    """The result of [`sacrecap.judgments.agreement`][]."""

    version: str
    judgments: Pairs | Ratings = field(repr=False)
    documents: str
    ties: str
    raters: str
    """What is a data point of ratings: `each`, or the `mean` or `median` of those of a caption."""
    resampling: Resampling
    """How the intervals were made, if there are any."""
    measured: list[Measured]
    """Each metric for each number of references, in the requested order."""
    people: tuple[str, dict[str, Estimate]] | None
    """How people were split to predict people, in words, and how well they do."""
    direct: dict[str, Estimate] | None
    """How often the majority of the direct votes prefers what the consensus prefers, by category."""
    halves: dict[str, dict[str, Estimate]] | None
    """Accuracy of each metric and of `people` if one half of the references judges and the other predicts."""
    systems: Systems | None
    comparisons: list[tuple[int | None, MetricPair]]
    """Number of references, and the paired tests of metrics."""
    usage: Usage | None = None
    """What a judge was asked, and what it cost."""
    standard: dict[str, Any] = field(default_factory=dict)
    """Mean and deviation of standardised metrics, as an entry of the JSON document, if they are of these captions."""

    @property
    def statistics(self) -> list[str]:
        """Names of the statistics: categories, or correlations."""
        return list(self.measured[0].statistics)

    @property
    def primary(self) -> str:
        """The statistic that papers report for these judgments."""
        if isinstance(self.judgments, Pairs):
            return ALL
        if self.judgments.sets is not None:
            return "pearson"
        return STATISTICS.get(self.judgments.dataset, "kendall_c")

    @property
    def n(self) -> int:
        """Data points: decided pairs, ratings, or merged ratings."""
        if isinstance(self.judgments, Pairs):
            return counts(self.judgments)[ALL]
        if self.raters != "each":
            return len(self.judgments.rows)
        return sum(map(len, self.judgments.ratings))

    @cached_property
    def reliability(self) -> dict[str, float] | None:
        """Agreement among raters: Krippendorff's α for intervals, and ICC(1); None of single ratings."""
        if isinstance(self.judgments, Pairs) or max(map(len, self.judgments.ratings)) < 2:
            return None
        return {"Krippendorff's α": alpha(self.judgments.ratings), "ICC(1)": icc(self.judgments.ratings)}

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap agreement`; undefined values are null."""
        judgments, reliability = self.judgments, self.reliability
        entries: dict[str, list[dict[str, Any]]] = {}
        for measured in self.measured:
            entries.setdefault(measured.name, []).append(self._entry(measured))
        several = len({measured.references for measured in self.measured}) > 1
        document: dict[str, Any] = {
            "sacrecap": self.version,
            "dataset": judgments.dataset,
            "judgments": {
                "in_file": judgments.in_file,
                "rows": len(judgments.rows),
                "images": len({row.image_id for row in judgments.rows}),
                "notes": judgments.notes,
            },
            "documents": self.documents,
            **(
                {"ties": self.ties, "pairs": counts(judgments)}
                if isinstance(judgments, Pairs)
                else {"rating": judgments.aspect, "raters": self.raters}
            ),
            "among_raters": reliability and dict(zip(("alpha", "icc"), map(finite, reliability.values()), strict=True)),
            "metrics": {name: figures if several else figures[0] for name, figures in entries.items()},
            "people": self.people and {"split": self.people[0], **self._statistics(self.people[1])},
            "direct_votes": self.direct and self._statistics(self.direct),
            "liked_otherwise": liked_otherwise(judgments) or None,
            "halves": self.halves and {name: self._statistics(values) for name, values in self.halves.items()},
            "systems": self.systems
            and {
                "people": self.systems.people,
                "metrics": {name: _all_finite(value) for name, value in self.systems.metrics.items()},
                "agreement": {name: _all_finite(value) for name, value in self.systems.agreement.items()},
            },
            **self.standard,
            "comparisons": [
                {
                    **({} if count is None else {"references": count}),
                    **{name: value for name, value in vars(pair).items() if name != "williams"},
                    "delta": finite(pair.delta),
                    "interval": pair.interval and [*pair.interval],
                    **({"williams": vars(pair.williams)} if pair.williams else {}),
                }
                for count, pair in self.comparisons
            ],
            "judge": None if self.usage is None else self.usage.to_dict(),
        }
        return {name: value for name, value in document.items() if value is not None}

    def _entry(self, measured: Measured) -> dict[str, Any]:
        draws = {}
        for name, values in (measured.draws or {}).items():
            mean, *ends = map(finite, band(values))
            draws[name] = {"mean": mean, "band": ends, "draws": len(values)}
        optional = {
            "ties": measured.ties,
            f"accuracy_ties_{other_ties(self.ties)}": measured.otherwise and _all_finite(measured.otherwise),
            "without_score": measured.unscored or None,
            "fitted": measured.fitted or None,
            "references": measured.references,
            "draws": _nested(draws) or None,
        }
        return {
            **self._statistics(measured.statistics),
            **{name: value for name, value in optional.items() if value is not None},
            "signature": measured.signature,
        }

    def _statistics(self, statistics: dict[str, Estimate]) -> dict[str, Any]:
        values = _all_finite({name: estimate.value for name, estimate in statistics.items()})
        intervals = {name: estimate.interval(self.resampling.interval) for name, estimate in statistics.items()}
        entry: dict[str, Any] = {"accuracy": values} if isinstance(self.judgments, Pairs) else _nested(values)
        entry["n"] = self.n
        entry["interval"] = _nested({name: list(bounds) for name, bounds in intervals.items() if bounds is not None})
        return entry

    def __repr__(self) -> str:
        return f"<Agreement on {self.judgments.dataset}: {'; '.join(map(repr, self.measured))}>"


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by statistic; those within images are together under `in_image`."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        if name.startswith(IN_IMAGE):
            nested.setdefault("in_image", {})[name.removeprefix(IN_IMAGE)] = value
        else:
            nested[name] = value
    return nested


def other_ties(ties: str) -> str:
    """The other way to count ties."""
    return "wrong" if ties == "half" else "half"


def band(values: list[float]) -> tuple[float, float, float]:
    """Mean, and the bounds that contain 95% of the draws."""
    defined = [value for value in values if math.isfinite(value)]
    if not defined:
        return math.nan, math.nan, math.nan
    low, high = np.quantile(defined, [(1 - BAND) / 2, (1 + BAND) / 2])
    return float(np.mean(defined)), float(low), float(high)


def _all_finite(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: finite(value) for name, value in values.items()}
