"""The people who answer: how they arrive, and how they are known when they come back."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from sacrecap_server.errors import not_found
from sacrecap_server.store.schema import Annotator, Study
from sacrecap_server.studies.links import is_right, personal_signature, platform_key

_LONGEST = 128
_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""The assignment id that Mechanical Turk gives to people who have not accepted the work yet."""


@dataclass(frozen=True)
class Arrival:
    """Whom a link brings, by the names that Prolific, Mechanical Turk and we use."""

    worker: str = ""
    study: str = ""
    session: str = ""
    key: str = ""
    """What a platform's link has: its worker ids count."""
    signature: str = ""
    """What a personal link has: it proves the worker id."""
    submit_to: str = ""
    """Where Mechanical Turk takes the result; not checked yet."""

    @property
    def is_preview(self) -> bool:
        return self.session == _PREVIEW

    @property
    def fields(self) -> dict[str, str]:
        """The arrival as the fields of a form, which `of` reads again."""
        names = {
            "worker": self.worker,
            "study": self.study,
            "session": self.session,
            "key": self.key,
            "sig": self.signature,
            "turkSubmitTo": self.submit_to,
        }
        return {name: value for name, value in names.items() if value}

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Arrival:
        """From the query of a link, or from a form with `fields`."""
        return cls(
            _first(values, "worker", "PROLIFIC_PID", "workerId"),
            _first(values, "study", "STUDY_ID", "hitId"),
            _first(values, "session", "SESSION_ID", "assignmentId"),
            _first(values, "key"),
            _first(values, "sig"),
            _first(values, "turkSubmitTo"),
        )

    def is_signed(self, secret_key: str, code: str) -> bool:
        """Whether the server made this very link for this very person."""
        return bool(self.worker) and is_right(self.signature, personal_signature(secret_key, code, self.worker))

    def is_by_platform(self, secret_key: str, code: str) -> bool:
        """Whether the link is the one that the owner gave to a platform."""
        return is_right(self.key, platform_key(secret_key, code))


def _first(values: Mapping[str, str], *names: str) -> str:
    identifier = next((values[name] for name in names if values.get(name)), "")
    return "".join(letter for letter in identifier if letter.isprintable())[:_LONGEST].strip()


class ElsewhereError(Exception):
    """Somebody began with this worker id in another browser, and this one cannot show that it is theirs too."""


def annotator_of_cookie(session: Session, study: Study, cookie_hash: str) -> Annotator | None:
    """Who this browser is in the study."""
    query = select(Annotator).where(Annotator.study_id == study.id, Annotator.cookie_hash == cookie_hash)
    return session.execute(query).scalar_one_or_none()


def study_and_person(session: Session, code: str, cookie_hash: str) -> tuple[Study, Annotator | None]:
    """The study of a link, and who this browser is in it."""
    mine = (Annotator.study_id == Study.id) & (Annotator.cookie_hash == cookie_hash)
    row = session.execute(select(Study, Annotator).outerjoin(Annotator, mine).where(Study.code == code)).one_or_none()
    if row is None:
        raise not_found("study")
    return row[0], row[1]


def begin(
    session: Session,
    study: Study,
    cookie_hash: str,
    arrival: Arrival,
    *,
    is_signed: bool = False,
    submit_to: str = "",
    place: str | None = None,
) -> Annotator:
    """The person who begins, or goes on.

    A worker id belongs to the browser that began with it. Another browser takes it over with a signed link, or with the
    platform's session that the person began with; otherwise this raises `ElsewhereError`.
    """
    person = annotator_of_cookie(session, study, cookie_hash)
    if person is None or arrival.worker not in ("", person.worker):
        person = None
        if arrival.worker:
            query = select(Annotator).where(Annotator.study_id == study.id, Annotator.worker == arrival.worker)
            person = session.execute(query).scalar_one_or_none()
        if person is not None and not is_signed:
            same_session = hmac.compare_digest(arrival.session.encode(), person.platform_session.encode())
            if not arrival.session or not same_session:
                raise ElsewhereError
        # One browser, another worker: the browser is theirs from now on.
        session.execute(
            update(Annotator)
            .where(Annotator.study_id == study.id, Annotator.cookie_hash == cookie_hash)
            .values(cookie_hash=None)
        )
        if person is None:
            # Short enough to type, without letters that look alike.
            code = "".join(secrets.choice("ABCDEFGHJKMNPQRSTUVWXYZ23456789") for _ in range(10))
            person = Annotator(study_id=study.id, worker=arrival.worker or None, completion=code, place=place)
            session.add(person)
        person.cookie_hash = cookie_hash
    person.platform_study = arrival.study or person.platform_study or ""
    person.platform_session = arrival.session or person.platform_session or ""
    person.platform_return = submit_to or person.platform_return or ""
    session.flush()
    return person
