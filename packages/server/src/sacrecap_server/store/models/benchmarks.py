"""Benchmarks, the submissions of teams, and their scores."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sacrecap_server.store.models.accounts import Team
from sacrecap_server.store.models.declarative_base import Base, Created, Id


class Benchmark(Base):
    """Hidden references, and the rules under which systems are scored against them."""

    __tablename__ = "benchmark"

    id: Mapped[Id]
    slug: Mapped[str] = mapped_column(String(60), unique=True)
    title: Mapped[str] = mapped_column(String(120))
    description: Mapped[str] = mapped_column(Text, default="")
    host: Mapped[str] = mapped_column(String(120), default="")
    """Who organises it, as the top of its board says."""
    prize: Mapped[str] = mapped_column(String(200), default="")
    owner_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    references_sha: Mapped[str] = mapped_column(ForeignKey("blob.sha256"))
    objects_sha: Mapped[str | None] = mapped_column(ForeignKey("blob.sha256"))
    """Objects by image and label as JSON, if there are any; as hidden as the references."""
    metrics: Mapped[str] = mapped_column(Text)
    """Comma-separated, as `sacrecap score --metrics` takes them."""
    tokenizer: Mapped[str] = mapped_column(String(20))
    images: Mapped[int]
    quota_day: Mapped[int]
    quota_total: Mapped[int]
    opens: Mapped[dt.datetime | None]
    closes: Mapped[dt.datetime | None]
    reopened: Mapped[dt.datetime | None]
    """When the closing date was last moved after the benchmark had closed; the board tells it."""
    board: Mapped[str] = mapped_column(String(10))
    """Who sees the board: public, teams, or closed (only the owner until the benchmark has closed)."""
    own_scores: Mapped[bool] = mapped_column(default=True)
    """Whether teams see their own scores before the benchmark has closed."""
    created: Mapped[Created]
    visibility: Mapped[str] = mapped_column(String(10), default="public")
    """Who can find it: draft (only its owner), unlisted (everybody who has the link), or public."""
    challenge: Mapped[str] = mapped_column(String(120), default="")
    """Benchmarks of one owner with the same challenge are its phases; empty for a benchmark on its own."""
    phase: Mapped[str] = mapped_column(String(60), default="")
    rules: Mapped[str] = mapped_column(Text, default="")
    """What teams accept before they submit, as Markdown; empty if there is nothing to accept."""
    rules_version: Mapped[int] = mapped_column(default=0)
    """Counts the changes of `rules`: an acceptance holds only for its version."""
    most_degenerate: Mapped[int] = mapped_column(default=5)
    """Percentage of the captions that may be degenerate (`sacrecap.boards.leaks`)."""
    most_same: Mapped[int] = mapped_column(default=30)
    """Percentage of the captions that may be one and the same."""
    longest_words: Mapped[int] = mapped_column(default=100)
    """A caption with more words is degenerate."""
    rank_by: Mapped[str] = mapped_column(String(80))
    """The metric that ranks the board and chooses each team's best submission."""
    revision: Mapped[int] = mapped_column(default=0)
    """Increases with every change of what the board shows; see `sacrecap_server.boards.revision`."""
    second: Mapped[SecondReferences | None] = relationship(lazy="selectin")
    """Scored beside the first ones, if there are any."""

    @property
    def second_part(self) -> str | None:
        """The part of the scores against the second references; None if there are none."""
        return self.second.part if self.second is not None else None


class Submission(Base):
    """One file of one team. The same file sent twice is one submission."""

    __tablename__ = "submission"
    __table_args__ = (
        UniqueConstraint("benchmark_id", "team_id", "file_sha"),
        Index("ix_submission_benchmark_id_created", "benchmark_id", "created"),
    )

    id: Mapped[Id]
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id"), index=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    file_sha: Mapped[str] = mapped_column(ForeignKey("blob.sha256"))
    file_name: Mapped[str] = mapped_column(String(200))
    system: Mapped[str] = mapped_column(String(80))
    """The team's name for the submission."""
    created: Mapped[Created]
    scored: Mapped[dt.datetime | None]
    team: Mapped[Team] = relationship(lazy="raise")
    benchmark: Mapped[Benchmark] = relationship(lazy="raise")
    baseline: Mapped[bool] = mapped_column(default=False)
    """Sent by the benchmark's owner, for comparison; its team has no members and only this submission."""
    chosen: Mapped[bool] = mapped_column(default=False)
    """Whether its team chose it to stand on the board, at most one of them; without a choice their best one does."""
    disqualified: Mapped[str | None] = mapped_column(Text)
    """Why the benchmark's owner took it off the board; None if it was not taken off."""


