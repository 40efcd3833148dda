"""A board: references that stay with the host, and systems of which it tells scores, ranks, pairs.

It tells what a board may tell of hidden references (docs/howto/make-a-board.md), and nothing else: no caption, no score
of an image, no digit beyond the fourth. Places of systems are by all its tests at once.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from sacrecap._core import Statistics
from sacrecap.above import Printable
from sacrecap.boards.examination import CaptionLimits, degenerate
from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import CandidateSource, CaptionSource, Corpus, as_references
from sacrecap.errors import DataError, UsageError, first_of
from sacrecap.metrics import Metric
from sacrecap.metrics.bleu import Bleu
from sacrecap.metrics.outside import for_system
from sacrecap.metrics.registry import parse_metrics, with_columns
from sacrecap.resources.needs import Needs
from sacrecap.resources.outside_scores import OutsideScores
from sacrecap.scoring.comparison import Pair, Significance, tested, with_intervals
from sacrecap.scoring.findings import comparable
from sacrecap.scoring.intervals import Interval, Resampling
from sacrecap.scoring.ranks import Name, best_first, corrected, rank_ranges
from sacrecap.scoring.result import Result, Score
from sacrecap.scoring.score import score_corpus
from sacrecap.scoring.signature import OF_CAPTIONS, without

ALPHA = 0.05


def rounded_score(value: float) -> float:
    """The number as anybody but the server may know it."""
    # Adding 0 makes 0 of -0, whose sign would tell more.
    return round(value, 4) + 0.0


def pseudo_values(statistics: Statistics) -> npt.NDArray[np.float64]:
    """What each image adds to the score, float64 of shape (images,): its pseudo-value (Quenouille 1956)."""
    without = np.frombuffer(statistics.scores_without_each())
    return len(without) * statistics.score() - (len(without) - 1) * without


def hangs_on_few(values: npt.NDArray[np.float64]) -> bool:
    """Whether fewer than 5 % of the images count; also if none adds anything, which would tell as much.

    Less than one of a million is nothing: BLEU starts from matches of 1e-15, and sums round.
    """
    squares = np.where(np.abs(values) < 1e-6, 0.0, values) ** 2
    return bool(squares.sum() ** 2 <= 0.05 * len(values) * (squares**2).sum())


@dataclass(frozen=True)
class Standing:
    """The ranks that a system may have on a board, and how they come about."""

    first: int
    last: int
    """Between these ranks, by all tests of the board at once."""
    better: int = 0
    """Number of others that it is better than."""
    worse: int = 0
    """Number of others that are better."""
    level: int = 0
    """Number of others that no test separates from it."""
    attempts: int = 1
    """Of how many attempts it is the best, by scores on the images that are shown."""

    @property
    def rank(self) -> str:
        """`2`, or `1–3` where no test separates it from its neighbours."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"

    @property
    def explanation(self) -> str:
        """How the rank comes about: `better than 4, worse than 2, not separated from 3`."""
        counts = ("better than", self.better), ("worse than", self.worse), ("not separated from", self.level)
        phrases = ", ".join(f"{words} {count}" for words, count in counts if count) or "the only one"
        return phrases if self.attempts == 1 else f"{phrases}; the best of {self.attempts} submissions"


def standings(
    ordered: Sequence[Name], tests: Mapping[tuple[Name, Name], float], attempts: Mapping[Name, int]
) -> tuple[dict[Name, Standing], set[tuple[Name, Name]]]:
    """The places of systems, of which `ordered` has the best score first; and the pairs (better, worse) that a test
    finds to differ.

    `tests` have the p of pairs (ahead, behind), by the test's own difference; scores on a board are rounded: where they
    say otherwise, p is 1. It is times the `attempts` of which a system is the best.
    """
    p = {pair: min(1.0, tests.get(pair, 1.0) * attempts.get(pair[0], 1)) for pair in combinations(ordered, 2)}
    separated = {pair for pair, value in corrected(ordered, p).items() if value <= ALPHA}
    ranks = rank_ranges(ordered, separated)
    places = {}
    for name in ordered:
        better, worse = (sum(pair[side] == name for pair in separated) for side in (0, 1))
        level = len(ordered) - 1 - better - worse
        places[name] = Standing(*ranks[name], better, worse, level, attempts.get(name, 1))
    return places, separated


@dataclass(frozen=True)
class ToldScore:
    """A score and its interval in the decimals that leave; 0 throughout if it hangs on few images."""

    value: float | None
    """None where no image has a score."""
    interval: Interval | None


@dataclass(frozen=True)
class BoardRow:
    """A team's best system."""

    team: str
    system: str
    scores: dict[str, ToldScore] = field(repr=False)
    standings: dict[str, Standing] = field(repr=False)
    """Its places, by the key of the metric."""


