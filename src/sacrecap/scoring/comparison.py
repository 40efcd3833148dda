"""The result of comparing systems: their scores, and for each pair and metric a difference with its p."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from operator import ne
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap.above import Printable
from sacrecap.errors import MissingDependencyError, words_of_command_line
from sacrecap.scoring.count import standard_in
from sacrecap.scoring.findings import Finding, SystemResult, comparable, of_systems
from sacrecap.scoring.ranks import best_first, rank_ranges
from sacrecap.scoring.result import Keyed, NotScoredError, Result, counted, finite, scored, values_of

if TYPE_CHECKING:
    import pandas

    from sacrecap.metrics import Metric
    from sacrecap.scoring.intervals import Resampling


COMPLETE = (
    "Where scores are missing, differences, tests and the best are of the images that both systems have a score of; a "
    "score is the mean over its system's own."
)


@dataclass(frozen=True)
class Pair:
    """Two systems by one metric."""

    a: str
    b: str
    metric: str
    """Its key."""
    delta: float
    """The score of `a` minus that of `b`, on the images that both have a score of; NaN if there are none."""
    interval: tuple[float, float] | None
    """Interval of the difference; None if it was not requested."""
    p: float
    """p of the paired two-sided test; above 0."""
    p_corrected: float
    """p corrected for the number of pairs, if that was asked for, and for the attempts of the better system."""
    significant: bool
    """Whether `p_corrected` is at most alpha."""
    left_out: int = 0
    """Images that are left out because `a` or `b` has no score there."""

    def turned(self) -> Pair:
        """The same seen from `b`."""
        interval = None if self.interval is None else (-self.interval[1], -self.interval[0])
        return replace(self, a=self.b, b=self.a, delta=-self.delta, interval=interval)

    def to_dict(self) -> dict[str, Any]:
        """As in JSON: `left_out` where images are."""
        document = {**asdict(self), "delta": finite(self.delta), "interval": self.interval and list(self.interval)}
        return document if self.left_out else {name: value for name, value in document.items() if name != "left_out"}


def fair(pairs: Iterable[Pair], results: Mapping[str, SystemResult]) -> list[Pair]:
    """The pairs, of which none is significant by a metric that does not bear the lengths of the systems' captions."""
    return [
        replace(pair, significant=False)
        if pair.significant and not comparable(results[pair.a], results[pair.b], pair.metric)
        else pair
        for pair in pairs
    ]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Printable, Keyed["Result"]):
    """Systems compared: a mapping from a system's name to its `Result`, and the pairs.

    Examples:
        >>> comparison = sacrecap.compare(sacrecap.example.references(), sacrecap.example.systems(), "rouge-l")
        >>> list(comparison), f"{comparison['plain']['rouge-l']:.3f}"
        (['careful', 'plain', 'template'], '0.483')
        >>> comparison.ranks("rouge-l")
        {'careful': (1, 1), 'plain': (2, 2), 'template': (3, 3)}
    """

    results: dict[str, Result]
    """The same as the mapping: each system's result by its name, in the order given."""
    pairs: list[Pair]
    """Differences of all metrics for each pair of systems, in the order given."""
    test: str
    """`exact`, `permutation` or `bootstrap`."""
    alpha: float
    """A difference is significant if its corrected p is at most this."""
    correction: str
    """`holm` or `none`."""
    resampling: Resampling
    """How the intervals were made, and how many samples such a test drew."""
    attempts: dict[str, int] = field(default_factory=dict)
    """Of how many attempts on these images a system is the best, where they are several."""

    _field: ClassVar[str] = "results"

    @property
    def image_ids(self) -> list[str]:
        """The images that all systems were scored on."""
        return self._any.image_ids

    @property
    def images(self) -> int:
        """Number of images that all systems were scored on."""
        return self._any.images

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by key."""
        return {key: score.metric for key, score in self._any.items()}

    @cached_property
    def findings(self) -> list[Finding]:
        """What a look at the captions says about the scores: of systems whose lengths differ, and of each system."""
        return of_systems(self.results)

    @property
    def notes(self) -> list[str]:
        """Notes on the scores, intervals and tests, after the names of the systems where they are not of all."""
        systems: dict[str, list[str]] = {}
        for name, result in self.items():
            for note in result.notes:
                systems.setdefault(note, []).append(name)
        if any(pair.left_out for pair in self.pairs):
            systems[COMPLETE] = [*self]
        if apart := [pair for pair in self.pairs if self._is_apart(pair)]:
            more = f" and {len(apart) - 1} more" if len(apart) > 1 else ""
            note = (
                f"{apart[0].a} – {apart[0].b} by {apart[0].metric}{more}: the interval and the p of the difference "
                "disagree on whether it is 0. The interval speaks of other images, too, of which few that differ say "
                "little; the p is of these, and its level is exact."
            )
            systems[note] = [*self]
        for name, attempts in self.attempts.items():
            note = (
                f"the best of {attempts:,} attempts on these images: where it is ahead, p is multiplied by "
                f"{attempts:,}; the less good end of its intervals is further away, so that it holds for each attempt"
            )
            systems.setdefault(note, []).append(name)
        return [note if len(names) == len(self) else f"{', '.join(names)}: {note}" for note, names in systems.items()]

    def _is_apart(self, pair: Pair) -> bool:
        """Whether the interval and the p, before any correction, of a difference on few images disagree."""
        level = self.resampling.interval
        if pair.interval is None or level is None or abs(1 - level - self.alpha) > 1e-9 or self.test == "bootstrap":
            return False
        if (not pair.interval[0] <= 0 <= pair.interval[1]) == (pair.p <= self.alpha):
            return False
        first, other = (self[name][pair.metric].per_image_values() for name in (pair.a, pair.b))
        differ: int = sum(map(ne, first, other))
        return differ < MANY

    def by(self, groups: Mapping[str, Any], column: str = "group") -> Comparison:
        """The comparison with each system's scores of groups of images; see [`Result.by`][sacrecap.Result.by]."""
        return replace(self, results={name: result.by(groups, column) for name, result in self.items()})

    def pair(self, a: str, b: str, metric: str) -> Pair:
        """The pair by a metric in any spelling, seen from `a`. Raises `NotScoredError`, a `KeyError`, if there is none.

        Examples:
            >>> comparison = sacrecap.compare(sacrecap.example.references(), sacrecap.example.systems(), "rouge-l")
            >>> pair = comparison.pair("careful", "template", "rouge-l")
            >>> round(pair.delta, 2), pair.significant
            (0.25, True)
        """
        key = scored(self._any, metric).key
        if (a, b, key) in self._pairs:
            return self._pairs[a, b, key]
        if (b, a, key) in self._pairs:
            return self._pairs[b, a, key].turned()
        raise NotScoredError(f"no pair of {a!r} and {b!r}; compared: {', '.join(self.results)}")

    def ranking(self, metric: str) -> list[str]:
        """The systems by this metric, best first; equal ones in the order given, those without a score last.

        Where scores are missing, by what the systems have on the images that each two share.
        """
        return best_first(self.results, scored(self._any, metric).key)

    def ranks(self, metric: str) -> dict[str, tuple[int, int]]:
        """The best and the worst rank that each system may have by this metric, 1 being the best.

        A system stands behind those that are significantly better and before those that are significantly worse;
        systems that no test separates share their ranks.
        """
        of = scored(self._any, metric)
        significant = (pair for pair in self.pairs if pair.metric == of.key and pair.significant)
        separated = (
            (pair.b, pair.a) if (pair.delta > 0) == of.metric.lower_is_better else (pair.a, pair.b)
            for pair in significant
        )
        return rank_ranges(self, separated)

    @words_of_command_line()  # the document of the command, to the letter
    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap compare`."""
        ranks = {metric: self.ranks(metric) for metric in self.metrics}
        systems = {}
        for name, result in self.items():
            document = result.to_dict()
            parts = ("scores", "intervals", "signatures", "without_score")
            systems[name] = {
                **result.corpus.left_out_in_json(result.images),
                **{part: document[part] for part in parts if part in document},
                "ranks": {metric: list(of_metric[name]) for metric, of_metric in ranks.items()},
                **({"groups": document["groups"]} if "groups" in document else {}),
            }
        return {
            "sacrecap": self._any.version,
            "images": self.images,
            "test": {
                **self.resampling.of_test(self.test),
                "alpha": self.alpha,
                "correction": self.correction,
                **({"attempts": self.attempts} if self.attempts else {}),
            },
            "systems": systems,
            "pairs": [pair.to_dict() for pair in self.pairs],
            **standard_in(self._any.needs),
            "findings": [finding.to_dict() for finding in self.findings],
            **self.resampling.to_dict(),
            **({} if self._any.groups is None else {"by": self._any.groups.column}),
            **({} if self._any.needs.usage is None else {"judge": self._any.needs.usage.to_dict()}),
            **({"notes": self.notes} if self.notes else {}),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """The pairs: one row each, one column per field; the interval as `lower` and `upper`.

        Raises `MissingDependencyError` when pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("Comparison.to_pandas", extra="pandas") from error
        rows = []
        for pair in self.pairs:
            row = asdict(pair)
            row["lower"], row["upper"] = row.pop("interval") or (float("nan"), float("nan"))
            rows.append(row)
        columns = ["a", "b", "metric", "delta", "lower", "upper", "p", "p_corrected", "significant"]
        return pandas.DataFrame(rows, columns=columns)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        systems = "; ".join(f"{name}: {values_of(result)}" for name, result in self.items())
        return f"<Comparison on {counted(self.images, 'image')}: {systems}>"

    @property
    def _any(self) -> Result:
        return next(iter(self.results.values()))

    @cached_property
    def _pairs(self) -> dict[tuple[str, str, str], Pair]:
        return {(pair.a, pair.b, pair.metric): pair for pair in self.pairs}


MANY = 100
"""Images that differ, from which an interval and a p rarely say two things of a difference."""
