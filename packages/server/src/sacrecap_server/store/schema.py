"""The tables: the server's own rows, and human studies: what is asked, who answers, and what they answered.

Importing this module makes `Base.metadata` complete: what `Database.prepare` makes.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import Annotated, Any

from sqlalchemy import DateTime, Dialect, ForeignKey, Index, LargeBinary, String, Text, TypeDecorator, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship, validates


class UtcDateTime(TypeDecorator[dt.datetime]):
    """A time in UTC, stored and read as such: SQLite alone would drop the time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: dt.datetime | None, _: Dialect) -> dt.datetime | None:
        return None if value is None else value.astimezone(dt.timezone.utc)

    def process_result_value(self, value: dt.datetime | None, _: Dialect) -> dt.datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=dt.timezone.utc) if value.tzinfo is None else value.astimezone(dt.timezone.utc)


class Json(TypeDecorator[Any]):
    """A value that is stored as JSON."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _: Dialect) -> str | None:
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, _: Dialect) -> Any:
        return None if value is None else json.loads(value)


def now() -> dt.datetime:
    """The current time, in UTC."""
    return dt.datetime.now(dt.timezone.utc)


class Base(DeclarativeBase):
    """The tables' common base."""

    type_annotation_map = {dt.datetime: UtcDateTime()}  # noqa: RUF012


Id = Annotated[int, mapped_column(primary_key=True)]
Created = Annotated[dt.datetime, mapped_column(default=now)]


class KeyValue(Base):
    """A value of the server itself, such as the secret key that it made."""

    __tablename__ = "kept"

    name: Mapped[str] = mapped_column(String(80), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class SignedIn(Base):
    """A browser of the owner: the cookie's hash, never the cookie."""

    __tablename__ = "signed_in"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True, doc="hash of the cookie")
    created: Mapped[Created] = mapped_column(doc="when the person signed in")
    expires: Mapped[dt.datetime] = mapped_column(doc="when the sign-in ends")


class Blob(Base):
    """A file under the SHA-256 of its content, compressed. In the database, so that one copy has everything."""

    __tablename__ = "blob"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Study(Base):
    """One study of one kind."""

    __tablename__ = "study"

    id: Mapped[Id]
    code: Mapped[str] = mapped_column(String(24), unique=True)
    """Random text in the annotators' link."""
    kind: Mapped[str] = mapped_column(String(20))
    title: Mapped[str] = mapped_column(String(120))
    state: Mapped[str] = mapped_column(String(10), default="paused")
    """open, paused or closed."""
    judgments: Mapped[int]
    most_per_person: Mapped[int | None]
    minutes: Mapped[int]
    settings: Mapped[dict[str, Any]] = mapped_column(Json)
    """The content of the file besides the pages: see `StudyDesign.settings`."""
    created: Mapped[Created]
    closed: Mapped[dt.datetime | None]
    """When it was closed; None if it is not closed."""
    seed: Mapped[str] = mapped_column(String(32))
    """Secret: it determines all random choices of the study."""
    wave: Mapped[int] = mapped_column(default=0)
    """Number of the first block of a thousand items, sorted by `shuffle`, that may have a free place."""

    @validates("state")
    def _closes(self, _: str, state: str) -> str:
        if state != "closed":
            self.closed = None
        elif self.closed is None:
            self.closed = now()
        return state


class StudyImage(Base):
    """Where an image of a study is: on the web, or on this server."""

    __tablename__ = "study_image"

    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), primary_key=True)
    image_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    code: Mapped[str] = mapped_column(String(24), unique=True)
    """Random text in the image's address."""
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
    """Position among the pages of its role."""
    group: Mapped[int]
    """Number of the item in the file that the page comes from."""
    content: Mapped[dict[str, Any]] = mapped_column(Json)
    answer: Mapped[Any] = mapped_column(Json, nullable=True)
    """The known answer."""
    taken: Mapped[int] = mapped_column(default=0)
    """Number of assignments that count, given out or answered; of an item never more than the study's judgments."""
    shuffle: Mapped[int]
    """Position in a random order of the pages of its role."""
    because: Mapped[str] = mapped_column(Text, default="")
    """The explanation of the known answer, which practice shows."""
    image_id: Mapped[str | None] = mapped_column(String(200))
    """The image in the content; answers are looked up by it."""