@dataclass(frozen=True)
class ToldPair:
    """The difference of two systems by one metric, as anybody may know it: that of `a` minus that of `b`."""

    a: str
    b: str
    metric: str
    difference: float | None
    """Of the scores that are told."""
    interval: Interval | None
    p: str | None
    """Below which limit p is; None, as the interval, if they differ in few images only."""
    better: str | None
    """The one that is better, by all tests of the board at once."""


@dataclass(frozen=True)
class Board(Printable):
    """Rows in order of a metric, and the pairs of their systems."""

    version: str
    images: int
    metrics: dict[str, Metric]
    """By key, the one that ranks first."""
    signatures: dict[str, str]
    rank_by: str
    """The key of the metric whose ranks the rows show, and which finds a team's best system."""
    rows: list[BoardRow]
    pairs: list[ToldPair]
    refused: dict[str, list[str]]
    """What is wrong with systems that are not on the board."""
    resampling: ClassVar[Resampling] = Resampling(1 - ALPHA)
    """How its intervals are made."""

    def ranks(self, metric: str | None = None) -> dict[str, tuple[int, int]]:
        """The best and the worst rank that each system may have, 1 being the best.

        By default of the metric that ranks. Raises `KeyError` for another one than the board's.
        """
        places = {row.system: row.standings[metric or self.rank_by] for row in self.rows}
        return {system: (place.first, place.last) for system, place in places.items()}

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap board`."""
        return {
            "sacrecap": self.version,
            "images": self.images,
            "rank_by": self.rank_by,
            "systems": {
                row.system: {
                    "team": row.team,
                    **document_of(row.scores),
                    "ranks": {key: [place.first, place.last] for key, place in row.standings.items()},
                    "attempts": row.standings[self.rank_by].attempts,
                }
                for row in self.rows
            },
            "pairs": [{**vars(pair), "interval": pair.interval and list(pair.interval)} for pair in self.pairs],
            "signatures": self.signatures,
            "refused": self.refused,
        }


def document_of(scores: Mapping[str, ToldScore]) -> dict[str, Any]:
    """The scores and intervals by metric, as JSON has them."""
    return {
        "scores": {key: score.value for key, score in scores.items()},
        "intervals": {key: score.interval and list(score.interval) for key, score in scores.items()},
    }


def board(
    references: CaptionSource,
    teams: Mapping[str, Mapping[str, CandidateSource]],
    metrics: str | Metric | Iterable[str | Metric] = "coco",
    *,
    rank_by: str | None = None,
    tokenizer: Tokenizer = "ptb",
    limits: CaptionLimits | None = None,
    needs: Needs | Mapping[str, object] | None = None,
    threads: int = 0,
) -> Board:
    """Scores all systems, and ranks the best of each team: what a host may publish of references that stay hidden.

    Args:
        references: `{image id: [caption, …]}`, or the path of a file in any format `sacrecap score` reads.
        teams: for each team's name its systems by name, each `{image id: caption}` or a path; a system's name is given
            once. [`Contest`][sacrecap.boards.Contest] finds both in a folder.
        metrics: comma-separated names or groups, metric values, or a mixture.
        rank_by: the metric whose ranks the rows show, and which finds a team's best; CIDEr-D by default, or else the
            first.
        tokenizer: see [`sacrecap.tokenize`][].
        limits: how many captions of a system may be degenerate or the same; one with more is refused. With a BLEU among
            the metrics, a caption shorter than its n-grams is degenerate too.
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][]. Columns of `scores` are metrics
            of the board; their range is told only where it is declared, as in `"llm(range=1..5)"`.
        threads: number of threads; 0 means one per core; results are the same bits for any number.

    Raises:
        DataError: the references cannot be read, or no system can be scored.
        UsageError: an unknown metric, or one to rank by that is not scored.

    Examples:
        >>> teams = {name: {name: captions} for name, captions in sacrecap.example.systems().items()}
        >>> made = sacrecap.boards.board(sacrecap.example.references(), teams, "cider-d")
        >>> made.ranks(), made.rows[0].scores["cider-d"].value
        ({'careful': (1, 1), 'plain': (2, 2), 'template': (3, 3)}, 1.8334)
    """
    merged_needs = Needs.of(needs, {}, threads=threads)
    chosen = with_columns(parse_metrics(metrics, merged_needs), merged_needs)
    described = as_references(references)
    limits = limits_for(limits or CaptionLimits(), chosen)
    best: Best[Result] = Best(ranking(chosen, rank_by, merged_needs))
    refused: dict[str, list[str]] = {}
    for team, systems in teams.items():
        for system, source in systems.items():
            if system in best.team_of or system in refused:
                raise UsageError(f"two teams have a system called {system!r}; give each a name of its own")
            try:
                corpus = Corpus(described, source, tokenizer=tokenizer, on_missing="skip", threads=merged_needs.threads)
                of_system = for_system(merged_needs, system)
            except DataError as error:
                refused[system] = [without_folders(str(error), source, merged_needs.get("scores"))]
                continue
            captions = [corpus.captions(image)[0] or "" for image in corpus.image_ids]
            captioned, images = {*corpus.image_ids}, described.image_ids
            if missing := [image for image in images if image not in captioned]:
                refused[system] = [f"No caption for {len(missing):,} of {len(images):,} images: {first_of(missing)}."]
            elif faults := degenerate(captions, limits):
                refused[system] = faults
            else:
                result = score_corpus(corpus, chosen, needs=of_system)
                best.add(team, system, told_score(result[best.metric.key]).value, result)
    results = best.systems()
    if not results:
        reasons = "; ".join(f"{system}: {' '.join(faults)}" for system, faults in refused.items())
        raise DataError(f"no system can be scored{': ' if reasons else ''}{reasons}")
    return ranked_board(results, best, best.attempts(), refused)


Content = TypeVar("Content")


class Best(Generic[Content]):
    """The best systems of each team, so many `rows`, by what is told of them, as they are scored one after the other.

    The metric decides; of equal systems the earlier goes before; `final` ones, their teams' choice, go before others.
    """

    def __init__(self, metric: Metric, rows: int = 1, final: Collection[str] = ()) -> None:
        self.metric, self._rows, self._final = metric, rows, final
        self._of: dict[str, list[tuple[tuple[bool, bool, float], str, Content]]] = {}
        self._attempts: Counter[str] = Counter()
        self.team_of: dict[str, str] = {}
        """The teams of all systems."""

    def add(self, team: str, system: str, value: float | None, content: Content) -> None:
        """A system with its score; `systems` has the content if it is among the best."""
        place = system not in self._final, value is None, _ascending(self.metric, value)
        entries = sorted([*self._of.get(team, []), (place, system, content)], key=lambda entry: entry[0])
        self._of[team] = entries[: self._rows]
        self._attempts[team] += 1
        self.team_of[system] = team

    def systems(self) -> dict[str, Content]:
        """The content of the best by name."""
        return {system: content for entries in self._of.values() for _, system, content in entries}

    def attempts(self) -> dict[str, int]:
        """Of how many systems of its team each of the best is chosen."""
        return {system: self._attempts[self.team_of[system]] for system in self.systems()}


def _ascending(metric: Metric, value: float | None) -> float:
    """A number that is smaller for a better score."""
    return (value or 0.0) if metric.lower_is_better else -(value or 0.0)


def limits_for(limits: CaptionLimits, metrics: str | Iterable[Metric]) -> CaptionLimits:
    """The limits with that of the metrics: a caption has to have the n-grams that a BLEU counts."""
    parsed = parse_metrics(metrics) if isinstance(metrics, str) else metrics
    longest = (part.n for metric in parsed for part in metric.parts if isinstance(part, Bleu))
    return replace(limits, fewest_words=max(limits.fewest_words, *longest, 1))


def without_folders(message: str, *sources: object) -> str:
    """The message with the names of the files alone: where the host keeps files is nobody's business."""
    for source in sources:
        path = source.source if isinstance(source, OutsideScores) else source
        if isinstance(path, str | os.PathLike):
            message = message.replace(os.fspath(path), os.path.basename(path))
    return message


def ranking(metrics: Iterable[Metric], rank_by: str | None, needs: Needs) -> Metric:
    """The metric that ranks: CIDEr-D by default, or else the first. Raises `UsageError` for one that is not scored."""
    scored = {metric.key: metric for metric in metrics}
    if rank_by is None:
        return scored.get("cider-d") or next(iter(scored.values()))
    keys = [metric.key for metric in parse_metrics(rank_by, needs)]
    if len(keys) != 1 or keys[0] not in scored:
        raise UsageError(f"the board cannot be ranked by {rank_by!r}; its metrics are {', '.join(scored)}")
    return scored[keys[0]]


def ranked_board(
    results: Mapping[str, Result], best: Best[Any], attempts: Mapping[str, int], refused: dict[str, list[str]]
) -> Board:
    """The board of these systems, each the best of so many attempts of its team."""
    rank_by = best.metric.key
    order = _Told(results).best_first(rank_by)
    results, pairs = _tested({system: results[system] for system in order}, attempts)
    shares = _Told(results)
    any_result = next(iter(results.values()))
    placed = {
        key: standings(shares.best_first(key), shares.tests(pair for pair in pairs if pair.metric == key), attempts)
        for key in sorted(any_result, key=lambda key: key != rank_by)
    }
    rows = [
        BoardRow(best.team_of[name], name, scores, {key: places[name] for key, (places, _) in placed.items()})
        for name, scores in shares.scores.items()
    ]
    return Board(
        any_result.version,
        any_result.images,
        {key: any_result[key].metric for key in placed},
        # What everybody may know: no digest of captions, nor of references, with which guesses could be tried.
        {key: without(any_result[key].signature, *OF_CAPTIONS, "refs") for key in placed},
        rank_by,
        rows,
        [shares.pair(pair, placed[pair.metric][1]) for pair in pairs],
        refused,
    )


def told_scores(result: Result) -> dict[str, ToldScore]:
    """What anybody but the host may know of one system, by metric."""
    results, _ = _tested({"": result}, {})
    return _Told(results).scores[""]


def _tested(results: Mapping[str, Result], attempts: Mapping[str, int]) -> tuple[dict[str, Result], list[Pair]]:
    """The results with their intervals, and every two of them by every metric."""
    how, first = Board.resampling, next(iter(results.values()))
    several = {system: number for system, number in attempts.items() if number > 1}
    bounds, pairs = tested(results, list(first), Significance(alpha=ALPHA, attempts=several), how, first.needs.threads)
    return with_intervals(results, bounds, how, several), pairs


class _Told:
    """What anybody but the host may know of results."""

    def __init__(self, results: Mapping[str, Result]) -> None:
        self._results = results
        self._added = {
            system: {key: pseudo_values(score.rows) for key, score in result.items()}
            for system, result in results.items()
        }
        self.scores = {
            system: {key: told_score(score, self._added[system][key]) for key, score in result.items()}
            for system, result in results.items()
        }

    def best_first(self, key: str) -> list[str]:
        """The systems by this metric, best first; those without a score last, equal ones by name."""
        values = {system: scores[key].value for system, scores in self.scores.items()}
        places = {system: _ascending(self._results[system][key].metric, value) for system, value in values.items()}
        if any(result[key].unscored for result in self._results.values()):  # by the images that all have scores of
            places = {system: float(place) for place, system in enumerate(best_first(self._results, key))}
        return sorted(self._results, key=lambda system: (values[system] is None, places[system], system))

    def tests(self, pairs: Iterable[Pair]) -> dict[tuple[str, str], float]:
        """What decides about ranks: p by (better, worse); 1 where the test may say nothing."""
        tests = {}
        for pair in pairs:
            a, b = self._results[pair.a], self._results[pair.b]
            better = -pair.delta if a[pair.metric].metric.lower_is_better else pair.delta
            is_fair = comparable(a, b, pair.metric) and not self._differ_in_few(pair)
            tests[(pair.a, pair.b) if better > 0 else (pair.b, pair.a)] = pair.p if is_fair else 1.0
        return tests

    def pair(self, pair: Pair, separated: set[tuple[str, str]]) -> ToldPair:
        """The pair, where `separated` has those of which the first is better."""
        a, b, key = pair.a, pair.b, pair.metric
        of_a, of_b = self.scores[a][key].value, self.scores[b][key].value
        better = a if (a, b) in separated else b if (b, a) in separated else None
        if of_a is None or of_b is None:
            return ToldPair(a, b, key, None, None, None, better)
        difference = rounded_score(pair.delta if pair.left_out else of_a - of_b)
        if self._differ_in_few(pair):
            return ToldPair(a, b, key, difference, None, None, better)
        p = next((f"< {limit}" for limit in (0.001, 0.01, ALPHA) if pair.p < limit), f"≥ {ALPHA}")
        return ToldPair(a, b, key, difference, _rounded_interval(pair.interval), p, better)

    def _differ_in_few(self, pair: Pair) -> bool:
        return hangs_on_few(self._added[pair.a][pair.metric] - self._added[pair.b][pair.metric])


def told_score(score: Score, added: npt.NDArray[np.float64] | None = None) -> ToldScore:
    """The score as anybody but the host may know it; `added` is what each image adds to it, where that is known."""
    if not math.isfinite(score.value):
        return ToldScore(None, None)
    if hangs_on_few(pseudo_values(score.rows) if added is None else added):
        return ToldScore(0.0, (0.0, 0.0))
    return ToldScore(rounded_score(score.value), _rounded_interval(score.interval))


def _rounded_interval(interval: Interval | None) -> Interval | None:
    return interval and (rounded_score(interval[0]), rounded_score(interval[1]))
