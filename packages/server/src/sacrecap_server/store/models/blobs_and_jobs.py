"""Files, stored by their content, and jobs, which run outside of requests."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import Index, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from sacrecap_server.store.models.declarative_base import Base, Created, Id


class Blob(Base):
    """A file under the SHA-256 of its content, compressed. In the database, so that one backup has everything."""

    __tablename__ = "blob"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Job(Base):
    """A job (`sacrecap_server.jobs.jobs.JOB_KINDS`) on one row; it is tried until it is done or has failed for good."""

    __tablename__ = "job"
    __table_args__ = (
        Index("ix_job_state_id", "state", "id"),
        Index("ix_job_kind_subject_id", "kind", "subject_id"),
        Index("ix_job_kind_share_started", "kind", "share", "started"),
    )

    id: Mapped[Id]
    kind: Mapped[str] = mapped_column(String(20))
    subject_id: Mapped[int]
    share: Mapped[int] = mapped_column(default=0, server_default="0")
    """Jobs of one kind take turns by this number: the team's, or the webhook's; 0 for what belongs to nobody."""
    state: Mapped[str] = mapped_column(String(10), default="queued")
    """queued, running, done or failed."""
    progress: Mapped[str] = mapped_column(String(80), default="")
    message: Mapped[str] = mapped_column(Text, default="")
    """Why it failed, in plain words."""
    attempts: Mapped[int] = mapped_column(default=0)
    runner: Mapped[str | None] = mapped_column(String(60))
    lease: Mapped[dt.datetime | None]
    """Until when its runner is responsible for it; after that another runner takes it."""
    created: Mapped[Created]
    started: Mapped[dt.datetime | None]
    finished: Mapped[dt.datetime | None]
    due: Mapped[dt.datetime | None]
    """When a queued job may start; None if it can start at once."""
