"""The messages for a person who has no question: whether the study is finished for them, and what they can do."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session, aliased

from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyItem, now
from sacrecap_server.studies.assignment import TOO_FAST, give_back, withdraw
from sacrecap_server.studies.links import completion_address
from sacrecap_server.studies.repository import settings_of

LEFT = ("partial", "stopped", "withdrawn", TOO_FAST)
"""People who ended before everything was answered: they get no more questions."""
_CODES = {
    "complete": "completion",
    "screened-out": "screened_out",
    "partial": "partial",
    "stopped": "partial",
    TOO_FAST: "partial",
    "withdrawn": "no_consent",
    "no-consent": "no_consent",
}
"""Which of the platform's codes an ending has."""


@dataclass(frozen=True)
class Ending:
    """How the study stands for somebody who has no question now."""

    kind: str
    """complete, screened-out, partial, stopped, too-fast, withdrawn or no-consent; waiting, paused or closed, where
    something is left; full, where others have answered everything."""
    minutes: int | None = None
    """Minutes until the person may finish with what they have, 0 for now; None if they may not."""
    code: str = ""
    """What they give the platform; empty if there is none."""
    url: str = ""


def has_left(person: Annotator) -> bool:
    """Whether the person ended before everything was answered."""
    return person.ended in LEFT


def ending(session: Session, study: Study, person: Annotator) -> Ending:
    """How it stands for this person, who has no question; notes that they are complete, when they are."""
    kind = _kind(session, study, person)
    if kind == "complete" and person.ended is None:
        person.ended, person.ended_at = "complete", now()
    if kind in ("waiting", "paused", "closed") and person.items:
        # From the last answer, people wait as long as a question may be kept: then all that others held is free.
        query = select(func.max(Assignment.answered)).where(Assignment.annotator_id == person.id)
        last = session.execute(query).scalar_one() or person.started
        seconds = (last + dt.timedelta(minutes=study.minutes) - now()).total_seconds()
        return Ending(kind, max(0, -int(-seconds // 60)) if kind != "closed" else 0)
    return with_code(kind, study, person)


def _kind(session: Session, study: Study, person: Annotator) -> str:
    if person.ended == "withdrawn":
        return "withdrawn"
    if person.excluded is not None:
        return "screened-out"
    if person.ended is not None:
        return person.ended
    if study.most_per_person is not None and person.items >= study.most_per_person:
        return "complete"
    if (study.state == "open" or person.items) and not _something_left(session, study, person):
        return "complete" if person.items else "full"
    return {"open": "waiting", "paused": "paused"}.get(study.state, "closed")


def _something_left(session: Session, study: Study, person: Annotator) -> bool:
    """Whether there is an item that this person has not answered, and that others have not completed."""
    other_assignments = aliased(Assignment)
    answered = exists().where(
        Assignment.item_id == StudyItem.id, Assignment.annotator_id == person.id, Assignment.answered.is_not(None)
    )
    # A place that somebody holds may become free again.
    held = exists().where(other_assignments.item_id == StudyItem.id, other_assignments.state == "given")
    query = select(StudyItem.id).where(
        StudyItem.study_id == study.id, StudyItem.role == "item", ~answered, (StudyItem.taken < study.judgments) | held
    )
    return session.execute(query.limit(1)).first() is not None


def with_code(kind: str, study: Study, person: Annotator | None) -> Ending:
    """The ending with its code and link.

    Without a code of the platform's for it, complete and partial work has the person's own, by which the owner finds
    them; there is none for work that was screened out or not agreed to.
    """
    settings = settings_of(study)
    name = _CODES.get(kind)
    if name is None:
        return Ending(kind)
    ending: dict[str, str] = settings.get("endings", {}).get(name, {})
    if name == "completion":
        ending = {"code": settings["completion_code"], "url": settings["completion_url"]}
    code, url = ending.get("code", ""), ending.get("url", "")
    if not code and name in ("completion", "partial") and person is not None:
        return Ending(kind, code=person.completion, url=url)
    return Ending(kind, code=code, url=completion_address(settings.get("platform", ""), code, url))


def finish(session: Session, study: Study, person: Annotator) -> bool:
    """Ends with what the person has, where they have waited; the owner sees it as partial. False: they must wait."""
    if has_left(person) or person.excluded is not None:
        return True
    now_at = ending(session, study, person)
    if now_at.kind == "complete":
        return True
    if now_at.minutes != 0:
        return False
    _end(session, study, person, "partial")
    return True


def stop(session: Session, study: Study, person: Annotator) -> None:
    """Ends by the person's wish; their answers stay."""
    if person.ended is None and person.excluded is None:
        _end(session, study, person, "stopped")


def stop_and_withdraw(session: Session, study: Study, person: Annotator) -> None:
    """Ends by the person's wish, and deletes what they answered."""
    withdraw(session, study, person)
    person.ended, person.ended_at = "withdrawn", now()


def _end(session: Session, study: Study, person: Annotator, how: str) -> None:
    give_back(session, study, person)
    person.ended, person.ended_at = how, now()


def state_of(person: Annotator) -> str:
    """How the person stands, in a word for the owner."""
    if person.excluded is not None and person.ended != "withdrawn":
        return "screened out"
    return person.ended or "at work"
