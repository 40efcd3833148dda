"""The measurement: judgments × metrics → agreement.

People predict people, too: a metric above this agrees with people better than people agree with each other.

- Forced choices that are decided by votes: the votes are split into halves; the majority of one half is the truth that
  the majority of the other predicts. Averaged over splits. (ABSTRACT-50S: 24 votes against 24.)
- Forced choices with votes of other people in addition to the decision: the majority of these votes predicts it: what
  people like against what is like the captions that people write (CIDEr paper, appendix III).
- Ratings by several people: each one's ratings predict those of the others. (Flickr8k Expert.)
- Shares of yes: one vote of a row predicts the share of the others. (Flickr8k CrowdFlower.)

People and metrics under equal conditions (the CIDEr paper's comparison, 24 of 48 references): one half of a pair's
references judges, by its votes; people predict it by the votes of the other half, and metrics by scores against the
references of that half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from os import PathLike
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from sacrecap import _core
from sacrecap.choices import TIES, Tokenizer
from sacrecap.errors import MissingDependencyError, UsageError, accepted_name, spelled, warn
from sacrecap.judgments.agreement_result import Agreement, Measured, Systems, other_ties
from sacrecap.judgments.agreement_statistics import (
    accuracy,
    correlate,
    counts,
    credit,
    merged,
    over_systems,
    plain,
    preference,
    shares,
    systems_by_metric,
    systems_by_people,
)
from sacrecap.judgments.bootstrap import (
    Columns,
    Estimate,
    Floats,
    MetricPair,
    Williams,
    image_numbers,
    p_value,
    williams,
)
from sacrecap.judgments.datasets.read import read_judgments
from sacrecap.judgments.judged_rows import Pairs, Ratings, usual_metrics
from sacrecap.judgments.row_scorer import RowScorer, drawn_references, first_references, outside_of, unscored
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import computable, parse_metrics, with_columns
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Keywords, Resampling
from sacrecap.scoring.signature import with_part

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
    judged = judgments
    if isinstance(judgments, Ratings):
        judged = replace(judgments, ratings=merged(judgments.ratings, raters))
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
    study = _Study(judged, scorer, ties, raters, resampling)
    for count in dict.fromkeys(references) or (None,):
        study.measure(count, draws)
    return Agreement(
        _core.__version__,
        judgments,
        documents,
        ties,
        raters,
        resampling,
        study.measured,
        people(judgments, ties, resampling, merged_needs.threads, raters),
        direct_votes(judgments, ties, resampling),
        halves_of_references(judged, scorer, halves, ties, resampling) if halves else None,
        study.systems,
        study.comparisons,
        merged_needs.usage,
        study.standard,
    )


@dataclass
class _Study:
    """A measurement against one number of references after the other, and what it has come to."""

    judgments: Pairs | Ratings
    scorer: RowScorer
    ties: str
    raters: str
    resampling: Resampling
    measured: list[Measured] = field(default_factory=list)
    comparisons: list[tuple[int | None, MetricPair]] = field(default_factory=list)
    systems: Systems | None = None
    """By the last number of references."""
    standard: dict[str, Any] = field(default_factory=dict)

    def measure(self, count: int | None, draws: int) -> None:
        """Every metric against the first `count` references, the metrics against one another, and the systems."""
        judgments = self.judgments
        scores, signatures, self.standard = self.scorer.score(judgments, first_references(judgments.rows, count))
        estimates = {name: self.estimate(columns, self.resampling) for name, columns in scores.items()}
        drawn: dict[str, dict[str, list[float]]] = {}
        generator = np.random.default_rng([self.resampling.seed, count or 0])
        for _ in range(draws if count else 0):
            references = drawn_references(judgments.rows, count or 0, generator)
            for name, columns in self.scorer.score(judgments, references).scores.items():
                for statistic, estimate in self.estimate(columns, Resampling(None)).items():
                    drawn.setdefault(name, {}).setdefault(statistic, []).append(estimate.value)
        metrics = {metric.key: metric for metric in self.scorer.metrics}
        for name, columns in scores.items():
            metric, signature, ties, otherwise = metrics[name], signatures[name], None, None
            if isinstance(judgments, Pairs):
                ties = counts(judgments, preference(columns) == 0)
                counted_otherwise = self.estimate(columns, Resampling(None), other_ties(self.ties))
                otherwise = {category: estimate.value for category, estimate in counted_otherwise.items()}
            else:
                signature = with_part(signature, "raters", self.raters)
            self.measured.append(
                Measured(
                    name,
                    metric.label,
                    count,
                    estimates[name],
                    signature,
                    draws=drawn.get(name),
                    scores=columns,
                    ties=ties,
                    otherwise=otherwise,
                    lower_is_better=metric.lower_is_better,
                    unscored=unscored(columns),
                    fitted=judgments.dataset in metric.trained_on,
                )
            )
        self.comparisons += [(count, comparison) for comparison in self._compare(scores, estimates)]
        by_people = systems_by_people(judgments)
        if by_people is not None:
            by_metric = {name: systems_by_metric(judgments, columns) for name, columns in scores.items()}
            agreement = {
                name: over_systems(systems_by_people(judgments, scores[name]) or {}, means)
                for name, means in by_metric.items()
            }
            self.systems = Systems(by_people, by_metric, agreement)

    def estimate(self, columns: Columns, resampling: Resampling, ties: str = "") -> dict[str, Estimate]:
        """The statistics of one metric's scores."""
        if isinstance(self.judgments, Pairs):
            credits = credit(preference(columns), self.judgments.preferred, ties or self.ties)
            return accuracy(credits, self.judgments, resampling)
        images = image_numbers([row.image_id for row in self.judgments.rows])
        return correlate(columns["caption"], self.judgments.ratings, images, resampling, self.scorer.needs.threads)

    def _compare(self, scores: Mapping[str, Columns], estimates: Mapping[str, dict[str, Estimate]]) -> list[MetricPair]:
        """Each pair of metrics by each statistic, on the same draws, of the captions that both have a score of; r of
        ratings by Williams' test, too, where SciPy is there.
        """
        level = self.resampling.interval
        if level is None:
            return []
        tests: dict[tuple[str, str], Williams | None] = {}
        if isinstance(self.judgments, Ratings):
            # Captions without a score by one of the metrics are left out for all: the test needs the same captions.
            scored = ~np.isnan([values["caption"] for values in scores.values()]).any(axis=0)
            columns = {name: values["caption"][scored] for name, values in scores.items()}
            means = np.array(list(map(fmean, self.judgments.ratings)))[scored]
            with_people = {name: plain(column, means)["pearson"] for name, column in columns.items()}
            try:
                for a, b in combinations(columns, 2):
                    between = plain(columns[a], columns[b])["pearson"]
                    tests[a, b] = williams(with_people[a], with_people[b], between, len(means))
            except MissingDependencyError as error:
                warn(f"no Williams' tests: {error}")
        compared = []
        for a, b in combinations(scores, 2):
            first, other = estimates[a], estimates[b]
            if isinstance(self.judgments, Ratings) and (unscored(scores[a]) or unscored(scores[b])):
                missing = np.isnan(scores[a]["caption"]) | np.isnan(scores[b]["caption"])
                in_common = [np.where(missing, np.nan, scores[name]["caption"]) for name in (a, b)]
                first, other = (self.estimate({"caption": values}, self.resampling) for values in in_common)
            for name in first:
                gap, test = first[name] - other[name], tests.get((a, b)) if name == "pearson" else None
                compared.append(MetricPair(a, b, name, gap.value, gap.interval(level), p_value(gap), test))
        return compared


