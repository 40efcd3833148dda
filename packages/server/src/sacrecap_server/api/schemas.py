"""The JSON of the API, both for the answers and for OpenAPI."""

from __future__ import annotations

import datetime as dt

from pydantic import BaseModel, Field


class BenchmarkBody(BaseModel):
    """A benchmark and its rules. Times are UTC; null where there is no such limit."""

    name: str
    title: str
    description: str
    images: int
    metrics: list[str]
    rank_by: str = Field(description="The metric that ranks the board, and by which a team's best is found.")
    tokenizer: str
    second_part: str | None = Field(description="The board's part with scores against the second references, if any.")
    quota_day: int
    quota_total: int
    opens: dt.datetime | None
    closes: dt.datetime | None
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


class BenchmarkList(BaseModel):
    """The benchmarks that the caller's list shows, the newest first: public ones, and the caller's own."""

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


class BoardBody(BaseModel):
    """The submission of each team that counts, in order of `sort`."""

    benchmark: str
    rank_by: str
    sort: str
    part: str = Field(
        description="The images: all; public before the closing date, private after it. Or the second references: c40."
    )
    versions: list[str] = Field(description="The versions of sacrecap that scored the rows; more than one where mixed.")
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
    team: str
    baseline: bool
    chosen: bool = Field(description="Chosen by the team to count; without a choice its best one does.")
    disqualified: str | None = Field(description="Why the benchmark's owner took it off the board.")
    scores: dict[str, float]
    intervals: dict[str, list[float]]
    signatures: dict[str, str]
    second_scores: dict[str, float] = Field(description="Against the second set of references, where there is one.")
    url: str = Field(description="Its page.")


class SubmissionList(BaseModel):
    """Submissions, the newest first."""

    submissions: list[SubmissionBody]
