"""Benchmarks and submissions as JSON."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response
from pydantic import Field

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import catalogue, submissions, uploads
from sacrecap_server.boards.board_cache import KeptAnswer
from sacrecap_server.boards.board_view import Entry, chosen_metric, improvements, metrics_of
from sacrecap_server.boards.submissions import SubmissionStatus, display_name
from sacrecap_server.store.models import Benchmark
from sacrecap_server.web.context import Context
from sacrecap_server.web.receive import receive
from sacrecap_server.web.routing import Body, ErrorBody, Routes


class BenchmarkBody(Body):
    """A benchmark and its rules. Times are UTC; null where there is no such limit."""

    name: str
    title: str
    description: str
    host: str = Field(description="Who organises it; empty: the server's people.")
    prize: str
    images: int
    metrics: list[str]
    rank_by: str = Field(description="The metric that ranks the board, and by which a team's best is found.")
    tokenizer: str
    second_part: str | None = Field(description="The board's part with scores against the second references, if any.")
    quota_day: int
    quota_total: int
    opens: dt.datetime | None
    closes: dt.datetime | None
    reopened: dt.datetime | None = Field(description="When the closing date was moved after it had passed.")
    open: bool
    stage: str = Field(description="soon, open or closed")
    visibility: str = Field(description="draft, unlisted or public")
    challenge: str = Field(description="Benchmarks of the same challenge are its phases; empty for one on its own.")
    phase: str
    rules: str = Field(description="What is accepted on the benchmark's page before the first submission; Markdown.")
    rules_version: int
    most_degenerate: int = Field(description="Percentage of a file's captions that may be degenerate.")
    most_same: int = Field(description="Percentage of a file's captions that may be the same.")
    longest_words: int = Field(description="A caption of more words is degenerate.")


class BenchmarkList(Body):
    """The benchmarks that the caller's list shows, the newest first: public ones, and the caller's own."""

    benchmarks: list[BenchmarkBody]


class ImageList(Body):
    """The images to caption."""

    images: list[str]


class EntryBody(Body):
    """A scored submission. Numbers have four decimals."""

    submission: int
    team: str
    affiliation: str
    system: str
    submitted: dt.datetime
    baseline: bool = Field(description="Sent by the benchmark's owner, for comparison.")
    scores: dict[str, float]
    intervals: dict[str, list[float]] = Field(description="By metric: lower and upper end.")


class RowBody(EntryBody):
    """A place on the board: a range of ranks, because systems that no paired test separates share ranks."""

    rank_from: int
    rank_to: int
    better_than: int = Field(description="Number of others that it is better than.")
    worse_than: int = Field(description="Number of others that are better.")
    not_separated: int = Field(description="Number of others that it was compared with, and that no test separates.")
    not_compared: int = Field(description="Number of others that it is not compared with yet.")
    attempts: int = Field(
        description="Of how many submissions it is the best on the images that are shown: its interval and ranks allow "
        "for them."
    )


class BoardBody(Body):
    """The submission of each team that counts, in order of `sort`."""

    benchmark: str
    rank_by: str
    sort: str
    part: str = Field(
        description="The images: all; public before the closing date, private after it. Or the second references: c40."
    )
    versions: list[str] = Field(description="The versions of sacrecap that scored the rows; more than one where mixed.")
    rows: list[RowBody]


class HistoryBody(Body):
    """Each submission that was its team's best by `metric` when it was scored, the earliest first."""

    benchmark: str
    metric: str
    entries: list[EntryBody]


class SubmissionBody(Body):
    """A submission of the caller's team. Scores are empty before it is done, and while the benchmark keeps them."""

    id: int
    benchmark: str
    system: str
    file_name: str
    sha256: str
    submitted: dt.datetime
    state: str = Field(description="queued, running, done or failed")
    progress: str
    message: str = Field(description="Why it failed.")
    team: str
    baseline: bool
    chosen: bool = Field(description="Chosen by the team to count; without a choice its best one does.")
    disqualified: str | None = Field(description="Why the benchmark's owner took it off the board.")
    scores: dict[str, float]
    intervals: dict[str, list[float]]
    signatures: dict[str, str]
    second_scores: dict[str, float] = Field(description="Against the second set of references, where there is one.")
    url: str = Field(description="Its page.")


