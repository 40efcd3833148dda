"""Pages of annotators: the entrance, one question at a time, and the end with the completion code."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import Form, Request
from sqlalchemy.orm import Session

from capeval_server.accounts.access import Role
from capeval_server.store.blobs import fetch
from capeval_server.store.models import Annotator, Assignment, Study, StudyImage
from capeval_server.studies import repository
from capeval_server.studies.annotators import Arrival, begin, known, study_and_person
from capeval_server.studies.assignment import next_assignment, pages_of, present, record
from capeval_server.web.context import Context, RequestContext, Response
from capeval_server.web.errors import Refused, not_found
from capeval_server.web.routing import Routes
from capeval_server.web.security import CONTENT_SECURITY_POLICY
from capeval_studies.kinds import AnswerError

routes = Routes()
Text = Annotated[str, Form(max_length=200)]


@routes.page("/s/{code}", role=Role.ANYONE)
def welcome(context: Context, code: str) -> Response:
    """Instructions and consent; the link's worker, study and session go on with the form."""
    arrival = Arrival.of(context.request.query_params)
    with context.database.read() as session:
        study, person = study_and_person(session, code, context.cookie_hash)
    settings = repository.settings_of(study)
    lacks_worker = settings["workers_only"] and not arrival.worker and (person is None or not person.worker)
    return context.render(
        "annotate-welcome.html", study=study, kind=repository.kind_of(study), study_settings=settings, arrival=arrival,
        person=person, lacks_worker=lacks_worker,
    )  # fmt: skip


@routes.page("/s/{code}/begin", role=Role.ANYONE, methods=("POST",))
def begin_done(context: Context, code: str, worker: Text = "", study: Text = "", session: Text = "") -> Response:
    arrival = Arrival.of({"worker": worker, "study": study, "session": session})
    with context.database.write() as transaction:
        found = repository.by_code(transaction, code)
        if arrival.is_preview:
            raise Refused(403, "This is a preview. Accept the work on the platform, then begin.")
        if repository.settings_of(found)["workers_only"] and not arrival.worker:
            person = known(transaction, found, context.cookie_hash)
            if person is None or not person.worker:
                raise Refused(403, "This study can be done only from the link on the crowd platform.")
        begin(transaction, found, context.cookie_hash, arrival)
    return context.redirect(f"/s/{code}/task")


@routes.page("/s/{code}/task", role=Role.ANYONE)
def task(context: Context, code: str) -> Response:
    """The question this person has, or the next one; the same again after a reload."""
    with context.database.read() as session:
        study, person = study_and_person(session, code, context.cookie_hash)
        given = present(session, person) if person is not None else None
        image = _image(session, study, given)
    if person is None:
        return context.redirect(f"/s/{code}")
    if given is None:
        with context.database.write() as session:
            study, person = study_and_person(session, code, context.cookie_hash)
            if person is not None:
                given = next_assignment(session, study, person)
                image = _image(session, study, given)
        if person is None:
            return context.redirect(f"/s/{code}")
    return _question(context, study, person, given, image)


@routes.page("/s/{code}/answer", role=Role.ANYONE, methods=("POST",))
async def answer_sent(context: Context, request: Request, code: str) -> Response:
    form = await request.form()
    values = {name: value for name, value in form.items() if isinstance(value, str)}
    from starlette.concurrency import run_in_threadpool

    return await run_in_threadpool(_answer, context, code, values)


def _answer(context: RequestContext, code: str, form: dict[str, str]) -> Response:
    """Stores the answer and gives out the next question in one transaction, then leads to it."""
    number = form.get("assignment", "")
    if not number.isascii() or not number.isdecimal() or len(number) > 15:
        raise not_found("question")
    problem, image, cookie_hash = "", None, context.cookie_hash
    with context.database.write() as session:
        study, person = study_and_person(session, code, cookie_hash)
        if person is None:
            raise Refused(403, "This browser has not begun the study. Open the link you were given again.")
        try:
            in_time = record(session, study, person, int(number), form)
        except AnswerError as refused:
            problem = str(refused)
            in_time = True
        given = next_assignment(session, study, person)
        if problem:
            image = _image(session, study, given)
    if problem:
        return _question(context, study, person, given, image, problem=problem, values=form)
    return context.redirect(f"/s/{code}/task", "" if in_time else "too-late")


def _image(session: Session, study: Study, given: Assignment | None) -> StudyImage | None:
    return None if given is None else repository.image_of(session, study, json.loads(given.item.content))


def _question(
    context: RequestContext,
    study: Study,
    person: Annotator,
    given: Assignment | None,
    image: StudyImage | None,
    problem: str = "",
    values: dict[str, str] | None = None,
) -> Response:
    if given is None:
        return _end(context, study, person)
    kind = repository.kind_of(study)
    page = context.render(
        f"annotate-{kind.template}.html", 422 if problem else 200, study=study, kind=kind, person=person, given=given,
        content=json.loads(given.item.content), order=json.loads(given.shown_order), image=image, problem=problem,
        values=values or {}, preview=False, study_settings=repository.settings_of(study), total=pages_of(study, person),
    )  # fmt: skip
    return allow_image(page, image)


def allow_image(page: Response, *images: StudyImage | None) -> Response:
    """Lets the page load images from where the study says they are."""
    origins = sorted({origin for image in images if (origin := repository.image_policy(image)) is not None})
    if origins:
        policy = CONTENT_SECURITY_POLICY.replace("img-src", f"img-src {' '.join(origins)}")
        page.headers["Content-Security-Policy"] = policy
    return page


def _end(context: RequestContext, study: Study, person: Annotator) -> Response:
    settings = repository.settings_of(study)
    earned = person.items > 0 and person.excluded is None
    completion: dict[str, Any] = {
        "code": (settings["completion_code"] or person.completion) if earned else "",
        "url": settings["completion_url"] if earned else "",
    }
    return context.render("annotate-end.html", study=study, person=person, completion=completion)


@routes.page("/images/{image}", role=Role.ANYONE)
def study_image(context: Context, image: str) -> Response:
    """An image that a study's file brought along; its address is random."""
    from sqlalchemy import select

    with context.database.read() as session:
        found = session.execute(select(StudyImage).where(StudyImage.code == image)).scalar_one_or_none()
        if found is None or found.blob_sha is None:
            raise not_found("image")
        data = fetch(session, found.blob_sha)
    headers = {"Cache-Control": "private, max-age=86400, immutable"}
    return Response(data, media_type=found.media_type, headers=headers)
