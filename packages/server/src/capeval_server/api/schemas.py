"""The JSON of the API, both for the answers and for OpenAPI."""

from __future__ import annotations

import datetime as dt

from pydantic import BaseModel, Field


class ErrorDetail(BaseModel):
    """An error: the HTTP status, one sentence, and the list of problems if there are several."""

    status: int
    message: str
    problems: list[str]


class ErrorBody(BaseModel):
    """The one shape of every error."""

    error: ErrorDetail


class BenchmarkBody(BaseModel):
    """A benchmark and its rules. Times are UTC; null where there is no such limit."""

    name: str
    title: str
    description: str
    images: int
    metrics: list[str]
    rank_by: str = Field(description="The metric that ranks the board, and by which a team's best is chosen.")
    tokenizer: str
    quota_day: int
    quota_total: int
    opens: dt.datetime | None
    closes: dt.datetime | None
    open: bool


class BenchmarkList(BaseModel):
    """All benchmarks, the newest first."""

    benchmarks: list[BenchmarkBody]


class ImageList(BaseModel):
    """The images to caption."""

    images: list[str]


class EntryBody(BaseModel):
    """A scored submission. Numbers have four decimals."""

    submission: int
    team: str
    affiliation: str
    system: str
    submitted: dt.datetime
    scores: dict[str, float]
    intervals: dict[str, list[float]] = Field(description="By metric: lower and upper end.")


class RowBody(EntryBody):
    """A place on the board: between these ranks, for what a paired test does not separate shares them."""

    rank_from: int
    rank_to: int
    better_than: int = Field(description="Number of others that it is better than.")
    worse_than: int = Field(description="Number of others that are better.")
    not_separated: int = Field(description="Number of others that it was compared with, and that no test separates.")
    not_compared: int = Field(description="Number of others that it is not compared with yet.")


class BoardBody(BaseModel):
    """Each team's best submission by `rank_by`, in order of `sort`."""

    benchmark: str
    rank_by: str
    sort: str
    part: str = Field(description="The images: all; public before the closing date, private after it.")
    versions: list[str] = Field(description="The versions of capeval that scored the rows; more than one where mixed.")
    rows: list[RowBody]


class HistoryBody(BaseModel):
    """Each submission that was its team's best by `metric` when it was scored, the earliest first."""

    benchmark: str
    metric: str
    entries: list[EntryBody]


class SubmissionBody(BaseModel):
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
    scores: dict[str, float]
    intervals: dict[str, list[float]]
    signatures: dict[str, str]
    url: str = Field(description="Its page.")


class SubmissionList(BaseModel):
    """The newest submissions of the caller's team."""

    submissions: list[SubmissionBody]
