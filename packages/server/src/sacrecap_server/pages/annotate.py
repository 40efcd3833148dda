"""Pages of annotators: the entrance, one question at a time, and the ways to end."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Form, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap_server.errors import Refused, not_found
from sacrecap_server.settings import is_loopback
from sacrecap_server.store.schema import Annotator, Assignment, Blob, Study, StudyImage
from sacrecap_server.studies import arrivals, endings, repository
from sacrecap_server.studies.assignment import next_assignment, pages_of, present, record
from sacrecap_server.studies.endings import Ending
from sacrecap_server.web.context import Context, RequestContext, Role, Routes
from sacrecap_server.web.security import neighbourhood, policy
from sacrecap_server.web.templates import Language
from sacrecap_studies.messages import Message
from sacrecap_studies.questions import AnswerError, captions_of, words_of

routes = Routes()
Text = Annotated[str, Form(max_length=200)]


async def _fields(request: Request) -> dict[str, str]:
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


Fields = Annotated[dict[str, str], Depends(_fields)]
"""All texts of a form, by name."""


@dataclass
class Visit:
    """A browser in a study: what its pages are made from."""

    context: RequestContext
    study: Study
    person: Annotator | None
    inert: str = ""
    """In a preview: the address to which every link of the study leads."""

    @classmethod
    def of(cls, context: RequestContext, session: Session, code: str) -> Visit:
        """The visit of this request; from here on, its pages are in the study's language, and framed as it may be."""
        mine = (Annotator.study_id == Study.id) & (Annotator.cookie_hash == context.cookie_hash)
        query = select(Study, Annotator).outerjoin(Annotator, mine).where(Study.code == code)
        row = session.execute(query).one_or_none()
        if row is None:
            raise not_found("study")
        visit = cls(context, *row)
        if visit.study.settings.get("platform") == "mturk" and not context.in_address:
            context.keep_in_address()
            visit.person = None
        visit.prepare()
        return visit

    def prepare(self, images: Mapping[str, StudyImage] = MappingProxyType({})) -> None:
        """Sets language and policy of the page, and lets it load images from where the study says they are."""
        tag, texts, writing = (self.study.settings.get(name) for name in ("language", "texts", "direction"))
        self.context.language = Language(tag or "en", texts or {}, writing or "")
        is_turk = self.study.settings.get("platform") == "mturk"
        frames = (arrivals.MTURK_FRAMES, *self.context.settings.frame_hosts) if is_turk else ()
        self.context.policy = policy([image.url for image in images.values()], frames)

    def to(self, path: str, **query: str) -> str:
        """The address of a page of this study, for this browser."""
        if self.inert:
            return self.inert
        if self.context.in_address:
            query["pass"] = self.context.cookie
        return f"/s/{self.study.code}{path}" + (f"?{urlencode(query)}" if query else "")

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page of the study."""
        return self.context.render(
            template,
            status,
            **{"preview": None, **values},
            study=self.study,
            kind=repository.kind_of(self.study),
            person=self.person,
            to=self.to,
        )

    def begun(self) -> Annotator:
        """The person; refuses a browser that has not begun."""
        if self.person is None:
            raise Refused(403, "This browser has not begun the study. Open the link you were given again.")
        return self.person


@routes.annotator_page("/s/{code}")
def welcome(context: Context, code: str) -> Response:
    """Instructions and consent; what the link says goes on with the form."""
    arrival = arrivals.Arrival.of(context.request.query_params)
    with context.database.read() as session:
        visit = Visit.of(context, session, code)
    token, obstacle = context.request.query_params.get(arrivals.TOKEN, ""), ""
    if token and visit.study.settings.get("signed_links"):
        try:
            ids = context.state.prolific.ids(token, arrivals.open_link(context.base_address, code))
            obstacle = _INCOMPLETE if ids is None else ""
            if ids is not None:  # whom Prolific has signed comes under our signature, which lasts while people read
                arrival = arrivals.Arrival.of(ids)
                signature = arrivals.personal_signature(context.state.secret_key, code, arrival.worker)
                arrival = replace(arrival, signature=signature)
        except arrivals.AwayError:
            obstacle = Message(
                "The platform cannot be asked now whether this link is right. Open it again in a minute."
            )
    obstacle = obstacle or _obstacle(visit, arrival)
    return visit.render("annotate-welcome.html", arrival=arrival, obstacle=obstacle)


_INCOMPLETE = Message("This link is not complete. Open it again exactly as the platform gives it.")


def _obstacle(visit: Visit, arrival: arrivals.Arrival) -> str:
    """Why this browser cannot begin; nothing if it can."""
    if arrival.session == arrivals.PREVIEW:
        return Message("This is a preview. Accept the work on the platform to begin.")
    if visit.person is not None and arrival.worker in ("", visit.person.worker):
        return ""
    secret_key, code = visit.context.state.secret_key, visit.study.code
    if arrival.is_signed(secret_key, code):
        return ""
    if visit.study.settings.get("signed_links"):
        return _INCOMPLETE
    if visit.study.settings.get("personal_links"):
        return Message("Please come by your personal link, exactly as it was sent to you.")
    if arrival.worker:
        return "" if arrivals.is_right(arrival.key, arrivals.platform_key(secret_key, code)) else _INCOMPLETE
    if visit.study.settings["workers_only"] or visit.study.settings.get("platform"):
        return Message("Please come by the link on the crowd platform, which says who you are.")
    return ""


@routes.annotator_page("/s/{code}/begin", methods=("POST",))
def begin_done(context: Context, code: str, form: Fields) -> Response:
    arrival = arrivals.Arrival.of(form)
    with context.database.read() as session:
        visit = Visit.of(context, session, code)
    if obstacle := _obstacle(visit, arrival):
        raise Refused(403, obstacle)
    is_signed = arrival.is_signed(context.state.secret_key, code)
    if visit.person is None and not is_signed and not is_loopback(context.address):
        # Ids can be made up, and cookies be deleted: whoever needs many people from one place signs their links.
        context.state.beginnings.take(neighbourhood(context.address))
    with context.database.write() as session:
        visit = Visit.of(context, session, code)
        try:
            arrivals.begin(
                session,
                visit.study,
                context.cookie_hash,
                arrival,
                is_signed=is_signed,
                submit_to=arrivals.submit_origin(arrival.submit_to, context.settings.frame_hosts),
                place=arrivals.place_mark(context.state.secret_key, code, neighbourhood(context.address)),
            )
        except arrivals.ElsewhereError:
            raise Refused(
                403,
                "Somebody has begun with this id in another browser. Go on there, or open the platform's link again.",
            ) from None
    return context.redirect(visit.to("/task"))


@routes.annotator_page("/s/{code}/decline", methods=("POST",))
def decline(context: Context, code: str) -> Response:
    """Whoever does not agree leaves with the platform's code for that. Nothing about them is stored."""
    with context.database.read() as session:
        visit = Visit.of(context, session, code)
    return visit.render("annotate-end.html", ending=endings.with_code("no-consent", visit.study, None))


