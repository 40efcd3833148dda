"""The jobs that score a submission, score it again, and compare it with the other teams' best.

A comparison consists of bounded jobs: each takes some opponents and ends after a minute, and another follows while
there are opponents left. So a new best needs time in proportion to the number of teams, in child processes, and other
jobs have a turn.
"""

from __future__ import annotations

import base64
import json
from itertools import combinations
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session, joinedload

from sacrecap import __version__
from sacrecap.boards.leaks import shown
from sacrecap_server.boards import parts, webhooks
from sacrecap_server.boards.board_view import best_ids, version
from sacrecap_server.boards.revision import touch
from sacrecap_server.errors import Refused
from sacrecap_server.jobs import jobs
from sacrecap_server.jobs.jobs import JOB_KINDS, JobKind
from sacrecap_server.store import blobs
from sacrecap_server.store.models import (
    Benchmark,
    ComparisonRequest,
    Job,
    Submission,
    SubmissionPair,
    SubmissionScore,
    SubmissionStatistics,
    now,
)

KIND = "score"
AGAIN = "rescore"
COMPARE = "compare"
ASKED = "pair"
OPPONENTS = 25
"""Most opponents of one job; the child ends earlier where they take long."""
_FAILURES = 3
"""Comparisons of one submission that failed, after which no further one is queued by itself."""


def prepare(session: Session, submission_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """Metrics, tokenizer and parts; hidden references, both sets, and submitted captions."""
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.benchmark)])
    benchmark = submission.benchmark
    files = [*_references(session, benchmark), blobs.fetch(session, submission.file_sha)]
    return {**_header(session, benchmark), "baseline": submission.baseline}, files


def _references(session: Session, benchmark: Benchmark) -> list[bytes]:
    """One set, or two."""
    second = [] if benchmark.second is None else [benchmark.second.references_sha]
    return [blobs.fetch(session, sha) for sha in (benchmark.references_sha, *second)]


def _header(session: Session, benchmark: Benchmark) -> dict[str, Any]:
    objects = json.loads(blobs.fetch(session, benchmark.objects_sha)) if benchmark.objects_sha else None
    return {
        "metrics": benchmark.metrics,
        "tokenizer": benchmark.tokenizer,
        "objects": objects,
        "private": parts.private_images(session, benchmark),
        "second": benchmark.second_part,
    }


def store(session: Session, submission_id: int, answer: dict[str, Any]) -> None:
    """Replaces what an earlier run stored; queues the comparisons of a new best."""
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.benchmark)])
    _store_scores(session, submission_id, answer)
    submission.scored = submission.scored or now()
    session.flush()
    benchmark = submission.benchmark
    on_board = best_ids(session, benchmark)
    if submission_id in on_board:
        _keep_statistics(session, submission_id, answer["statistics"])
        _forget_statistics(session, submission, on_board)
        queue_missing(session, benchmark)
    webhooks.announce(session, submission)


def store_again(session: Session, submission_id: int, answer: dict[str, Any]) -> None:
    """The same, for a submission that had scores: comparisons of scores that have changed are made again."""
    query = select(SubmissionScore.part, SubmissionScore.metric, SubmissionScore.signature).where(
        SubmissionScore.submission_id == submission_id
    )
    now_so = {(part, metric, text) for part, its in answer["signatures"].items() for metric, text in its.items()}
    if {tuple(row) for row in session.execute(query)} != now_so:
        pair = SubmissionPair.__table__
        session.execute(
            delete(pair).where((pair.c.a_id == submission_id) | (pair.c.b_id == submission_id))  # type: ignore[arg-type]
        )
    store(session, submission_id, answer)
    benchmark_id = session.get_one(Submission, submission_id).benchmark_id
    touch(session, [benchmark_id])


def _store_scores(session: Session, submission_id: int, answer: dict[str, Any]) -> None:
    """Rounded: the table has nothing that anybody may not see, and what leaves it is not rounded again."""
    for score in session.execute(
        select(SubmissionScore).where(SubmissionScore.submission_id == submission_id)
    ).scalars():
        session.delete(score)
    session.flush()
    for part, scores in answer["scores"].items():
        for metric, values in scores.items():
            value, lower, upper = map(shown, values)
            session.add(
                SubmissionScore(
                    submission_id=submission_id,
                    metric=metric,
                    part=part,
                    value=value,
                    lower=lower,
                    upper=upper,
                    signature=answer["signatures"][part][metric],
                )
            )


