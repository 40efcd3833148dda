"""Systems compared on the same images: their scores, and for each pair and metric a difference with its p."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import combinations
from operator import ne
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sacrecap import _core
from sacrecap.above import Printable
from sacrecap.choices import CORRECTIONS, TESTS, Correction, EngineName, OnMissing, Test, Tokenizer
from sacrecap.corpus.corpus import CandidateSource, CaptionSource, Corpus
from sacrecap.errors import (
    UsageError,
    accepted_name,
    of_extra,
    option,
    spelled,
    warn,
    whole_number,
    words_of_command_line,
)
from sacrecap.metrics.registry import parse_metrics, with_columns
from sacrecap.resources.needs import Needs
from sacrecap.scoring.findings import Finding, SystemResult, comparable, of_systems
from sacrecap.scoring.intervals import (
    Interval,
    Keywords,
    Resampling,
    jackknife,
    jackknife_differences,
    of_best,
    widened,
)
from sacrecap.scoring.ranks import best_first, corrected, difference, in_common, rank_ranges
from sacrecap.scoring.result import Keyed, NotScoredError, Result, Score, counted, finite, scored, values_of, within
from sacrecap.scoring.score import ScoringEngine, named_engine, score_corpus, standard_in, with_standard
from sacrecap.scoring.signature import OF_CAPTIONS, without

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from sacrecap.metrics import Metric

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
class Comparison(Printable, Keyed[Result]):
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
        if apart := [f"{pair.a} – {pair.b} by {pair.metric}" for pair in self.pairs if self._is_apart(pair)]:
            more = f" and {len(apart) - 1} more" if len(apart) > 1 else ""
            note = (
                f"{apart[0]}{more}: the interval and the p of the difference disagree on whether it is 0. The interval "
                "speaks of other images, too, of which few that differ say little; the p is of these, and its level is "
                "exact."
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
        return bool(sum(map(ne, first, other)) < MANY)

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
        names = a, b, scored(self._any, metric).key
        if names not in self._pairs:
            raise NotScoredError(f"no pair of {a!r} and {b!r}; compared: {', '.join(self.results)}")
        return self._pairs[names]

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
        separated = (
            (pair.b, pair.a) if (pair.delta > 0) == of.metric.lower_is_better else (pair.a, pair.b)
            for pair in self.pairs
            if pair.metric == of.key and pair.significant
        )
        return rank_ranges(self, separated)

    @words_of_command_line()  # the document of the command, to the letter
    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap compare`."""
        ranks = {metric: self.ranks(metric) for metric in self.metrics}
        systems = {}
        for name, result in self.items():
            document = {**result.to_dict(), "ranks": {metric: list(ranks[metric][name]) for metric in ranks}}
            parts = ("scores", "intervals", "signatures", "without_score", "ranks", "groups")
            systems[name] = {
                **result.corpus.left_out_in_json(result.images),
                **{part: document[part] for part in parts if part in document},
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
        with of_extra("pandas", "Comparison.to_pandas"):
            import pandas
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
        """Each pair, seen from both systems."""
        return {(pair.a, pair.b, pair.metric): pair for each in self.pairs for pair in (each.turned(), each)}


MANY = 100
"""Images that differ, from which an interval and a p rarely say two things of a difference."""


_FEW_TO_DRAW = 30
"""With fewer images, the bootstrap test finds differences that are not there."""


class Significance(NamedTuple):
    """When a difference counts; its fields are arguments of `compare`."""

    test: Test = "exact"
    alpha: float = 0.05
    correction: Correction = "holm"
    attempts: Mapping[str, int] = {}
    """Of how many attempts a system is the best, where they are several."""

    @classmethod
    def of(
        cls,
        systems: Iterable[str],
        test: Test | None = None,
        alpha: float = 0.05,
        correction: Correction = "holm",
        attempts: int | Mapping[str, int] = 1,
    ) -> Significance:
        """That of a call. Raises `UsageError` for arguments that do not allow a comparison of the systems."""
        names = list(systems)
        accepted_name("test", test or "exact", TESTS)
        accepted_name("correction", correction, CORRECTIONS)
        if len(names) < 2:
            received = "one system was given" if names else "no system was given"
            alone = spelled(python="sacrecap.score", command="sacrecap score")
            raise UsageError(f"a comparison takes two systems or more, {received}; {alone} scores a single one")
        if not 0 < alpha < 1:
            raise UsageError(f"alpha must be a level of significance between 0 and 1, as 0.05, got {alpha}")
        by_system = attempts if isinstance(attempts, Mapping) else dict.fromkeys(names, attempts)
        for name, number in by_system.items():
            if name not in names:
                raise UsageError(f"attempts names {name!r}, which is no system; the systems are {', '.join(names)}")
            whole_number(f"attempts of {name}" if isinstance(attempts, Mapping) else "attempts", number, 1)
        several = {name: by_system[name] for name in names if by_system.get(name, 1) > 1}
        return cls(test or "exact", alpha, correction, several)


def compare(
    references: CaptionSource | Sequence[str] | None,
    systems: Mapping[str, CandidateSource | Sequence[str]] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "coco",
    *,
    tokenizer: Tokenizer = "ptb",
    needs: Needs | Mapping[str, object] | None = None,
    on_missing: OnMissing = "error",
    test: Test | None = None,
    alpha: float = 0.05,
    correction: Correction = "holm",
    attempts: int | Mapping[str, int] = 1,
    resampling: Resampling | None = None,
    threads: int = 0,
    engine: EngineName | ScoringEngine = "local",
    progress: Callable[[float], object] | None = None,
    **keywords: Unpack[Keywords],
) -> Comparison:
    """Scores several systems on the same images, and tests each pair of them by each metric.

    Args:
        references: `{image id: [caption, …]}`, or the path of a file in any format `sacrecap score` reads; None where
            no metric needs references: then the images are those of the first system.
        systems: for each system's name `{image id: caption}`, or a path; two at least.
        metrics: comma-separated names or groups, metric values, or a mixture.
        tokenizer: see [`sacrecap.tokenize`][].
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][].
        on_missing: how to treat an image without candidate: `error`, `skip` (no system is scored on it) or `zero`.
        test: `exact`, the permutation test without drawing, the default; `permutation`, which draws (approximate
            randomisation; Noreen 1989); or `bootstrap` (Koehn 2004; Riezler and Maxwell 2005).
        alpha: a difference is significant where its corrected p is at most this.
        correction: `holm` (Holm 1979), over the pairs of systems, for each metric; or `none`.
        attempts: of how many attempts on these images (submissions, checkpoints, settings) each system is the best: one
            number, or a number by the system's name.
        resampling: how uncertainty is told, as for [`sacrecap.score`][]: of scores and of differences.
        threads: number of threads; 0 means one per core; results are the same bits for any number.
        engine: as for [`sacrecap.score`][].
        progress: as for [`sacrecap.score`][].
        **keywords: what the metrics of sacrecap need, and how uncertainty is told, by keyword, as for
            [`sacrecap.score`][].

    Raises:
        DataError: references or candidates are unusable, or do not fit together.
        UsageError: fewer than two systems, an unknown name or an unacceptable value.

    Examples:
        >>> systems = sacrecap.example.systems()
        >>> comparison = sacrecap.compare(sacrecap.example.references(), systems, "rouge-l")
        >>> comparison.ranking("rouge-l")
        ['careful', 'plain', 'template']
    """
    by_name: object = systems
    if isinstance(metrics, Mapping) or not (by_name is None or isinstance(by_name, Mapping)):
        what = "one by one" if isinstance(metrics, Mapping) else f"as a {type(by_name).__name__}"
        raise UsageError(f"the systems were given {what}; give them by their names, as {{'a': …, 'b': …}}")
    how, needed = Resampling.of(resampling, keywords)
    merged_needs = Needs.of(needs, needed, threads=threads, progress=progress)
    parsed_metrics = with_columns(parse_metrics(metrics, merged_needs), merged_needs)
    if references is None and (of_references := [metric for metric in parsed_metrics if metric.needs_references]):
        raise UsageError(f"{of_references[0].label} needs references; None is for metrics that need none")
    significance = Significance.of(systems or {}, test, alpha, correction, attempts)
    if elsewhere := named_engine(engine, merged_needs):
        if references is None:
            raise UsageError("captions are compared without references by engine local alone; leave the engine out")
        return elsewhere.compare(
            references,
            systems,
            parsed_metrics,
            needs=merged_needs,
            tokenizer=tokenizer,
            on_missing=on_missing,
            significance=significance,
            resampling=how,
        )
    merged_needs.begin("tokenising")
    threads = merged_needs.threads
    corpora = Corpus.of_systems(references, systems or {}, tokenizer=tokenizer, on_missing=on_missing, threads=threads)
    if any("rivals" in part.needs for metric in parsed_metrics for part in metric.parts):
        merged_needs = merged_needs.with_({"rivals": corpora})
    needs_of = dict.fromkeys(corpora, merged_needs)
    if "scores" in merged_needs:
        from sacrecap.metrics.outside import for_system

        needs_of = {name: for_system(merged_needs, name) for name in corpora}
    needs_of = with_standard(parsed_metrics, corpora, needs_of)
    # Intervals are drawn for all systems together.
    results = {name: score_corpus(corpus, parsed_metrics, needs=needs_of[name]) for name, corpus in corpora.items()}
    merged_needs.begin("resampling")
    return compare_results(results, significance, how)


def compare_results(
    results: Mapping[str, Result], significance: Significance | None = None, resampling: Resampling | None = None
) -> Comparison:
    """Compares systems that were scored before. Raises `UsageError` unless by the same metrics on the same images."""
    significance, resampling = significance or Significance(), resampling or Resampling()
    (first, reference), *rest = results.items()
    for name, other in rest:
        if other.image_ids != reference.image_ids:
            raise UsageError(
                f"{name} was scored on other images than {first}, or in another order; score both on the same"
            )
        signatures = [[without(of.signature, *OF_CAPTIONS) for of in both.values()] for both in (reference, other)]
        if signatures[0] != signatures[1]:
            raise UsageError(
                f"{name} was scored by other metrics than {first}, or with other parameters; score both the same way"
            )
    warn_of_weak_tests(len(reference.image_ids), len(results), significance, resampling.samples)
    bounds, pairs = tested(results, list(reference), significance, resampling, reference.needs.threads)
    if resampling.interval is not None:
        if resampling.interval_method == "jackknife":
            bounds = [
                jackknife(score.rows, resampling.interval, score.metric.largest, score.metric.smallest)
                for result in results.values()
                for score in result.values()
            ]
        results = with_intervals(results, bounds, resampling, significance.attempts)
    test, alpha, correction, attempts = significance
    return Comparison(dict(results), fair(pairs, results), test, alpha, correction, resampling, dict(attempts))


def tested(
    results: Mapping[str, Mapping[str, Score]],
    metrics: Sequence[str],
    significance: Significance,
    resampling: Resampling,
    threads: int,
) -> tuple[list[Interval], list[Pair]]:
    """Intervals of the scores, if the bootstrap was drawn, system by system; and every two systems by each metric.

    A pair of which one system has no score of some images is of those that both have.
    """
    tables = [[result[key].rows for key in metrics] for result in results.values()]
    bounds, between, p = _paired(tables, significance.test, resampling, threads)
    names = [(a, b, key) for a, b in combinations(results, 2) for key in metrics]
    pairs = []
    for (a, b, key), whole_interval, whole_p in zip(names, between, p, strict=True):
        first, other, interval, p_value, left_out = results[a][key], results[b][key], whole_interval, whole_p, 0
        common = in_common(first, other)
        if common is not None:
            left_out, interval, p_value = first.rows.rows - common[0].rows, None, 1.0
            if common[0].rows > 1:
                _, [interval], [p_value] = _paired(
                    [[table] for table in common], significance.test, resampling, threads
                )
        delta = difference(first, other)
        if interval is not None and resampling.interval is not None and significance.attempts:
            # The best of many attempts is ahead by luck: that of a raises the difference, that of b lowers it.
            luck = (b, a) if first.metric.lower_is_better else (a, b)
            raising, lowering = (significance.attempts.get(system, 1) for system in luck)
            interval = of_best(delta, interval, resampling.interval, raising, lowering)
        interval = interval if math.isfinite(delta) else None
        pairs.append(Pair(a, b, key, delta, interval, p_value, p_value, significant=False, left_out=left_out))
    corrected_p: dict[tuple[str, str, str], float] = {}
    for metric in metrics if pairs else ():
        corrected_p |= _corrected(results, [pair for pair in pairs if pair.metric == metric], significance)
    return bounds, [
        replace(pair, p_corrected=corrected_p[key], significant=corrected_p[key] <= significance.alpha)
        for pair, key in zip(pairs, names, strict=True)
    ]


def _paired(
    rows: Sequence[Sequence[_core.Statistics]], test: Test, resampling: Resampling, threads: int
) -> tuple[list[Interval], list[Interval | None], list[float]]:
    """Intervals of scores, if the bootstrap was drawn, by system; of differences, if wanted, and p, by pair."""
    level, samples, seed = resampling.interval, resampling.samples, resampling.seed
    between: list[Interval | None] = [None] * (len(rows[0]) * math.comb(len(rows), 2))
    bounds: list[Interval] = []
    p: list[float] = []
    is_percentile = level is not None and resampling.interval_method == "percentile"
    if is_percentile or test == "bootstrap":
        wide = widened(level or 0.95, rows[0][0].rows)
        bounds, differences = _core.paired_bootstrap(rows, samples, wide, seed, threads)
        p = [p_value for _, p_value in differences]
        if is_percentile:
            between = [limits for limits, _ in differences]
    if level is not None and not is_percentile:
        between = list(jackknife_differences(rows, level))
    if test == "exact":
        p = _core.paired_exact(rows, threads)
    elif test == "permutation":
        p = _core.paired_permutation(rows, samples, seed, threads)
    return bounds, between, p


def _corrected(
    results: Mapping[str, Mapping[str, Score]], pairs: Sequence[Pair], significance: Significance
) -> dict[tuple[str, str, str], float]:
    """The p of a metric's pairs, times the attempts of the better system, corrected for the number of pairs.

    That one of N attempts is wrongly ahead at p / N has the probability p at most. The other's attempts need no
    correction: its best score is the hardest to be ahead of.
    """
    metric = pairs[0].metric
    systems = best_first(results, metric)
    sign = -1 if results[systems[0]][metric].metric.lower_is_better else 1
    p, against = {}, set()
    for pair in pairs:
        better, worse = sorted((pair.a, pair.b), key=systems.index)
        # Where scores are missing, the first may be better than the second, that than the third, and it than the first.
        is_behind = sign * (pair.delta if better == pair.a else -pair.delta) < 0
        if is_behind:
            against.add((better, worse))
        p[better, worse] = 1.0 if is_behind else min(1.0, significance.attempts.get(better, 1) * pair.p)
    if significance.correction == "holm":
        p = {**corrected(systems, p), **dict.fromkeys(against, 1.0)}
    return {
        (a, b, metric): value for (better, worse), value in p.items() for a, b in ((better, worse), (worse, better))
    }


def warn_of_weak_tests(images: int, systems: int, significance: Significance, samples: int) -> None:
    """Warns of tests that find too much, or cannot find anything."""
    test, alpha, correction, _ = significance
    if test == "bootstrap" and images < _FEW_TO_DRAW:
        sample = "1 image" if images == 1 else f"{images} images"
        warn(
            f"the bootstrap test on {sample} finds differences that are not there; take "
            f"{option('test', 'exact')} below {_FEW_TO_DRAW}"
        )
    tests = systems * (systems - 1) // 2 if correction == "holm" else 1
    least = math.ceil(tests / alpha - 1e-9) - 1
    if test != "exact" and samples < least:
        warn(
            f"with {samples:,} samples no p is below {1 / (samples + 1):.2g}, no corrected one of {tests:,} pairs "
            f"below {tests / (samples + 1):.2g}: nothing can be significant at {alpha:g}; take {least:,} samples"
        )


def with_intervals(
    results: Mapping[str, Result], bounds: Sequence[Interval], resampling: Resampling, attempts: Mapping[str, int]
) -> dict[str, Result]:
    """The results with these intervals, system by system, metric by metric: of systems that are the best of several
    attempts, with those of the best of so many.
    """
    intervals, changed = iter(bounds), {}
    for name, result in results.items():
        scores, several = {}, attempts.get(name, 1)
        for key, attempt in result.scores.items():
            score = within(attempt, next(intervals), resampling)
            if several > 1 and resampling.interval is not None and score.interval is not None:
                metric = score.metric
                below, above = (1, several) if metric.lower_is_better else (several, 1)
                low, high = of_best(score.value, score.interval, resampling.interval, below, above)
                most = math.inf if metric.largest is None else max(metric.largest, high if above == 1 else score.value)
                least = -math.inf if metric.smallest is None else metric.smallest
                score = replace(score, interval=(max(low, least), min(high, most)))
            scores[key] = score
        changed[name] = replace(result, resampling=resampling, scores=scores)
    return changed