class Annotator(Base):
    """One person in one study, recognised by the browser's cookie and by their id on the crowd platform."""

    __tablename__ = "annotator"
    __table_args__ = (UniqueConstraint("study_id", "worker"), UniqueConstraint("study_id", "cookie_hash"))

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    cookie_hash: Mapped[str | None] = mapped_column(String(64), doc="hash of the browser's cookie")
    worker: Mapped[str | None] = mapped_column(String(128), doc="what the crowd platform calls the person")
    platform_study: Mapped[str] = mapped_column(String(128), default="", doc="the platform's number of its study")
    platform_session: Mapped[str] = mapped_column(String(128), default="", doc="the platform's number of the session")
    completion: Mapped[str] = mapped_column(String(24), doc="the code that shows that the person was there")
    """Their own completion code, if the study does not have one for all."""
    started: Mapped[Created] = mapped_column(doc="when the person began")
    items: Mapped[int] = mapped_column(default=0, doc="how many questions the person answered")
    """Number of items answered, without checks."""
    warned: Mapped[bool] = mapped_column(default=False, doc="whether the person was warned")
    excluded: Mapped[str | None] = mapped_column(String(200), doc="why the answers do not count")
    pages: Mapped[int] = mapped_column(default=0, doc="how many pages the person answered")
    """Number of questions answered, with checks, without practice."""
    checks: Mapped[int] = mapped_column(default=0, doc="how many checks the person was given")
    fast: Mapped[int] = mapped_column(default=0, doc="how many answers were too fast")
    repeats: Mapped[int] = mapped_column(default=0, doc="how many answers repeat somebody's words")
    cautions: Mapped[str] = mapped_column(String(40), default="", doc="what the person was asked to mind")
    """What the person was warned of: `speed`, `repeats`, or both, separated by a blank."""
    practised: Mapped[bool] = mapped_column(default=False)
    """Whether they have finished all practice questions."""
    feedback: Mapped[dict[str, Any] | None] = mapped_column(Json, doc="how the last practice question was answered")
    """`right`, the known answer as `lines`, and `because`; None unless the last question was practice."""
    lean: Mapped[int] = mapped_column(default=0)
    """Of two options: number of items that showed the first option first, minus those that showed it second."""
    check_lean: Mapped[int] = mapped_column(default=0)
    """Of two options: number of checks that showed the right option first, minus those that showed it second."""
    wave: Mapped[int] = mapped_column(default=0)
    """Number of the block of a thousand items, sorted by `shuffle`, that they are in."""
    ended: Mapped[str | None] = mapped_column(String(12), doc="how the person's part ended")
    """complete, partial, stopped, too-fast or withdrawn; nobody gets questions after all but the first."""
    ended_at: Mapped[dt.datetime | None] = mapped_column(doc="when it ended")
    pasted: Mapped[int] = mapped_column(default=0, server_default="0", doc="into how many answers something was pasted")
    away: Mapped[int] = mapped_column(default=0, server_default="0", doc="during how many another window was in front")
    place: Mapped[str | None] = mapped_column(
        String(64), doc="a hash of the internet address, to find those who began at the same one"
    )
    """A keyed hash, of this study alone, of the internet address from which they began."""
    platform_return: Mapped[str] = mapped_column(
        String(200), default="", doc="the platform's address for the end of the work"
    )
    """Origin of the platform that receives the result by a form, as Mechanical Turk does."""


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
    annotator_id: Mapped[int] = mapped_column(ForeignKey("annotator.id"), doc="person")
    state: Mapped[str] = mapped_column(String(10), default="given")
    """given, answered, released (not in time), discarded (the person is excluded), or rejected by the owner."""
    shown_order: Mapped[list[int]] = mapped_column(Json, doc="in which order the options stood")
    given: Mapped[Created] = mapped_column(doc="when the question was shown")
    expires: Mapped[dt.datetime]
    answered: Mapped[dt.datetime | None] = mapped_column(doc="when it was answered")
    active_ms: Mapped[int | None] = mapped_column(doc="how long the page was in sight")
    answer: Mapped[Any] = mapped_column(Json, nullable=True, doc="the answer")
    correct: Mapped[bool | None] = mapped_column(doc="whether it was right, on checks")
    item: Mapped[StudyItem] = relationship(lazy="raise")
    annotator: Mapped[Annotator] = relationship(lazy="raise")
    role: Mapped[str] = mapped_column(String(10), default="item")
    """The role of the item."""
    group: Mapped[int] = mapped_column(default=0)
    """The group of the item."""
    round: Mapped[int] = mapped_column(default=0)
    """How often this person had this page before: 0 for items, since only checks come again."""
    too_fast: Mapped[bool | None] = mapped_column(doc="whether it came sooner than the page can be read")
    """Whether the answer came before anybody can have read the page; None if the time is unknown."""
    repeated: Mapped[bool | None] = mapped_column(doc="whether somebody else had written the same")
    fingerprint: Mapped[str | None] = mapped_column(String(32), doc="a hash of the sentence, to find repeated ones")
    reason: Mapped[str] = mapped_column(String(200), default="", doc="why the study's owner rejected it")


class StudyFindings(Base):
    """The statistics of a study's answers, from the last computation."""

    __tablename__ = "study_findings"

    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), primary_key=True)
    state: Mapped[str] = mapped_column(String(120))
    """The state of the answers that they were computed from: `results.state_of`."""
    computed: Mapped[Created]
    body: Mapped[dict[str, Any]] = mapped_column(Json, doc="statistics of the answers, for each person too")
    """The fields of `sacrecap_studies.quality.Quality`."""


ABOUT_PEOPLE = {
    "signed_in": ("Sign-ins of the owner", "Until they sign out, at most 14 days."),
    "annotator": (
        "People who answer studies",
        "Until the study's owner deletes the person or the study; ask whoever invited you.",
    ),
    "assignment": ("Answers to studies", "As long as the person who gave them."),
    "study_findings": (
        "Statistics of a study's answers",
        "Until they are computed again after a change, or the study is deleted.",
    ),
}
"""Tables with something about people: what people call their rows, and how long those are kept.

The page /privacy has these, with the `doc` of each column that holds something about a person; of no other has one.
"""
