"""The board of a benchmark: a submission of each team, in order of a metric, with the ranks that it may have."""

from __future__ import annotations

import datetime as dt
import io
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from sacrecap.boards import scored
from sacrecap.boards.leaks import limit_of, shown
from sacrecap.boards.standing import LEVEL, Standings, standings, tested
from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.printing import separated
from sacrecap.scoring.intervals import of_best
from sacrecap_server.boards import parts
from sacrecap_server.errors import Refused
from sacrecap_server.store.models import Account, Benchmark, Submission, SubmissionPair, SubmissionScore, Team
from sacrecap_studies.export import no_formula


@dataclass(frozen=True)
class BoardScore:
    """One metric's score of a submission on the part that is shown, in the decimals that leave the server."""

    value: float
    lower: float
    upper: float
    signature: str


@dataclass(frozen=True)
class Entry:
    """A scored submission."""

    id: int
    team_id: int
    team: str
    affiliation: str
    system: str
    created: dt.datetime
    scored: dt.datetime
    baseline: bool
    scores: dict[str, BoardScore] = field(repr=False)


@dataclass(frozen=True)
class BoardView:
    """The rows, and what a reader must know about them."""

    rows: list[Entry]
    placed: Standings[int]
    """Their places, by number of the submission, and which pairs are separated."""
    metrics: list[str]
    rank_by: str
    """The metric by which a team's best is found, if it has not chosen a submission."""
    sort: str
    """The metric that the rows are in order of, and that the ranks are of."""
    part: str
    """The images that the scores are of: all, public or private."""
    mixed: dict[str, list[str]]
    """Metrics that were not scored in the same way for all rows, with their signatures."""

    @property
    def versions(self) -> list[str]:
        """The versions of sacrecap that scored the rows."""
        return sorted({version(s.signature) for row in self.rows for s in row.scores.values()})


@lru_cache(256)
def _keys(metrics: str) -> tuple[str, ...]:
    return tuple(metric.key for metric in parse_metrics(metrics))


def metrics_of(benchmark: Benchmark) -> list[str]:
    """The keys of the benchmark's metrics."""
    return list(_keys(benchmark.metrics))


@lru_cache(256)
def longest_ngram(metrics: str) -> int:
    """The longest n-gram that a BLEU among the metrics counts; 1 if there is none."""
    return scored.longest_ngram(parse_metrics(metrics))


def version(signature: str) -> str:
    """The version of sacrecap at the end of a signature; empty if there is none."""
    name, _, number = signature.rpartition("|")[2].partition(":")
    return number if name == "sacrecap" else ""


def entries(
    session: Session, benchmark: Benchmark, *submissions: int, part: str | None = None, best_only: bool = False
) -> list[Entry]:
    """The scored submissions that stand, the earliest scored first: all, only these, or only those of `best_ids`.

    Scores are of a part, by default of the one that people see now.
    """
    part = part or parts.shown(session, benchmark)
    query = (
        select(
            Submission.id,
            Submission.team_id,
            Team.name,
            Team.affiliation,
            Submission.system,
            Submission.created,
            Submission.scored,
            Submission.baseline,
        )
        .join(Team, Team.id == Submission.team_id)
        .join(Account, Account.id == Submission.account_id)
        .where(_stands(benchmark))
        .order_by(Submission.scored, Submission.id)
    )
    wanted = (
        select(
            SubmissionScore.submission_id,
            SubmissionScore.metric,
            SubmissionScore.value,
            SubmissionScore.lower,
            SubmissionScore.upper,
            SubmissionScore.signature,
        )
        .join(Submission, Submission.id == SubmissionScore.submission_id)
        .where(Submission.benchmark_id == benchmark.id, SubmissionScore.part == part)
    )
    if best_only:
        submissions = tuple(best_ids(session, benchmark))
    if submissions or best_only:
        query, wanted = query.where(Submission.id.in_(submissions)), wanted.where(Submission.id.in_(submissions))
    scores: dict[int, dict[str, BoardScore]] = defaultdict(dict)
    for number, metric, value, lower, upper, signature in session.execute(wanted):
        scores[number][metric] = BoardScore(value, lower, upper, signature)
    return [Entry(*row, scores[row.id]) for row in session.execute(query) if row.id in scores]  # type: ignore[arg-type]


def _stands(benchmark: Benchmark) -> ColumnElement[bool]:
    """The condition that a submission, joined with its account and team, may be on the board.

    Whoever leaves a team alone takes it off the boards that are open then: a new team is no second row.
    """
    with_members: ColumnElement[bool] = Team.empty_since.is_(None)
    if benchmark.closes is not None:
        with_members |= Team.empty_since >= benchmark.closes
    return and_(
        Submission.benchmark_id == benchmark.id,
        Submission.scored.is_not(None),
        Submission.disqualified.is_(None),
        Account.off_boards.is_(False),
        with_members,
    )


def best_ids(session: Session, benchmark: Benchmark) -> list[int]:
    """The submission that each team has chosen, or else its best by the ranking metric, the earlier of equal ones.

    Private images never choose, and after the closing date nothing that a team can do does.
    """
    place = func.row_number().over(
        partition_by=Submission.team_id,
        order_by=(Submission.chosen.desc(), SubmissionScore.value.desc(), Submission.scored, Submission.id),
    )
    placed = (
        select(Submission.id, place.label("place"))
        .join(SubmissionScore, SubmissionScore.submission_id == Submission.id)
        .join(Account, Account.id == Submission.account_id)
        .join(Team, Team.id == Submission.team_id)
        .where(
            _stands(benchmark),
            SubmissionScore.metric == benchmark.rank_by,
            SubmissionScore.part == parts.choosing(session, benchmark),
        )
        .subquery()
    )
    return list(session.execute(select(placed.c.id).where(placed.c.place == 1)).scalars())


