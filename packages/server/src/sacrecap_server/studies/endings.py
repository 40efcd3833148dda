"""How people end: the messages for a person who has no question, and what the owner decides about people and answers.

Whom to approve and to pay, what is odd, which answers are rejected, who is forgotten. Nothing follows from a remark:
each may be harmless.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from urllib.parse import quote

from sqlalchemy import delete, exists, func, select
from sqlalchemy.orm import Session, aliased

from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyFindings, StudyItem, now
from sacrecap_server.studies.assignment import AGAIN, ANSWERED, TOO_FAST, WITH_ITEM, give_back, withdraw

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


def ending(session: Session, study: Study, person: Annotator) -> Ending:
    """How it stands for this person, who has no question; notes that they are complete, when they are."""
    kind = {"open": "waiting", "paused": "paused"}.get(study.state, "closed")
    if person.excluded is not None and person.ended != "withdrawn":
        kind = "screened-out"
    elif person.ended is not None:
        kind = person.ended
    elif study.most_per_person is not None and person.items >= study.most_per_person:
        kind = "complete"
    elif (study.state == "open" or person.items) and not _something_left(session, study, person):
        kind = "complete" if person.items else "full"
    if kind == "complete" and person.ended is None:
        person.ended, person.ended_at = "complete", now()
    if kind in ("waiting", "paused", "closed") and person.items:
        # From the last answer, people wait as long as a question may be kept: then all that others held is free.
        query = select(func.max(Assignment.answered)).where(Assignment.annotator_id == person.id)
        last = session.execute(query).scalar_one() or person.started
        seconds = (last + dt.timedelta(minutes=study.minutes) - now()).total_seconds()
        return Ending(kind, max(0, -int(-seconds // 60)) if kind != "closed" else 0)
    return with_code(kind, study, person)


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
    settings = study.settings
    if (name := _CODES.get(kind)) is None:
        return Ending(kind)
    ending: dict[str, str] = settings.get("endings", {}).get(name, {})
    if name == "completion":
        ending = {"code": settings["completion_code"], "url": settings["completion_url"]}
    code, url = ending.get("code", ""), ending.get("url", "")
    if not code and name in ("completion", "partial") and person is not None:
        return Ending(kind, code=person.completion, url=url)
    if not url and code and settings.get("platform", "") == "prolific":  # what it does with its codes
        url = f"https://app.prolific.com/submissions/complete?cc={quote(code, safe='')}"
    return Ending(kind, code=code, url=url)


def finish(session: Session, study: Study, person: Annotator) -> bool:
    """Ends with what the person has, where they have waited; the owner sees it as partial. False: they must wait."""
    if person.ended in LEFT or person.excluded is not None:
        return True
    now_at = ending(session, study, person)
    if now_at.kind == "complete":
        return True
    if now_at.minutes != 0:
        return False
    give_back(session, study, person)
    person.ended, person.ended_at = "partial", now()
    return True


def stop(session: Session, study: Study, person: Annotator, *, deletes: bool = False) -> None:
    """Ends by the person's wish; their answers stay, or are deleted."""
    if deletes:
        withdraw(session, study, person)
        person.ended, person.ended_at = "withdrawn", now()
    elif person.ended is None and person.excluded is None:
        give_back(session, study, person)
        person.ended, person.ended_at = "stopped", now()


def state_of(person: Annotator) -> str:
    """How the person stands, in a word for the owner."""
    if person.excluded is not None and person.ended != "withdrawn":
        return "screened out"
    return person.ended or "at work"


def reject(session: Session, study: Study, answer_id: int, reason: str = "") -> None:
    """The answer does not count from now on, whatever becomes of the person, and somebody else is asked."""
    assignment = _answer(session, study, answer_id)
    if assignment.state == "answered":
        study.wave = 0
        assignment.item.taken -= assignment.role != AGAIN
    if assignment.state in ANSWERED:
        assignment.state, assignment.reason = "rejected", " ".join(reason.split())[:200]