def _keep_statistics(session: Session, submission_id: int, text: str) -> None:
    session.merge(SubmissionStatistics(submission_id=submission_id, data=base64.b64decode(text)))


def _forget_statistics(session: Session, submission: Submission, on_board: list[int]) -> None:
    """Of the team's submissions to the benchmark that are not its best any more."""
    theirs = select(Submission.id).where(
        Submission.benchmark_id == submission.benchmark_id,
        Submission.team_id == submission.team_id,
        Submission.id.not_in(on_board),
    )
    session.execute(delete(SubmissionStatistics).where(SubmissionStatistics.submission_id.in_(theirs)))


def queue_missing(session: Session, benchmark: Benchmark) -> int:
    """Queues a job for each submission of the board that lacks comparisons; gives their number.

    Of two that are not compared it is the newer one's. None is queued where one waits, or where several failed.
    """
    on_board = sorted(best_ids(session, benchmark))
    known = _compared(session, benchmark, on_board)
    lacking = {b for a, b in combinations(on_board, 2) if (a, b) not in known}
    query = select(Job.subject_id, Job.state, func.count()).where(Job.kind == COMPARE, Job.subject_id.in_(lacking))
    for number, state, count in session.execute(query.group_by(Job.subject_id, Job.state)):
        if state in ("queued", "running") or (state == "failed" and count >= _FAILURES):
            lacking.discard(number)
    teams = dict(session.execute(select(Submission.id, Submission.team_id).where(Submission.id.in_(lacking))).all())
    for number in sorted(lacking):
        jobs.add(session, COMPARE, number, share=teams[number])
    return len(lacking)


def _compared(session: Session, benchmark: Benchmark, numbers: list[int]) -> set[tuple[int, int]]:
    """Which two of these submissions are compared, the smaller number first."""
    query = select(SubmissionPair.a_id, SubmissionPair.b_id).where(
        SubmissionPair.metric == benchmark.rank_by,
        SubmissionPair.part == parts.choosing(session, benchmark),
        SubmissionPair.a_id.in_(numbers),
        SubmissionPair.b_id.in_(numbers),
    )
    return {(a, b) for a, b in session.execute(query)}


def prepare_comparison(session: Session, submission_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """The submission, and some of the other teams' best that it is not compared with yet."""
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.benchmark)])
    others = _opponents(session, submission)
    return _together(session, submission.benchmark, submission_id, others[:OPPONENTS])


def _opponents(session: Session, submission: Submission) -> list[int]:
    """The other teams' best that it is not compared with yet; none if it is not its team's best any more."""
    benchmark = submission.benchmark
    on_board = sorted(best_ids(session, benchmark))
    if submission.id not in on_board:
        return []
    known = _compared(session, benchmark, on_board)
    pairs = ((min(other, submission.id), max(other, submission.id)) for other in on_board if other != submission.id)
    return [a if b == submission.id else b for a, b in pairs if (a, b) not in known]


def prepare_asked(session: Session, comparison_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """The two submissions that somebody asked for."""
    comparison = session.get_one(ComparisonRequest, comparison_id)
    submission = session.get_one(Submission, comparison.a_id, options=[joinedload(Submission.benchmark)])
    return _together(session, submission.benchmark, comparison.a_id, [comparison.b_id])


def _together(
    session: Session, benchmark: Benchmark, first: int, others: list[int]
) -> tuple[dict[str, Any], list[bytes]]:
    """The first one's captions, and of the others the statistics, or the captions where those are not kept."""
    query = select(SubmissionStatistics.submission_id, SubmissionStatistics.data).where(
        SubmissionStatistics.submission_id.in_(others)
    )
    old = _of_other_versions(session, others)
    kept = {number: data for number, data in session.execute(query) if number not in old}
    shas = dict(
        session.execute(select(Submission.id, Submission.file_sha).where(Submission.id.in_([first, *others]))).all()
    )
    header = {
        **_header(session, benchmark),
        "first": first,
        "others": others,
        "unscored": [other for other in others if other not in kept],
    }
    files = [*_references(session, benchmark), blobs.fetch(session, shas[first])]
    files += [kept[other] if other in kept else blobs.fetch(session, shas[other]) for other in others]
    return header, files


def _of_other_versions(session: Session, numbers: list[int]) -> set[int]:
    """The submissions that another version of sacrecap scored, so that their statistics may differ."""
    query = select(SubmissionScore.submission_id, SubmissionScore.signature).where(
        SubmissionScore.submission_id.in_(numbers)
    )
    return {number for number, signature in session.execute(query) if version(signature) != __version__}


def store_comparison(session: Session, submission_id: int, answer: dict[str, Any]) -> None:
    """Adds the pairs, and queues the job that makes the others."""
    _store_pairs(session, submission_id, answer)
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.benchmark)])
    # Without progress another job would have none either.
    if answer["pairs"] and _opponents(session, submission):
        jobs.add(session, COMPARE, submission_id, share=submission.team_id)