@routes.annotator_page("/s/{code}/task")
def task(context: Context, code: str) -> Response:
    """The question this person has, or the next one; the same again after a reload."""
    with context.database.read() as session:
        visit = Visit.of(context, session, code)
        # Once the study is closed, no answer is taken any more.
        is_over = visit.study.state == "closed" or (visit.person is not None and visit.person.ended in endings.LEFT)
        assignment = None if is_over or visit.person is None else present(session, visit.person)
        images = _images(session, visit.study, assignment)
    if visit.person is None:
        return context.redirect(visit.to(""))
    if assignment is not None:
        return show_question(visit, assignment, images)
    with context.database.write() as session:
        visit = Visit.of(context, session, code)
        assignment, ending = _next(session, visit.study, visit.begun())
        images = _images(session, visit.study, assignment)
    if assignment is not None:
        return show_question(visit, assignment, images)
    return visit.render("annotate-end.html", ending=ending)


def _next(session: Session, study: Study, person: Annotator) -> tuple[Assignment | None, Ending]:
    """The person's next question, or how it stands for them."""
    is_over = person.ended in endings.LEFT or study.state == "closed"
    assignment = None if is_over else next_assignment(session, study, person)
    return assignment, Ending("") if assignment is not None else endings.ending(session, study, person)


