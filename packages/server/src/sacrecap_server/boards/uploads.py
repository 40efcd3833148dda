"""Uploads of teams: checked completely, then queued. Baselines of the benchmark's owner too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap.boards.leaks import CaptionLimits
from sacrecap_server.accounts import names
from sacrecap_server.accounts.access import Caller
from sacrecap_server.accounts.teams import BASELINE_KEY
from sacrecap_server.boards import quota, rules, scoring
from sacrecap_server.boards.board_view import longest_ngram
from sacrecap_server.boards.catalogue import stage
from sacrecap_server.boards.examination import Examination, problems_of
from sacrecap_server.errors import Refused
from sacrecap_server.jobs import jobs
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark, Submission, Team
from sacrecap_studies.messages import Message

BASELINE = "Baseline"
"""The name of the teams of baselines."""


@dataclass(frozen=True)
class Upload:
    """A file that a team sends, or the benchmark's owner as a baseline."""

    data: bytes
    file_name: str
    system: str
    baseline: bool = False


def check_allowed(session: Session, caller: Caller, benchmark: Benchmark, *, baseline: bool = False) -> None:
    """Raises `Refused` if the caller may not submit now, whatever the file: before anything is read."""
    if baseline:
        if not caller.owns(benchmark.owner_id):
            raise Refused(403, "Only the benchmark's owner submits baselines.")
        return
    if caller.team_id is None:
        raise Refused(
            403, "This account is in no team, and only teams submit. The account page says how to join or make one."
        )
    its = stage(benchmark)
    if its.word != "open":
        when = f"{its.when:%Y-%m-%d %H:%M} UTC"
        why = (
            Message("it opens %(when)s", when=when)
            if its.word == "soon"
            else Message("it has closed %(when)s", when=when)
        )
        raise Refused(403, "%(benchmark)s takes no submissions now: %(why)s.", benchmark=benchmark.title, why=why)
    if not rules.accepted(session, caller, benchmark):
        raise Refused(
            403,
            "The rules of %(benchmark)s (version %(version)s) must be accepted before this account submits: sign in "
            "and open /benchmarks/%(slug)s/submit.",
            benchmark=benchmark.title,
            version=benchmark.rules_version,
            slug=benchmark.slug,
        )


def check_upload(benchmark: Benchmark, images: Sequence[str], upload: Upload, examination: Examination) -> None:
    """Raises `Refused` with every problem of the file. Baselines, such as one caption for all, may be degenerate."""
    limits = CaptionLimits(
        benchmark.most_degenerate, benchmark.most_same, benchmark.longest_words, longest_ngram(benchmark.metrics)
    )
    problems = problems_of(upload.data, images, None if upload.baseline else limits, examination)
    if problem := names.problem_with(upload.system, "system"):
        problems.insert(0, problem)
    if problems:
        raise Refused(422, "The file cannot be scored on %(benchmark)s.", problems, benchmark=benchmark.title)


def submit(session: Session, caller: Caller, benchmark: Benchmark, upload: Upload) -> tuple[Submission, bool]:
    """Queues a checked file; gives the submission, and whether it is new: the same file twice is one submission.

    Raises `Refused` if the benchmark is not open or the quota is used up.
    """
    assert caller.account_id is not None
    check_allowed(session, caller, benchmark, baseline=upload.baseline)
    team_id = _baseline_team(session, benchmark, upload) if upload.baseline else caller.team_id
    assert team_id is not None
    # Two uploads of one team at once must not both be the last of the quota, nor both the first of the file.
    session.execute(select(Team.id).where(Team.id == team_id).with_for_update())
    same = select(Submission).where(
        Submission.benchmark_id == benchmark.id,
        Submission.team_id == team_id,
        Submission.file_sha == blobs.sha256(upload.data),
    )
    if known := session.execute(same).scalar_one_or_none():
        return known, False
    if not upload.baseline:
        quota.check(session, caller, benchmark)
    submission = Submission(
        benchmark_id=benchmark.id,
        team_id=team_id,
        account_id=caller.account_id,
        baseline=upload.baseline,
        file_sha=blobs.keep(session, upload.data),
        file_name=upload.file_name[:200],
        system=upload.system,
    )
    session.add(submission)
    session.flush()
    if not upload.baseline:
        quota.spend(session, caller, benchmark, submission.id)
    jobs.add(session, scoring.KIND, submission.id, share=team_id)
    return submission, True


def _baseline_team(session: Session, benchmark: Benchmark, upload: Upload) -> int:
    """A team without members for each baseline: the board shows each team's best, and baselines all stand."""
    key = f"{BASELINE_KEY}{benchmark.id} {blobs.sha256(upload.data)}"
    session.execute(select(Benchmark.id).where(Benchmark.id == benchmark.id).with_for_update())
    team = session.execute(select(Team).where(Team.name_key == key)).scalar_one_or_none()
    if team is None:
        team = Team(name=BASELINE, name_key=key)
        session.add(team)
        session.flush()
    return team.id
