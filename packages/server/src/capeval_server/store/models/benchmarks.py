"""Benchmarks, what teams submitted, and what it scored."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from capeval_server.store.models.accounts import Team
from capeval_server.store.models.base import Base, Created, Id


class Benchmark(Base):
    """Hidden references, and the rules under which systems are scored against them."""

    __tablename__ = "benchmark"

    id: Mapped[Id]
    slug: Mapped[str] = mapped_column(String(60), unique=True)
    title: Mapped[str] = mapped_column(String(120))
    description: Mapped[str] = mapped_column(Text, default="")
    owner_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    references_sha: Mapped[str] = mapped_column(ForeignKey("blob.sha256"))
    objects_sha: Mapped[str | None] = mapped_column(ForeignKey("blob.sha256"))
    """Objects by image and label as JSON, where there are any; as hidden as the references."""
    metrics: Mapped[str] = mapped_column(Text)
    """Comma-separated, as `capeval score --metrics` takes them."""
    tokenizer: Mapped[str] = mapped_column(String(20))
    images: Mapped[int]
    quota_day: Mapped[int]
    quota_total: Mapped[int]
    opens: Mapped[dt.datetime | None]
    closes: Mapped[dt.datetime | None]
    board: Mapped[str] = mapped_column(String(10))
    """Who sees the board: public, teams, or closed (nobody but the owner, until the benchmark has closed)."""
    own_scores: Mapped[bool] = mapped_column(default=True)
    """Whether teams see their own scores before the benchmark has closed."""
    created: Mapped[Created]
    rank_by: Mapped[str] = mapped_column(String(80))
    """The metric that ranks the board, and by which a team's best submission is chosen."""
    revision: Mapped[int] = mapped_column(default=0)
    """Grows with every change of what the board shows; see `capeval_server.boards.revision`."""


class Submission(Base):
    """One file of one team. The same file twice is one submission."""

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


class SubmissionScore(Base):
    """One metric's score of a submission, with its interval and signature."""

    __tablename__ = "submission_score"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    metric: Mapped[str] = mapped_column(String(80), primary_key=True)
    value: Mapped[float]
    """Rounded, as the ends of the interval are, to what teams may know."""
    lower: Mapped[float]
    upper: Mapped[float]
    signature: Mapped[str] = mapped_column(Text)
    part: Mapped[str] = mapped_column(String(10), primary_key=True, default="all")
    """The images: all, or the public or private ones of a benchmark that is split."""


class ComparisonRequest(Base):
    """Two submissions that somebody asked to have compared; `a_id` is the smaller number."""

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
    """The score of a minus that of b."""
    lower: Mapped[float]
    upper: Mapped[float]
    p: Mapped[float]
    """Of the paired permutation test, not corrected: which pairs there are changes with the board."""
    part: Mapped[str] = mapped_column(String(10), primary_key=True, default="all")


class BenchmarkSplit(Base):
    """The images in a public part, which the board shows, and a private one for after the closing date."""

    __tablename__ = "benchmark_split"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    private_sha: Mapped[str] = mapped_column(ForeignKey("blob.sha256"))
    """The ids of the private images as a JSON list; as hidden as the references."""
    private_images: Mapped[int]
    seed: Mapped[int | None] = mapped_column(BigInteger)
    """Of the draw; None where the organiser gave the images. Hidden until the closing date."""


class SubmissionStatistics(Base):
    """What the metrics counted of each image: comparing two submissions takes no more. Of teams' best ones only."""

    __tablename__ = "submission_statistics"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)