def restore(session: Session, study: Study, answer_id: int) -> None:
    """Takes a rejection back.

    Raises `Refused` (409) if others have completed the question meanwhile: it would have one answer too many.
    """
    assignment = _answer(session, study, answer_id)
    if assignment.state != "rejected":
        return
    person = session.get_one(Annotator, assignment.annotator_id)
    if person.excluded is not None:
        assignment.state = "discarded"
    elif assignment.role == "item" and assignment.item.taken >= study.judgments:
        raise Refused(409, "Others have answered this question meanwhile, so there is no place for this answer.")
    else:
        assignment.state = "answered"
        assignment.item.taken += assignment.role != AGAIN
    assignment.reason = ""


def _answer(session: Session, study: Study, answer_id: int) -> Assignment:
    query = WITH_ITEM.where(Assignment.id == answer_id, Assignment.study_id == study.id)
    assignment = session.execute(query).scalar_one_or_none()
    if assignment is None:
        raise not_found("answer")
    return assignment


def erase(session: Session, study: Study, person: Annotator) -> None:
    """Deletes a person with all they answered; others are asked instead."""
    withdraw(session, study, person)
    session.execute(delete(StudyFindings).where(StudyFindings.study_id == study.id))  # they name the person
    session.delete(person)


def flags_of(people: Iterable[Annotator], spreads: dict[int, float | None]) -> dict[int, list[str]]:
    """Remarks on all people of a study, none for most; `spreads` are those of their times, as `quality` has them."""
    there = list(people)
    places = Counter(person.place for person in there if person.place)
    flags: dict[int, list[str]] = {}
    for person in there:
        spread, together = spreads.get(person.id), places[person.place or ""]
        remarks = {
            f"pasted into {person.pasted} of {person.pages} answers": person.pasted > 0.1 * person.pages,
            f"in another window during {person.away} of {person.pages}": person.away > 0.5 * person.pages,
            "answers at an even pace": spread is not None and spread < 0.1,  # such times are rarely a person's
            f"{together} people at one address": together > 2,  # as in many households
        }
        flags[person.id] = [remark for remark, holds in remarks.items() if holds]
    return flags


PARTS = ("partial", "stopped", "too-fast")
"""How people ended who did a part of the work,"""
DONE = ("complete", *PARTS)
"""or all of it."""
Rows = list[tuple[str, ...]]


def approvals(people: Iterable[Annotator], platform: str) -> Rows:
    """Rows of a file; those who are excluded are in Mechanical Turk's with the reason, and in no other.

    Prolific takes a list of ids, and pays each the whole reward: it has those who are complete.
    """
    named = [person for person in people if person.worker]
    if platform != "mturk":
        return [(str(person.worker),) for person in named if state_of(person) == "complete"]
    rows: Rows = [("HITId", "AssignmentId", "WorkerId", "Approve", "Reject")]
    for person in named:
        is_done = state_of(person) in DONE
        reason = "" if person.excluded is None else f"Excluded: {person.excluded}."
        if is_done or reason:
            ids = (person.platform_study, person.platform_session, str(person.worker))
            rows.append((*ids, "x" if is_done else "", reason))
    return rows


def bonuses(people: Iterable[Annotator], platform: str, per_answer: Decimal) -> Rows:
    """Pay by answer, for those who did a part; on Mechanical Turk, which pays all approved work alike, for all."""
    is_turk = platform == "mturk"
    rows: Rows = [("WorkerId", "AssignmentId", "BonusAmount", "Reason")] if is_turk else []
    for person in people:
        if person.worker and person.items and state_of(person) in (DONE if is_turk else PARTS):
            amount = str((per_answer * person.items).quantize(Decimal("0.01"), ROUND_HALF_UP))
            more = (person.platform_session, amount, f"{person.items} answers") if is_turk else (amount,)
            rows.append((person.worker, *more))
    return rows
