"""Human studies: what is asked, who answers, and what they answered."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from capeval_server.store.models.base import Base, Created, Id


class Study(Base):
    """One study of one kind."""

    __tablename__ = "study"

    id: Mapped[Id]
    code: Mapped[str] = mapped_column(String(24), unique=True)
    """Random; what the annotators' link has."""
    owner_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    kind: Mapped[str] = mapped_column(String(20))
    title: Mapped[str] = mapped_column(String(120))
    state: Mapped[str] = mapped_column(String(10), default="paused")
    """open, paused or closed."""
    judgments: Mapped[int]
    most_per_person: Mapped[int | None]
    minutes: Mapped[int]
    settings: Mapped[str] = mapped_column(Text)
    """JSON: instructions, consent, completion, policies of the checks."""
    created: Mapped[Created]


class StudyImage(Base):
    """The place of an image of a study: on the web, or here."""

    __tablename__ = "study_image"

    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), primary_key=True)
    image_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    code: Mapped[str] = mapped_column(String(24), unique=True)
    """Random; what the image's address has."""
    url: Mapped[str | None] = mapped_column(Text)
    blob_sha: Mapped[str | None] = mapped_column(ForeignKey("blob.sha256"))
    media_type: Mapped[str | None] = mapped_column(String(20))


class StudyItem(Base):
    """One page: an item to judge, or a check whose answer is known."""

    __tablename__ = "study_item"
    __table_args__ = (Index("ix_study_item_next", "study_id", "role", "taken", "shuffle"),)

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    role: Mapped[str] = mapped_column(String(10))
    """item, gold or attention."""
    number: Mapped[int]
    """Place among the pages of its role."""
    group: Mapped[int]
    """Number of the file's item that it comes from."""
    content: Mapped[str] = mapped_column(Text)
    answer: Mapped[str | None] = mapped_column(Text)
    """The known answer, JSON."""
    taken: Mapped[int] = mapped_column(default=0)
    """Assignments that are given out or answered and count: never more than the study's judgments, on items."""
    shuffle: Mapped[int]


class Annotator(Base):
    """One person in one study, known by the browser's cookie and by what the crowd platform calls them."""

    __tablename__ = "annotator"
    __table_args__ = (UniqueConstraint("study_id", "worker"), UniqueConstraint("study_id", "cookie_hash"))

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    cookie_hash: Mapped[str | None] = mapped_column(String(64))
    worker: Mapped[str | None] = mapped_column(String(128))
    platform_study: Mapped[str] = mapped_column(String(128), default="")
    platform_session: Mapped[str] = mapped_column(String(128), default="")
    completion: Mapped[str] = mapped_column(String(24))
    """A code of their own, where the study has none for all."""
    started: Mapped[Created]
    items: Mapped[int] = mapped_column(default=0)
    """Items answered; checks do not count."""
    warned: Mapped[bool] = mapped_column(default=False)
    excluded: Mapped[str | None] = mapped_column(String(200))
    """Why their answers do not count."""
    ended: Mapped[str | None] = mapped_column(String(12))
    """complete, partial, stopped or withdrawn; nobody gets questions after the last three."""
    ended_at: Mapped[dt.datetime | None]
    platform_return: Mapped[str] = mapped_column(String(200), default="", server_default="")
    """Origin of the platform that takes the result by a form: Mechanical Turk's."""


class Assignment(Base):
    """One item given to one person, and the answer."""

    __tablename__ = "assignment"
    __table_args__ = (
        UniqueConstraint("item_id", "annotator_id"),
        Index("ix_assignment_study_id_state_expires", "study_id", "state", "expires"),
        Index("ix_assignment_annotator_id_state", "annotator_id", "state"),
    )

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("study_item.id"))
    annotator_id: Mapped[int] = mapped_column(ForeignKey("annotator.id"))
    state: Mapped[str] = mapped_column(String(10), default="given")
    """given, answered, released (not answered in time), or discarded (the answer does not count)."""
    shown_order: Mapped[str] = mapped_column(String(400))
    """JSON: which option stood first, second and so on."""
    given: Mapped[Created]
    expires: Mapped[dt.datetime]
    answered: Mapped[dt.datetime | None]
    active_ms: Mapped[int | None]
    """How long the page was visible, according to the browser."""
    answer: Mapped[str | None] = mapped_column(Text)
    correct: Mapped[bool | None]
    """On checks."""
    item: Mapped[StudyItem] = relationship(lazy="raise")
