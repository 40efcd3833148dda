"""The measurement: judgments × metrics → agreement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from os import PathLike
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from sacrecap import _core
from sacrecap.choices import TIES
from sacrecap.errors import MissingDependencyError, UsageError, accepted_name, spelled, warn
from sacrecap.judgments import accuracy, correlation, systems
from sacrecap.judgments.agreement_result import Agreement, Measured, Systems, other_ties
from sacrecap.judgments.bootstrap import Estimate, MetricPair, image_numbers, p_value, williams
from sacrecap.judgments.ceiling import direct_votes, halves_of_references, people
from sacrecap.judgments.datasets.read import read_judgments
from sacrecap.judgments.judged_rows import Pairs, Ratings, usual_metrics
from sacrecap.judgments.row_scorer import RowScorer, drawn_references, first_references, outside_of, unscored
from sacrecap.metrics.not_scored import computable
from sacrecap.metrics.registry import parse_metrics, with_columns
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Keywords, Resampling
from sacrecap.scoring.signature import with_part

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from sacrecap.choices import Tokenizer
    from sacrecap.judgments.bootstrap import Floats
    from sacrecap.judgments.row_scorer import Columns
    from sacrecap.metrics import Metric


def agreement(
    judgments: Pairs | Ratings | str | PathLike[str],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    references: Sequence[int] = (),
    draws: int = 0,
    halves: int = 0,
    documents: str = "rows",
    ties: str = "wrong",
    raters: str = "each",
    tokenizer: Tokenizer = "ptb",
    needs: Needs | Mapping[str, object] | None = None,
    resampling: Resampling | None = None,
    kept_in: str | PathLike[str] | None = None,
    threads: int = 0,
    progress: Callable[[float], object] | None = None,
    **keywords: Unpack[Keywords],
) -> Agreement:
    """How well metrics agree with people.

    Args:
        judgments: what [`read_judgments`][sacrecap.judgments.read_judgments] read, or the path of a file or folder.
        metrics: names, groups or values, as for [`sacrecap.score`][]; by default `coco`, and `diversity` where people
            rated caption sets.
        references: numbers of references to score against (the first ones of each row); all by default. Against 0, only
            the metrics are measured that can do without, such as VIFIDEL.
        draws: for each number, also this many random draws of references; their spread is the band around a curve.
        halves: number of splits of the references into halves. One half judges by its votes, the other predicts: people
            and metrics under equal conditions. For judgments with a vote per reference.
        documents: what document frequencies count: `rows` or `images`.
        ties: what a metric's tie counts as in a forced choice: `wrong` or `half`.
        raters: what is a data point where several people rated a caption: `each` rating, or their `mean` or `median`.
        tokenizer: as for `sacrecap.score`.
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][].
        resampling: how uncertainty is told, as for [`sacrecap.score`][]; percentile intervals of multinomial samples.
        kept_in: a folder in which the scores of each metric are kept, so that a call that was cut off goes on there.
        threads: number of threads; 0 means one per core; results do not depend on it.
        progress: as for [`sacrecap.score`][].
        **keywords: what the metrics of sacrecap need, and how uncertainty is told, by keyword, as for `sacrecap.score`;
            `objects` are those in the judgments' file by default, if it has them, and `document_frequency` replaces
            `documents`. `scores` that others computed may also be by name and column of candidates, `{"mine":
            {"caption": …}}`, or `"b"` and `"c"` for pairs, each a number for each judgment, in the judgments' order.

    Raises:
        DataError: the judgments or scores cannot be used.
        UsageError: an unknown name or an unacceptable value.
    """
    accepted_name("ties", ties, TIES)
    resampling, needed = Resampling.of(resampling, keywords)
    for name, value in resampling.to_dict().items():
        raise UsageError(
            f"{name} {value!r} is not for agreement, whose intervals are percentiles of multinomial samples"
        )
    if min(draws, halves) < 0:
        raise UsageError(f"draws and halves must be at least 0, got {min(draws, halves)}")
    if isinstance(judgments, (str, PathLike)):
        judgments = read_judgments(judgments)
    merged = judgments
    if isinstance(judgments, Ratings):
        merged = replace(judgments, ratings=correlation.merged(judgments.ratings, raters))
    elif raters != "each":
        raise UsageError(f"raters {raters!r} is for ratings, and {judgments.source} has pairs; leave it out")
    if draws and not references:
        numbers = spelled(python="references=[1, 5]", command="--references 1,5")
        raise UsageError(f"draws are of a number of references; name the numbers, such as {numbers}")
    merged_needs = Needs.of(needs, needed, threads=threads, progress=progress)
    if "objects" not in merged_needs and judgments.objects is not None:
        merged_needs = merged_needs.with_({"objects": judgments.objects})
    chosen = usual_metrics(judgments) if metrics is None else metrics
    outside = outside_of(merged_needs, judgments)
    if outside:
        merged_needs = merged_needs.with_({"scores": next(iter(outside.values()))})
    parsed_metrics = with_columns(computable(parse_metrics(chosen, merged_needs)), merged_needs)
    scorer = RowScorer(parsed_metrics, documents, tokenizer, merged_needs, outside, kept_in)
    study = _Study(merged, scorer, ties, raters, resampling)
    measured: list[Measured] = []
    comparisons: list[tuple[int | None, MetricPair]] = []
    of_systems: Systems | None = None
    for count in dict.fromkeys(references) or (None,):
        # Systems are judged by the last number of references.
        estimates, compared, of_systems = study.measure(count, draws)
        measured += estimates
        comparisons += [(count, comparison) for comparison in compared]
    return Agreement(
        _core.__version__,
        judgments,
        documents,
        ties,
        raters,
        resampling,
        measured,
        people(judgments, ties, resampling, merged_needs.threads, raters),
        direct_votes(judgments, ties, resampling),
        halves_of_references(merged, scorer, halves, ties, resampling) if halves else None,
        of_systems,
        comparisons,
        merged_needs.usage,
        study.standard,
    )


@dataclass
class _Study:
    """The parts of a measurement that are the same for any number of references."""

    judgments: Pairs | Ratings
    scorer: RowScorer
    ties: str
    raters: str
    resampling: Resampling
    standard: dict[str, Any] = field(default_factory=dict)

    def measure(self, count: int | None, draws: int) -> tuple[list[Measured], list[MetricPair], Systems | None]:
        """Every metric against the first `count` references, the metrics against one another, and the systems."""
        judgments = self.judgments
        scores, signatures, self.standard = self.scorer.score(judgments, first_references(judgments.rows, count))
        estimates = {name: self.estimate(columns, self.resampling) for name, columns in scores.items()}
        spread = self._draw(count, draws) if count and draws else {}
        metrics = {metric.key: metric for metric in self.scorer.metrics}
        measured = []
        for name, columns in scores.items():
            metric, signature, ties, otherwise = metrics[name], signatures[name], None, None
            if isinstance(judgments, Pairs):
                ties = accuracy.tied(accuracy.difference(columns), judgments)
                counted_otherwise = self.estimate(columns, Resampling(None), other_ties(self.ties))
                otherwise = {category: estimate.value for category, estimate in counted_otherwise.items()}
            else:
                signature = with_part(signature, "raters", self.raters)
            measured.append(
                Measured(
                    name,
                    metric.label,
                    count,
                    estimates[name],
                    signature,
                    draws=spread.get(name),
                    scores=columns,
                    ties=ties,
                    otherwise=otherwise,
                    lower_is_better=metric.lower_is_better,
                    unscored=unscored(columns),
                    fitted=judgments.dataset in metric.trained_on,
                )
            )
        return measured, self._compare(scores, estimates), self._of_systems(scores)

    def estimate(self, columns: Columns, resampling: Resampling, ties: str = "") -> dict[str, Estimate]:
        """The statistics of one metric's scores."""
        if isinstance(self.judgments, Pairs):
            credits = accuracy.credit(accuracy.difference(columns), self.judgments.preferred, ties or self.ties)
            return accuracy.accuracy(credits, self.judgments, resampling)
        images = image_numbers([row.image_id for row in self.judgments.rows])
        threads = self.scorer.needs.threads
        return correlation.correlate(columns["caption"], self.judgments.ratings, images, resampling, threads)

    def _draw(self, count: int, draws: int) -> dict[str, dict[str, list[float]]]:
        """Values of each statistic of each metric over random draws of references."""
        generator = np.random.default_rng([self.resampling.seed, count])
        values: dict[str, dict[str, list[float]]] = {}
        without = Resampling(None)
        for _ in range(draws):
            drawn = drawn_references(self.judgments.rows, count, generator)
            for name, columns in self.scorer.score(self.judgments, drawn).scores.items():
                for statistic, estimate in self.estimate(columns, without).items():
                    values.setdefault(name, {}).setdefault(statistic, []).append(estimate.value)
        return values

    def _of_systems(self, scores: Mapping[str, Columns]) -> Systems | None:
        by_people = systems.by_people(self.judgments)
        if by_people is None:
            return None
        by_metric = {name: systems.by_metric(self.judgments, columns) for name, columns in scores.items()}
        agreement = {
            name: systems.agreement(systems.by_people(self.judgments, scores[name]) or {}, means)
            for name, means in by_metric.items()
        }
        return Systems(by_people, by_metric, agreement)

    def _compare(self, scores: Mapping[str, Columns], estimates: Mapping[str, dict[str, Estimate]]) -> list[MetricPair]:
        """Each pair of metrics by each statistic, on the same draws, of the captions that both have a score of."""
        level = self.resampling.interval
        if level is None:
            return []
        compared = []
        for a, b in combinations(scores, 2):
            first, other = estimates[a], estimates[b]
            if isinstance(self.judgments, Ratings) and (unscored(scores[a]) or unscored(scores[b])):
                missing = np.isnan(scores[a]["caption"]) | np.isnan(scores[b]["caption"])
                in_common = [np.where(missing, np.nan, scores[name]["caption"]) for name in (a, b)]
                first, other = (self.estimate({"caption": values}, self.resampling) for values in in_common)
            for name in first:
                gap = first[name] - other[name]
                compared.append(MetricPair(a, b, name, gap.value, gap.interval(level), p_value(gap)))
        return compared if isinstance(self.judgments, Pairs) else _with_williams(compared, scores, self.judgments)


def _with_williams(compared: list[MetricPair], scores: Mapping[str, Columns], judgments: Ratings) -> list[MetricPair]:
    """Pearson's r by Williams' test too, over captions with their mean ratings; left out without SciPy."""

    def pearson(x: Floats, y: Floats) -> float:
        return correlation.plain(x, y)["pearson"]

    # Captions without a score by one of the metrics are left out for all: the test needs the same captions.
    scored = ~np.isnan([values["caption"] for values in scores.values()]).any(axis=0)
    means = np.array(list(map(fmean, judgments.ratings)))[scored]
    columns = {name: values["caption"][scored] for name, values in scores.items()}
    people = {name: pearson(column, means) for name, column in columns.items()}
    try:
        return [
            replace(c, williams=williams(people[c.a], people[c.b], pearson(columns[c.a], columns[c.b]), len(means)))
            if c.statistic == "pearson"
            else c
            for c in compared
        ]
    except MissingDependencyError as error:
        warn(f"no Williams' tests: {error}")
        return compared
