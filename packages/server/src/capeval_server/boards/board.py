"""The board of a benchmark: each team's best submission, in order of a metric."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from sqlalchemy import select
from sqlalchemy.orm import Session

from capeval.metrics.registry import parse_metrics
from capeval.scoring.compare import holm
from capeval.scoring.comparison import rank_ranges
from capeval_server.store.models import Account, Benchmark, Submission, SubmissionPair, SubmissionScore, Team
from capeval_server.web.errors import Refused

ALPHA = 0.05


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
    scores: dict[str, SubmissionScore] = field(repr=False)
    baseline: bool = False


@dataclass(frozen=True)
class BoardRow:
    """A place on the board."""

    first: int
    last: int
    """Between these ranks: better than all that a paired test finds worse, worse than all that it finds better."""
    entry: Entry

    @property
    def rank(self) -> str:
        """`2`, or `1–3` where no test separates it from its neighbours."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


def metrics_of(benchmark: Benchmark) -> list[str]:
    """The keys of the benchmark's metrics; the first is what the board is about."""
    return [metric.key for metric in parse_metrics(benchmark.metrics)]


def entries(session: Session, benchmark: Benchmark, *submissions: int) -> list[Entry]:
    """The scored submissions that stand (only these, where some are named), the earliest scored first."""
    query = (
        select(Submission, Team)
        .join(Team, Team.id == Submission.team_id)
        .join(Account, Account.id == Submission.account_id)
        .where(Submission.benchmark_id == benchmark.id, Submission.scored.is_not(None), Account.off_boards.is_(False))
        .where(Submission.withdrawn.is_(False), Submission.disqualified.is_(None))
        .order_by(Submission.scored, Submission.id)
    )
    query = query.where(Submission.id.in_(submissions)) if submissions else query
    rows = session.execute(query).all()
    scores: dict[int, dict[str, SubmissionScore]] = defaultdict(dict)
    wanted = (
        select(SubmissionScore)
        .join(Submission, Submission.id == SubmissionScore.submission_id)
        .where(Submission.benchmark_id == benchmark.id)
    )
    wanted = wanted.where(Submission.id.in_(submissions)) if submissions else wanted
    for score in session.execute(wanted).scalars():
        scores[score.submission_id][score.metric] = score
    return [
        Entry(s.id, team.id, team.name, team.affiliation, s.system, s.created, s.scored, scores[s.id], s.baseline)
        for s, team in rows
        if s.scored is not None
    ]


def best(of: Iterable[Entry], metric: str) -> list[Entry]:
    """Each team's best entry by the metric; the earlier of equal ones."""
    found: dict[int, Entry] = {}
    for entry in of:
        held = found.get(entry.team_id)
        if held is None or entry.scores[metric].value > held.scores[metric].value:
            found[entry.team_id] = entry
    return list(found.values())


def board(session: Session, benchmark: Benchmark, sort: str | None = None) -> list[BoardRow]:
    """Each team's best submission by the benchmark's first metric, in order of `sort`, with ranges of ranks.

    Raises `Refused` for a metric that the benchmark does not have.
    """
    metrics = metrics_of(benchmark)
    sort = sort or metrics[0]
    if sort not in metrics:
        raise Refused(422, f"The board can be sorted by {', '.join(metrics)}.")
    ordered = sorted(
        best(entries(session, benchmark), metrics[0]), key=lambda entry: (-entry.scores[sort].value, entry.scored)
    )
    ranks = rank_ranges([entry.id for entry in ordered], _separated(session, ordered, sort))
    return [BoardRow(*ranks[entry.id], entry) for entry in ordered]


def _separated(session: Session, on_board: list[Entry], metric: str) -> list[tuple[int, int]]:
    """(better, worse): the pairs that a paired test separates after Holm's correction over the pairs of this board.

    A pair that is not compared yet counts as a test with p = 1.
    """
    numbers = sorted(entry.id for entry in on_board)
    query = select(SubmissionPair).where(
        SubmissionPair.metric == metric, SubmissionPair.a_id.in_(numbers), SubmissionPair.b_id.in_(numbers)
    )
    compared = {(pair.a_id, pair.b_id): pair for pair in session.execute(query).scalars()}
    tests = list(combinations(numbers, 2))
    p = holm([compared[test].p if test in compared else 1.0 for test in tests])
    return [
        (a, b) if compared[a, b].delta > 0 else (b, a)
        for (a, b), corrected in zip(tests, p, strict=True)
        if corrected <= ALPHA
    ]


def compared(session: Session, a: int, b: int) -> dict[str, SubmissionPair]:
    """The comparison of two submissions by metric; empty where there is none."""
    query = select(SubmissionPair).where(SubmissionPair.a_id == min(a, b), SubmissionPair.b_id == max(a, b))
    return {pair.metric: pair for pair in session.execute(query).scalars()}


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


def to_csv(rows: list[BoardRow], metrics: list[str]) -> str:
    """The board as CSV. Names that a spreadsheet would take for a formula get an apostrophe before them."""
    text = io.StringIO()
    writer = csv.writer(text)
    bounds = [f"{metric}{part}" for metric in metrics for part in ("", " lower", " upper")]
    writer.writerow(["rank from", "rank to", "team", "affiliation", "system", "submission", "submitted", *bounds])
    for row in rows:
        entry = row.entry
        scores = [entry.scores[metric] for metric in metrics]
        writer.writerow([
            row.first, row.last, *map(_inert, (entry.team, entry.affiliation, entry.system)), entry.id,
            entry.created.isoformat(),
            *(value for score in scores for value in (score.value, score.lower, score.upper)),
        ])  # fmt: skip
    return text.getvalue()


def _inert(text: str) -> str:
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