class SubmissionScore(Base):
    """One metric's score of a submission, with its interval and signature."""

    __tablename__ = "submission_score"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    metric: Mapped[str] = mapped_column(String(80), primary_key=True)
    value: Mapped[float]
    """Rounded to what teams may know, as are the ends of the interval."""
    lower: Mapped[float]
    upper: Mapped[float]
    signature: Mapped[str] = mapped_column(Text)
    part: Mapped[str] = mapped_column(String(10), primary_key=True, default="all")
    """What was scored: all images, the public or private ones of a split benchmark, or the second references."""


class ComparisonRequest(Base):
    """Two submissions that somebody asked to compare; `a_id` is the smaller number."""

    __tablename__ = "comparison"
    __table_args__ = (UniqueConstraint("a_id", "b_id"),)

    id: Mapped[Id]
    a_id: Mapped[int] = mapped_column(ForeignKey("submission.id"))
    b_id: Mapped[int] = mapped_column(ForeignKey("submission.id"))
    created: Mapped[Created]


class SubmissionPair(Base):
    """Two submissions compared on the same images by one metric; `a_id` is the smaller number."""

    __tablename__ = "submission_pair"

    a_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    b_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True, index=True)
    metric: Mapped[str] = mapped_column(String(80), primary_key=True)
    delta: Mapped[float]
    """The score of `a` minus that of `b`."""
    lower: Mapped[float]
    upper: Mapped[float]
    p: Mapped[float | None]
    """p of the exact paired test, not corrected, because the number of pairs changes with the board; None if the
    two differ in too few images (`sacrecap.boards.leaks`), and nobody is told more than their scores."""
    part: Mapped[str] = mapped_column(String(10), primary_key=True, default="all")


class BenchmarkSplit(Base):
    """The images are split into a public part, which the board shows, and a private one for after the closing date."""

    __tablename__ = "benchmark_split"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    private_sha: Mapped[str] = mapped_column(ForeignKey("blob.sha256"))
    """The ids of the private images as a JSON list; as hidden as the references."""
    private_images: Mapped[int]
    seed: Mapped[int | None] = mapped_column(BigInteger)
    """Seed of the split; None if the organiser gave the images. Hidden until the closing date."""


class SecondReferences(Base):
    """A second set of references, of some or all images: every submission is scored against both."""

    __tablename__ = "second_references"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    references_sha: Mapped[str] = mapped_column(ForeignKey("blob.sha256"))
    part: Mapped[str] = mapped_column(String(10))
    """The name of the scores against it, such as `c40`."""


class SubmissionStatistics(Base):
    """The metrics' statistics of each image, which comparisons need. Only of each team's best submission."""

    __tablename__ = "submission_statistics"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class QuotaUse(Base):
    """A submission, or a comparison that somebody asked for: it counts for its team and for its account.

    It goes on counting when the submission or the team is deleted.
    """

    __tablename__ = "quota_use"

    id: Mapped[Id]
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), index=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id", ondelete="SET NULL"), index=True)
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id"), index=True)
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submission.id", ondelete="SET NULL"), index=True)
    """None for a comparison, and for a submission that is deleted."""
    created: Mapped[Created]


class RulesAcceptance(Base):
    """Somebody's acceptance of the rules of a benchmark for their team; one row per version of the rules."""

    __tablename__ = "rules_acceptance"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id", ondelete="SET NULL"))
    text_sha: Mapped[str] = mapped_column(ForeignKey("blob.sha256"))
    """The rules as they were accepted: the benchmark has only the newest."""
    accepted: Mapped[Created]


class Webhook(Base):
    """An address of the benchmark's owner to which the server reports each scored submission."""

    __tablename__ = "webhook"

    id: Mapped[Id]
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"), index=True)
    url: Mapped[str] = mapped_column(Text)
    secret: Mapped[str] = mapped_column(String(64))
    """The key that signs messages. It is not hashed, because signing needs it."""
    created: Mapped[Created]


class WebhookDelivery(Base):
    """One message to a webhook: delivered, waiting for the next attempt, or given up."""

    __tablename__ = "webhook_delivery"

    id: Mapped[Id]
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhook.id", ondelete="CASCADE"), index=True)
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), index=True)
    """None for the test message."""
    created: Mapped[Created]
    attempts: Mapped[int] = mapped_column(default=0)
    answer: Mapped[str] = mapped_column(Text, default="")
    """The result of the last attempt, in plain words."""
    delivered: Mapped[dt.datetime | None]
    due: Mapped[dt.datetime | None]
    """When it is tried next; None if it was delivered or given up."""