SPLITS = 100
"""Random halves of the votes."""
VOTE_SPLITS = 5
"""Random choices of the predicting vote."""


def people(
    judgments: Pairs | Ratings, ties: str, resampling: Resampling, threads: int = 0, raters: str = "each"
) -> tuple[str, dict[str, Estimate]] | None:
    """How people were split, in words, and their statistics; None if each judgment is one person's. One rater predicts
    each of the others, or their mean or median, as `raters` says.
    """
    if isinstance(judgments, Pairs):
        if judgments.votes is None:
            direct = direct_votes(judgments, ties, resampling)
            return None if direct is None else ("the majority of direct votes predicts the consensus", direct)
        if min((len(votes) for votes in judgments.votes if votes), default=0) < 2:
            return None
        generator = np.random.default_rng(resampling.seed)
        right, decided = np.zeros((2, len(judgments.rows)))
        for _ in range(SPLITS):
            truth, predicted = np.sign(split_votes(judgments.votes, generator))
            right += credit(predicted, truth, ties) * (truth != 0)
            decided += truth != 0
        halves = shares(right, decided, judgments, resampling)
        return f"half of the votes predicts the other half, {SPLITS} splits", halves
    ids, parts = [row.image_id for row in judgments.rows], []
    if judgments.votes is not None:
        generator = np.random.default_rng(resampling.seed)
        several = [number for number, votes in enumerate(judgments.votes) if sum(votes) > 1]
        yes, total = np.array([(judgments.votes[row][0], sum(judgments.votes[row])) for row in several], dtype=float).T
        images = image_numbers([ids[row] for row in several])
        for _ in range(VOTE_SPLITS):
            vote = (generator.random(len(yes)) < yes / total).astype(float)
            rest = (yes - vote) / (total - 1)
            parts.append(correlate(vote, rest[:, None].tolist(), images, resampling, threads))
        return f"one vote predicts the others, {VOTE_SPLITS} splits", Estimate.means(parts)
    raters_of_all = min(map(len, judgments.ratings))
    if raters_of_all < 2:
        return None
    for rater in range(raters_of_all):
        rating = np.array([values[rater] for values in judgments.ratings])
        other_ratings = [(*values[:rater], *values[rater + 1 :]) for values in judgments.ratings]
        parts.append(correlate(rating, merged(other_ratings, raters), image_numbers(ids), resampling, threads))
    predicted = "the others" if raters == "each" else f"the {raters} of the others"
    return f"each rater predicts {predicted}", Estimate.means(parts)


