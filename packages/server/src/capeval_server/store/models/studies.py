"""Human studies: what is asked, who answers, and what they answered."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column, relationship, validates

from capeval_server.store.models.base import Base, Created, Id, now


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
    closed: Mapped[dt.datetime | None]
    """When it was closed; None while it is not."""

    @validates("state")
    def _closes(self, _: str, state: str) -> str:
        if state != "closed":
            self.closed = None
        elif self.closed is None:
            self.closed = now()
        return state
    seed: Mapped[str] = mapped_column(String(32), server_default="")
    """Secret: all draws of the study follow from it."""
    wave: Mapped[int] = mapped_column(default=0, server_default="0")
    """Number of the first thousand items, by `shuffle`, that may have a free place."""


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
    # With everything that is asked of a thousand items at a time, so that their long rows need not be read.
    __table_args__ = (
        Index("ix_study_item_next", "study_id", "role", "shuffle", "taken", "group"),
        Index("ix_study_item_study_id_role_number", "study_id", "role", "number"),
        Index("ix_study_item_study_id_image_id", "study_id", "image_id"),
    )

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    role: Mapped[str] = mapped_column(String(10))
    """item, gold, attention or practice."""
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
    """Place in an order of chance, among the pages of its role."""
    because: Mapped[str] = mapped_column(Text, default="", server_default="")
    """What practice says about the known answer."""
    image_id: Mapped[str | None] = mapped_column(String(200))
    """As the content has it; what answers are looked up by."""


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
    pages: Mapped[int] = mapped_column(default=0, server_default="0")
    """Questions answered, checks too, practice not."""
    checks: Mapped[int] = mapped_column(default=0, server_default="0")
    """Checks given out."""
    fast: Mapped[int] = mapped_column(default=0, server_default="0")
    """Answers of `pages` that were too fast."""
    repeats: Mapped[int] = mapped_column(default=0, server_default="0")
    """Answers that somebody else had given in the same words."""
    cautions: Mapped[str] = mapped_column(String(40), default="", server_default="")
    """What the person is told to mind: `speed`, `repeats`, or both with a blank between them."""
    practised: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Whether no practice question is left for them."""
    feedback: Mapped[str | None] = mapped_column(Text)
    """JSON: how the practice question before this one was answered; see `assignment.record`."""
    lean: Mapped[int] = mapped_column(default=0, server_default="0")
    """Items whose first option stood first, less those where it stood second; of two options."""
    check_lean: Mapped[int] = mapped_column(default=0, server_default="0")
    """Checks whose right option stood first, less those where it stood second; of two options."""
    wave: Mapped[int] = mapped_column(default=0, server_default="0")
    """Number of the thousand items, by `shuffle`, in which they are."""

    @property
    def practice_feedback(self) -> dict[str, Any] | None:
        """`right`, the known answer as `lines`, and `because`; None unless the last question was practice."""
        return json.loads(self.feedback) if self.feedback else None
    ended: Mapped[str | None] = mapped_column(String(12))
    """complete, partial, stopped or withdrawn; nobody gets questions after the last three."""
    ended_at: Mapped[dt.datetime | None]
    platform_return: Mapped[str] = mapped_column(String(200), default="", server_default="")
    """Origin of the platform that takes the result by a form: Mechanical Turk's."""


class Assignment(Base):
    """One item given to one person, and the answer."""

    __tablename__ = "assignment"
    __table_args__ = (
        UniqueConstraint("item_id", "annotator_id", "round"),
        Index("ix_assignment_study_id_state_expires", "study_id", "state", "expires"),
        Index("ix_assignment_annotator_id_state", "annotator_id", "state"),
        Index("ix_assignment_annotator_id_role_group", "annotator_id", "role", "group"),
        Index("ix_assignment_study_id_fingerprint", "study_id", "fingerprint"),
        Index("ix_assignment_study_id_answered", "study_id", "answered"),
        Index("ix_assignment_study_id_role_state", "study_id", "role", "state"),
    )

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("study_item.id"))
    annotator_id: Mapped[int] = mapped_column(ForeignKey("annotator.id"))
    state: Mapped[str] = mapped_column(String(10), default="given")
    """given, answered, released (not in time), discarded (the person is excluded), or rejected by the owner."""
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
    role: Mapped[str] = mapped_column(String(10), default="item", server_default="item")
    """As the item has it."""
    group: Mapped[int] = mapped_column(default=0, server_default="0")
    """As the item has it."""
    round: Mapped[int] = mapped_column(default=0, server_default="0")
    """How often this person had this page before: 0 on items, since only checks come again."""
    too_fast: Mapped[bool | None]
    """Whether the answer came sooner than the page can be read; None if no time is known."""
    repeated: Mapped[bool | None]
    """Whether somebody else had written the same before; on sentences."""
    fingerprint: Mapped[str | None] = mapped_column(String(32))
    """The same for sentences of the same words."""
    reason: Mapped[str] = mapped_column(String(200), default="", server_default="")
    """Why the owner rejected the answer."""


class StudyMember(Base):
    """Another organiser who sees and manages the study as its owner does, but cannot delete or share it."""

    __tablename__ = "study_member"

    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), primary_key=True, index=True)
    since: Mapped[Created]


class StudyFindings(Base):
    """The statistics of a study's answers, as they were computed last."""

    __tablename__ = "study_findings"

    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), primary_key=True)
    state: Mapped[str] = mapped_column(String(120))
    """Of which answers: what `findings.state_of` says of them."""
    computed: Mapped[Created]
    body: Mapped[str] = mapped_column(Text)
    """JSON of `capeval_studies.quality.Quality`."""