def board(session: Session, benchmark: Benchmark, sort: str | None = None, part: str | None = None) -> BoardView:
    """The submission of each team that counts, in order of `sort`, with ranges of ranks.

    Raises `Refused` for a metric that the benchmark does not have. `part` is one that the caller may see.
    """
    metrics = metrics_of(benchmark)
    sort = chosen_metric(benchmark, sort)
    part = part or parts.shown(session, benchmark)
    found = entries(session, benchmark, part=part, best_only=True)
    ordered = sorted(
        (entry for entry in found if sort in entry.scores), key=lambda entry: (-entry.scores[sort].value, entry.scored)
    )
    attempts = _attempts(session, benchmark) if part == parts.choosing(session, benchmark) else {}
    placed = _standings(session, ordered, sort, part, attempts)
    rows = [_widened(entry, placed.places[entry.id].attempts) for entry in ordered]
    signatures = {
        metric: sorted({row.scores[metric].signature for row in rows if metric in row.scores}) for metric in metrics
    }
    mixed = {metric: all_of_them for metric, all_of_them in signatures.items() if len(all_of_them) > 1}
    return BoardView(rows, placed, metrics, benchmark.rank_by, sort, part, mixed)


def chosen_metric(benchmark: Benchmark, metric: str | None) -> str:
    """The metric asked for, by default the one that ranks. Raises `Refused` for one that the benchmark lacks."""
    metrics = metrics_of(benchmark)
    if metric is not None and metric not in metrics:
        raise Refused(422, "The board can be sorted by %(names)s.", names=", ".join(metrics))
    return metric or benchmark.rank_by


def _standings(
    session: Session, ordered: list[Entry], metric: str, part: str, attempts: dict[int, int]
) -> Standings[int]:
    """The places of submissions, by the tests of their pairs that are done."""
    numbers = [entry.id for entry in ordered]
    query = select(SubmissionPair.a_id, SubmissionPair.b_id, SubmissionPair.delta, SubmissionPair.p).where(
        SubmissionPair.metric == metric,
        SubmissionPair.part == part,
        SubmissionPair.a_id.in_(numbers),
        SubmissionPair.b_id.in_(numbers),
    )
    several = {entry.id: attempts.get(entry.team_id, 1) for entry in ordered}
    return standings(numbers, tested((a, b, delta, p) for a, b, delta, p in session.execute(query)), several)


def _attempts(session: Session, benchmark: Benchmark) -> dict[int, int]:
    """How many submissions of each team were scored, whatever became of them."""
    query = (
        select(Submission.team_id, func.count())
        .where(Submission.benchmark_id == benchmark.id, Submission.scored.is_not(None))
        .group_by(Submission.team_id)
    )
    return {team: number for team, number in session.execute(query)}  # noqa: C416 - rows are tuples to the type checker


def _widened(entry: Entry, attempts: int) -> Entry:
    """The entry with intervals that allow for so many attempts."""
    if attempts == 1:
        return entry
    scores = {}
    for metric, score in entry.scores.items():
        lower, upper = of_best(score.value, (score.lower, score.upper), LEVEL, attempts, 1)
        scores[metric] = replace(score, lower=shown(max(lower, min(0.0, score.lower))), upper=shown(upper))
    return replace(entry, scores=scores)


@dataclass(frozen=True)
class Compared:
    """The difference of two submissions by one metric, as anybody but the server may know it.

    It is the score of `a_id`, the smaller number, minus the other.
    """

    a_id: int
    lower: float
    upper: float
    p: str
    """Below which limit p is."""


def compared(session: Session, a: int, b: int, part: str = parts.ALL) -> dict[str, Compared | None]:
    """The comparison of two submissions by metric, on one part; empty if there is none.

    None for a metric by which they differ in too few images (`few`) to say more than the two scores.
    """
    query = select(SubmissionPair).where(
        SubmissionPair.a_id == min(a, b), SubmissionPair.b_id == max(a, b), SubmissionPair.part == part
    )
    return {
        pair.metric: None
        if pair.p is None
        else Compared(pair.a_id, shown(pair.lower), shown(pair.upper), limit_of(pair.p))
        for pair in session.execute(query).scalars()
    }


def improvements(of: Iterable[Entry], metric: str) -> list[Entry]:
    """The history: each entry that was its team's best when it was scored, the earliest first."""
    held: dict[int, float] = {}
    found = []
    for entry in of:
        value = entry.scores[metric].value
        if value > held.get(entry.team_id, float("-inf")):
            held[entry.team_id] = value
            found.append(entry)
    return found


def to_csv(board: BoardView) -> str:
    """The board as CSV. Names that a spreadsheet would take for a formula get an apostrophe before them."""
    text = io.StringIO()
    bounds = [f"{metric}{part}" for metric in board.metrics for part in ("", " lower", " upper")]
    about = ["rank from", "rank to", "team", "affiliation", "system", "baseline", "submission", "submitted"]
    rows = (
        [
            *(board.placed.places[row.id].first, board.placed.places[row.id].last),
            *map(no_formula, (row.team, row.affiliation, row.system)),
            *("yes" if row.baseline else "no", row.id, row.created.isoformat()),
            *(
                value
                for score in [row.scores[metric] for metric in board.metrics]
                for value in (score.value, score.lower, score.upper)
            ),
        ]
        for row in board.rows
    )
    separated.write(text, [*about, *bounds], rows)
    return text.getvalue()