def split_votes(votes: list[list[int]], generator: np.random.Generator) -> Floats:
    """Sums of two random halves of each pair's votes, shape (2, pairs)."""
    shuffled = [(generator.permutation(of_pair), len(of_pair) // 2) for of_pair in votes]
    sums = [(of_pair[:half].sum(), of_pair[half : 2 * half].sum()) for of_pair, half in shuffled]
    halves: Floats = np.array(sums, dtype=np.float64).T
    return halves


def direct_votes(judgments: Pairs | Ratings, ties: str, resampling: Resampling) -> dict[str, Estimate] | None:
    """The majority of the direct votes predicts the decision, by category; None if there are no such votes."""
    if not isinstance(judgments, Pairs) or judgments.direct is None:
        return None
    totals = np.array(list(map(sum, judgments.direct)), dtype=float)
    has_votes = np.array([bool(votes) for votes in judgments.direct]) & (np.asarray(judgments.preferred) != 0)
    right = credit(totals, judgments.preferred, ties) * has_votes
    return shares(right, has_votes.astype(float), judgments, resampling)


PEOPLE = "people"


def halves_of_references(
    judgments: Pairs | Ratings, scorer: RowScorer, splits: int, ties: str, resampling: Resampling
) -> dict[str, dict[str, Estimate]]:
    """Accuracy by category, over this number of random splits, of each metric and of `people`: one half of the votes is
    the truth; people predict it by the other half, and metrics by the references of that half.

    Raises `UsageError` if there is not one vote per reference, or no pair has two references.
    """
    votes = judgments.reference_votes if isinstance(judgments, Pairs) else None
    if not isinstance(judgments, Pairs) or votes is None or max(map(len, votes)) < 2:
        raise UsageError(
            f"{judgments.source} has no vote on each of several references, so these cannot be split into halves; "
            "ABSTRACT-50S, PASCAL-50S and exports of triplet studies have"
        )
    generator = np.random.default_rng(resampling.seed)
    decided = np.zeros(len(judgments.rows))
    right = {name: decided.copy() for name in (*(metric.key for metric in scorer.metrics), PEOPLE)}
    for _ in range(splits):
        sums, references = [], []
        for row, row_votes in zip(judgments.rows, votes, strict=True):
            order = generator.permutation(len(row_votes)).tolist()
            judging, predicting = order[: len(row_votes) // 2], sorted(order[len(row_votes) // 2 :])
            sums.append([sum(row_votes[index] for index in half) for half in (judging, predicting)])
            references.append([row.references[index] for index in predicting])
        truth, by_people = np.sign(np.array(sums, dtype=np.float64).T)
        scores = scorer.score(judgments, references).scores
        decided += truth != 0
        for name in right:
            difference = by_people if name == PEOPLE else preference(scores[name])
            right[name] += credit(difference, truth, ties) * (truth != 0)
    return {name: shares(correct, decided, judgments, resampling) for name, correct in right.items()}