class SubmissionList(Body):
    """Submissions, the newest first."""

    submissions: list[SubmissionBody]


routes = Routes(tags=["benchmarks"])
Name = Annotated[str, Path(description="The benchmark's short name.", max_length=60)]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
Metric = Annotated[
    str | None, Query(description="One of the benchmark's metrics; the one that ranks by default.", max_length=80)
]

_HIDDEN = {403: {"model": ErrorBody, "description": "The board is not shown to this caller now."}}
_FILE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "description": "The file itself: one caption for each image, as JSON, JSON lines, CSV or TSV.",
    }
}


@routes.api("/benchmarks", role=Role.ANYONE)
def list_benchmarks(context: Context) -> BenchmarkList:
    """All benchmarks."""
    with context.database.read() as session:
        return BenchmarkList(benchmarks=[_benchmark(each) for each in catalogue.every(session, context.caller)])


@routes.api("/benchmarks/{name}", role=Role.ANYONE)
def get_benchmark(context: Context, name: Name) -> BenchmarkBody:
    """One benchmark and its rules."""
    with context.database.read() as session:
        return _benchmark(catalogue.find(session, context.caller, name))


@routes.api("/benchmarks/{name}/images", role=Role.ANYONE)
def get_images(context: Context, name: Name) -> ImageList:
    """The ids of the images to caption."""
    with context.database.read() as session:
        benchmark = catalogue.find(session, context.caller, name)
        return ImageList(images=list(context.state.image_ids.of(session, benchmark)))


@routes.api("/benchmarks/{name}/board", role=Role.ANYONE, responses=_HIDDEN, response_model=BoardBody)
def get_board(
    context: Context,
    name: Name,
    sort: Metric = None,
    part: Annotated[str | None, Query(description="One of the benchmark's parts.", max_length=10)] = None,
) -> Response:
    """The board, in order of a metric. With an ETag."""
    with context.database.read() as session:
        benchmark = catalogue.visible(session, context.caller, name)
        sort = chosen_metric(benchmark, sort)
        part = context.state.boards.part(session, benchmark, part, owner=context.caller.owns(benchmark.owner_id))

        def make() -> KeptAnswer:
            found = context.state.boards.board(session, benchmark, sort, part)
            rows = [
                RowBody(
                    rank_from=row.standing.first,
                    rank_to=row.standing.last,
                    better_than=row.standing.better,
                    worse_than=row.standing.worse,
                    not_separated=row.standing.level,
                    not_compared=row.standing.waiting,
                    attempts=row.standing.attempts,
                    **_entry(row.entry),
                )
                for row in found
            ]
            return KeptAnswer.of(
                BoardBody(
                    benchmark=name,
                    rank_by=found.rank_by,
                    sort=found.sort,
                    part=found.part,
                    versions=found.versions,
                    rows=rows,
                ).model_dump_json()
            )

        body = context.state.boards.get(benchmark, ("json", sort, part), make)
    return context.unchanged_or(body, "application/json")


@routes.api("/benchmarks/{name}/history", role=Role.ANYONE, responses=_HIDDEN, response_model=HistoryBody)
def get_history(context: Context, name: Name, metric: Metric = None) -> Response:
    """How the board came to be. With an ETag."""
    with context.database.read() as session:
        benchmark = catalogue.visible(session, context.caller, name)
        by = chosen_metric(benchmark, metric)

        def make() -> KeptAnswer:
            steps = improvements(context.state.boards.entries(session, benchmark), by)
            body = HistoryBody(benchmark=name, metric=by, entries=[EntryBody(**_entry(step)) for step in steps])
            return KeptAnswer.of(body.model_dump_json())

        body = context.state.boards.get(benchmark, ("history json", by), make)
    return context.unchanged_or(body, "application/json")


