"""The people of a study, for its owner: links to send, who came by which of the platform's sessions, how each ended.

And leaving one out, or deleting one with all they answered.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from fastapi import Form, Query
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sacrecap_server.errors import Refused, not_found
from sacrecap_server.log import event
from sacrecap_server.store.schema import Annotator, Assignment, Study
from sacrecap_server.studies import links, repository, review
from sacrecap_server.studies.assignment import exclude, include
from sacrecap_server.studies.endings import state_of
from sacrecap_server.studies.people import approvals, bonuses
from sacrecap_server.studies.results import people_of
from sacrecap_server.web.context import Context, RequestContext, Response
from sacrecap_server.web.owner import Role
from sacrecap_server.web.routing import Routes
from sacrecap_studies.export import no_formula
from sacrecap_studies.messages import Message

routes = Routes()
_MOST_LINKS = 2000
_LONGEST_ID = 128


@dataclass(frozen=True)
class StudyLinks:
    """The addresses by which people come to a study."""

    anybody: str
    platforms: dict[str, str]
    """By the platform's name."""


def links_of(context: RequestContext, study: Study) -> StudyLinks:
    """The study's links, by the server's address for people."""
    base, key = context.base_address, context.state.secret_key
    platform = repository.settings_of(study).get("platform") or "prolific"
    if repository.settings_of(study).get("signed_links"):
        return StudyLinks(links.open_link(base, study.code), {"Prolific": links.open_link(base, study.code)})
    platforms = {links.PLATFORMS[platform]: links.platform_link(base, key, study.code, platform)}
    if platform != "mturk":
        platforms["Another platform"] = links.platform_link(base, key, study.code, "")
    return StudyLinks(links.open_link(base, study.code), platforms)


@routes.page("/studies/{study_id}/links", role=Role.OWNER, methods=("POST",))
def personal_links(context: Context, study_id: int, workers: Annotated[str, Form(max_length=200_000)] = "") -> Response:
    """A table of personal links, one for each id of the form. Nothing is stored: the server knows its signature."""
    with context.database.read() as session:
        study = repository.find(session, study_id)
    ids = list(dict.fromkeys(line.strip() for line in workers.splitlines() if line.strip()))
    wrong = [worker for worker in ids if len(worker) > _LONGEST_ID or not worker.isprintable()]
    problems = [
        Message(
            "%(id)s is not printable, or has too many characters: %(number)s.", id=repr(worker[:60]), number=len(worker)
        )
        for worker in wrong[:10]
    ]
    if not ids or len(ids) > _MOST_LINKS or wrong:
        raise Refused(
            422,
            "Write 1 to %(most)s ids, one per line, each with at most %(longest)s printable characters.",
            problems,
            most=f"{_MOST_LINKS:,}",
            longest=_LONGEST_ID,
        )
    base, key = context.base_address, context.state.secret_key
    table = _table(
        [("worker", "link"), *((worker, links.personal_link(base, key, study.code, worker)) for worker in ids)]
    )
    return context.download(table, f"study-{study_id}-links.csv", "text/csv")


@routes.page("/studies/{study_id}/people", role=Role.OWNER)
def people_page(context: Context, study_id: int) -> Response:
    """Everybody who began, newest first."""
    study, people = _people(context, study_id)
    return context.render(
        "study-people.html",
        study=study,
        people=people[::-1],
        state_of=state_of,
        platform=repository.settings_of(study).get("platform", ""),
    )


_COLUMNS: dict[str, Callable[[Annotator], str]] = {
    "person": lambda person: str(person.id),
    "worker": lambda person: person.worker or "",
    "platform_study": lambda person: person.platform_study,
    "platform_session": lambda person: person.platform_session,
    "started": lambda person: person.started.isoformat(),
    "answers": lambda person: str(person.items),
    "state": state_of,
    "ended": lambda person: person.ended_at.isoformat() if person.ended_at else "",
    "excluded": lambda person: person.excluded or "",
    "own_code": lambda person: person.completion,
    "pasted": lambda person: str(person.pasted),
    "away": lambda person: str(person.away),
}
"""What each column of the people has."""


@routes.token_page("/studies/{study_id}/people.csv")
def people_table(context: Context, study_id: int) -> Response:
    """Everybody who began, with the platform's ids: whom to pay, and for what."""
    _, people = _people(context, study_id)
    places = Counter(person.place for person in people if person.place)
    rows = ([*(read(person) for read in _COLUMNS.values()), str(places[person.place or ""])] for person in people)
    head = [*_COLUMNS, "same_address"]
    return context.download(_table([head, *rows]), f"study-{study_id}-people.csv", "text/csv")


@routes.token_page("/studies/{study_id}/approve")
def approve_list(context: Context, study_id: int) -> Response:
    """Whose work is to be approved, as the study's platform takes it."""
    study, people = _people(context, study_id)
    platform = repository.settings_of(study).get("platform", "")
    table = _table(approvals(people, platform))
    return context.download(table, f"study-{study_id}-approve.{'csv' if platform == 'mturk' else 'txt'}", "text/csv")


@routes.token_page("/studies/{study_id}/bonus")
def bonus_list(
    context: Context, study_id: int, per_answer: Annotated[Decimal, Query(gt=0, le=1000, max_digits=8)]
) -> Response:
    """What those get who did a part of the work, as the study's platform takes it."""
    study, people = _people(context, study_id)
    table = _table(bonuses(people, repository.settings_of(study).get("platform", ""), per_answer))
    return context.download(table, f"study-{study_id}-bonus.csv", "text/csv")


@routes.page("/studies/{study_id}/people/{annotator_id}", role=Role.OWNER)
def person_page(context: Context, study_id: int, annotator_id: int) -> Response:
    with context.database.read() as session:
        study, person = person_of(session, study_id, annotator_id)
        answered = select(func.count()).where(Assignment.annotator_id == person.id, Assignment.answered.is_not(None))
        count = session.execute(answered).scalar_one()
    return context.render("person-delete.html", study=study, person=person, count=count)


@routes.page("/studies/{study_id}/people/{annotator_id}", role=Role.OWNER, methods=("POST",))
def change_person(
    context: Context, study_id: int, annotator_id: int, action: Annotated[str, Form(max_length=400)] = ""
) -> Response:
    """Excludes a person, or reverses that; or deletes them, a right by article 17 of the GDPR."""
    with context.database.write() as session:
        study, person = person_of(session, study_id, annotator_id)
        if action == "exclude":
            exclude(session, study, person, Message("by the owner"))
        elif action == "include":
            include(session, study, person)
        elif action == "delete":
            review.erase(session, study, person)
        else:
            raise Refused(422, "The action is one of exclude, include, delete.")
    event(f"study.{action}", study=study_id, person=annotator_id)
    return context.redirect(f"/studies/{study_id}/quality", "deleted" if action == "delete" else "saved")


def person_of(session: Session, study_id: int, annotator_id: int) -> tuple[Study, Annotator]:
    """The study, and one of its people."""
    study, person = repository.find(session, study_id), session.get(Annotator, annotator_id)
    if person is None or person.study_id != study.id:
        raise not_found("person")
    return study, person


def _people(context: RequestContext, study_id: int) -> tuple[Study, list[Annotator]]:
    """The study, and everybody who began, oldest first."""
    with context.database.read() as session:
        study = repository.find(session, study_id)
        return study, list(people_of(session, study).values())


def _table(rows: Iterable[Iterable[str]]) -> str:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([no_formula(value) for value in row] for row in rows)
    return file.getvalue()