@routes.annotator_page("/s/{code}/answer", methods=("POST",))
def answer_sent(context: Context, code: str, form: Fields) -> Response:
    """Stores the answer and gives out the next question in one transaction, then leads to it.

    Pages send answers by script, so that they stay where the network fails; then this answers in JSON.
    """
    number = form.get("assignment", "")
    if not number.isascii() or not number.isdecimal() or len(number) > 15:
        raise not_found("question")
    by_script = context.request.headers.get("accept") == "application/json"
    problem = ""
    images: dict[str, StudyImage] = {}
    with context.database.write() as session:
        visit = Visit.of(context, session, code)
        person = visit.begun()
        try:
            in_time = person.ended not in endings.LEFT and record(session, visit.study, person, int(number), form)
        except AnswerError as refused:
            problem = context.language.translate(refused.text)
            in_time = True
        assignment, _ending = _next(session, visit.study, person)
        if problem and not by_script:
            images = _images(session, visit.study, assignment)
    if problem and by_script:
        return JSONResponse({"problem": problem}, 422)
    if problem and assignment is not None:
        return show_question(visit, assignment, images, problem=problem, values=form)
    onward = visit.to("/task", **({} if in_time else {"notice": "too-late"}))
    return JSONResponse({"next": onward}) if by_script else context.redirect(onward)


@routes.annotator_page("/s/{code}/stop")
def stop_page(context: Context, code: str) -> Response:
    """The choice of somebody who wants to stop: keep what they answered, or delete it."""
    with context.database.read() as session:
        visit = Visit.of(context, session, code)
    if visit.person is None:
        return context.redirect(visit.to(""))
    return visit.render("annotate-stop.html", problem="")


@routes.annotator_page("/s/{code}/stop", methods=("POST",))
def stop_done(context: Context, code: str, how: Text = "", sure: Text = "") -> Response:
    """Ends this person's work. Deleting needs a tick: nothing brings the answers back."""
    problem = ""
    with context.database.write() as session:
        visit = Visit.of(context, session, code)
        person = visit.begun()
        if how == "keep":
            endings.stop(session, visit.study, person)
        elif how != "withdraw":
            raise Refused(422, "Give `how` as keep or withdraw.")
        elif sure != "yes":
            problem = context.language.gettext("Tick the box if your answers are to be deleted.")
        else:
            endings.stop(session, visit.study, person, deletes=True)
    if problem:
        return visit.render("annotate-stop.html", 422, problem=problem)
    return context.redirect(visit.to("/task"))


@routes.annotator_page("/s/{code}/finish", methods=("POST",))
def finish_done(context: Context, code: str) -> Response:
    """Ends with what the person has, once they have waited for the rest."""
    with context.database.write() as session:
        visit = Visit.of(context, session, code)
        endings.finish(session, visit.study, visit.begun())
    return context.redirect(visit.to("/task"))


def _images(session: Session, study: Study, assignment: Assignment | None) -> dict[str, StudyImage]:
    return {} if assignment is None else repository.shown_images(session, study, [assignment.item.content])


def show_question(visit: Visit, assignment: Assignment, images: Mapping[str, StudyImage], **values: Any) -> Response:
    """One question; 422 where `problem` says what is missing of the answer."""
    visit.prepare(images)
    study = visit.study
    assert visit.person is not None
    content = assignment.item.content
    form: dict[str, Any] = {"problem": "", "values": {}, **values}
    return visit.render(
        "annotate-question.html",
        422 if form["problem"] else 200,
        given=assignment,
        content=content,
        asked=repository.kind_of(study).page_questions(content),
        captions=captions_of(content),
        words_of=words_of,
        images=images,
        done=visit.person.pages or 0,
        most=pages_of(study, visit.person),
        **form,
    )


@routes.page("/images/{image}", role=Role.ANYONE)
def study_image(context: Context, image: str) -> Response:
    """An image that a study's file brought along; its address is random."""
    with context.database.read() as session:
        study_image = session.execute(select(StudyImage).where(StudyImage.code == image)).scalar_one_or_none()
        if study_image is None or study_image.blob_sha is None:
            raise not_found("image")
        data = zlib.decompress(session.get_one(Blob, study_image.blob_sha).data)
    headers = {"Cache-Control": "private, max-age=86400, immutable"}
    return Response(data, media_type=study_image.media_type, headers=headers)