@routes.api(
    "/benchmarks/{name}/submissions",
    role=Role.MEMBER,
    methods=("POST",),
    status_code=201,
    openapi_extra=_FILE,
    responses={
        200: {"model": SubmissionBody, "description": "The team has submitted this very file before."},
        503: {"model": ErrorBody, "description": "Many files are being checked; Retry-After says when to come back."},
    },
)
async def submit(
    context: Context,
    request: Request,
    response: Response,
    name: Name,
    system: Annotated[str, Query(description="What the team calls the system.", min_length=1, max_length=80)],
    file_name: Annotated[str, Query(max_length=200)] = "captions",
    baseline: Annotated[bool, Query(description="A baseline of the benchmark's owner, outside quotas.")] = False,
) -> SubmissionBody:
    """Submits a file: checks it completely, then queues it. The same file twice is one submission.

    503 with `Retry-After`, where the server is checking too many files. 403 names the page on which a benchmark's
    rules are accepted, where that is still to be done.
    """

    def work() -> SubmissionBody:
        upload = uploads.Upload(data, display_name(file_name), system, baseline)
        submission, new = receive(context, name, upload)
        with context.database.read() as session:
            standing = submissions.find(session, context.caller, submission.id)
        response.status_code = 201 if new else 200
        return _submission(context, standing)

    room = context.state.uploads
    async with room.place(context.caller.account_id):
        data = await request.body()
        return await room.run(work)


@routes.api("/benchmarks/{name}/submissions", role=Role.MEMBER)
def list_benchmark_submissions(context: Context, name: Name) -> SubmissionList:
    """The newest 200 submissions of the caller's team to a benchmark, with scores; for its owner, of everyone."""
    with context.database.read() as session:
        benchmark = catalogue.find(session, context.caller, name)
        found = submissions.listed(session, context.caller, benchmark, everyone=True)
    return SubmissionList(submissions=[_submission(context, standing) for standing in found])


@routes.api("/submissions", role=Role.MEMBER)
def list_submissions(context: Context) -> SubmissionList:
    """The newest 200 submissions of the caller's team, with their scores."""
    with context.database.read() as session:
        found = submissions.listed(session, context.caller)
    return SubmissionList(submissions=[_submission(context, standing) for standing in found])


@routes.api("/submissions/{number}", role=Role.MEMBER)
def get_submission(context: Context, number: Number) -> SubmissionBody:
    """One submission: how far it is, and its scores."""
    with context.database.read() as session:
        return _submission(context, submissions.find(session, context.caller, number))


def _benchmark(benchmark: Benchmark) -> BenchmarkBody:
    return BenchmarkBody.of(
        benchmark,
        name=benchmark.slug,
        metrics=metrics_of(benchmark),
        open=catalogue.is_open(benchmark),
        stage=catalogue.stage(benchmark).word,
    )


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "submission": entry.id,
        "team": entry.team,
        "affiliation": entry.affiliation,
        "system": entry.system,
        "submitted": entry.created,
        "baseline": entry.baseline,
        "scores": {metric: score.value for metric, score in entry.scores.items()},
        "intervals": {metric: [score.lower, score.upper] for metric, score in entry.scores.items()},
    }


def _submission(context: Context, standing: SubmissionStatus) -> SubmissionBody:
    submission = standing.submission
    return SubmissionBody.of(
        submission,
        benchmark=standing.benchmark.slug,
        sha256=submission.file_sha,
        submitted=submission.created,
        state=standing.state,
        progress=standing.job.progress,
        message=standing.message,
        team=standing.team,
        scores={score.metric: score.value for score in standing.scores},
        intervals={score.metric: [score.lower, score.upper] for score in standing.scores},
        signatures={score.metric: score.signature for score in standing.scores},
        second_scores={score.metric: score.value for score in standing.second},
        url=f"{context.settings.url}/submissions/{submission.id}",
    )