def store_asked(session: Session, comparison_id: int, answer: dict[str, Any]) -> None:
    """Adds the pair that somebody asked for."""
    _store_pairs(session, session.get_one(ComparisonRequest, comparison_id).a_id, answer)


def _store_pairs(session: Session, one: int, answer: dict[str, Any]) -> None:
    """The smaller number first; two jobs may have compared the same two."""
    pair = SubmissionPair
    others = {found[0] for found in answer["pairs"]}
    before, after = (pair.b_id == one) & pair.a_id.in_(others), (pair.a_id == one) & pair.b_id.in_(others)
    query = select(pair).where(before | after)
    known = {(row.a_id, row.b_id, row.metric, row.part): row for row in session.execute(query).scalars()}
    for other, part, metric, delta, lower, upper, p in answer["pairs"]:
        key = (min(one, other), max(one, other), metric, part)
        row = known.get(key)
        if row is None:
            row = pair(a_id=key[0], b_id=key[1], metric=metric, part=part)
            session.add(row)
        row.delta, row.lower, row.upper = (delta, lower, upper) if one < other else (-delta, -upper, -lower)
        row.p = p
    submission = session.get_one(Submission, one, options=[joinedload(Submission.benchmark)])
    on_board = set(best_ids(session, submission.benchmark))
    for number, text in answer["statistics"].items():
        if int(number) in on_board:
            _keep_statistics(session, int(number), text)
    session.flush()


def rescore(session: Session, benchmark: Benchmark) -> int:
    """Queues the scoring of all scored submissions with the installed version; gives their number.

    Raises `Refused` (409) while that goes on.
    """
    session.execute(select(Benchmark.id).where(Benchmark.id == benchmark.id).with_for_update())
    if rescoring(session, benchmark) is not None:
        raise Refused(
            409,
            "The submissions to %(benchmark)s are being scored again; wait until that is done.",
            benchmark=benchmark.title,
        )
    query = (
        select(Submission.id, Submission.team_id)
        .where(Submission.benchmark_id == benchmark.id, Submission.scored.is_not(None))
        .order_by(Submission.id)
    )
    teams = dict(session.execute(query).all())
    session.execute(delete(Job).where(Job.kind == AGAIN, Job.subject_id.in_(teams)))
    for number, team_id in teams.items():
        jobs.add(session, AGAIN, number, share=team_id)
    return len(teams)


def rescoring(session: Session, benchmark: Benchmark) -> tuple[int, int] | None:
    """How many submissions are scored again, of how many; None if nothing waits or runs."""
    query = (
        select(Job.state, func.count())
        .join(Submission, Submission.id == Job.subject_id)
        .where(Job.kind == AGAIN, Submission.benchmark_id == benchmark.id)
        .group_by(Job.state)
    )
    counts = dict(session.execute(query).all())
    left = counts.get("queued", 0) + counts.get("running", 0)
    return (sum(counts.values()) - left, sum(counts.values())) if left else None


SCORER = "sacrecap_server.boards.child_scorer"
JOB_KINDS[KIND] = JobKind(prepare, f"{SCORER}:compute", store)
JOB_KINDS[AGAIN] = JobKind(prepare, f"{SCORER}:compute", store_again)
JOB_KINDS[COMPARE] = JobKind(prepare_comparison, f"{SCORER}:compare", store_comparison)
JOB_KINDS[ASKED] = JobKind(prepare_asked, f"{SCORER}:compare", store_asked)
