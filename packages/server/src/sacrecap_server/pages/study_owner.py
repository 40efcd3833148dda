"""Studies, for those who own them: making, watching, quality, people, answers, exports."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Form, Query, UploadFile
from fastapi.responses import JSONResponse, Response

from sacrecap_server.accounts.access import Role
from sacrecap_server.api import studies
from sacrecap_server.errors import Refused, not_found, problems_of_form
from sacrecap_server.pages.study_people import links_of
from sacrecap_server.store.models import Annotator, Job, Study
from sacrecap_server.studies import answer_statistics, repository, review
from sacrecap_server.studies.assignment import exclude, include
from sacrecap_server.studies.people import flags_of
from sacrecap_server.studies.results import ROLES, STATES, Filter, answers_page, people_of, progress, progress_of_all
from sacrecap_server.web.context import Context
from sacrecap_server.web.routing import Routes
from sacrecap_server.web.security import policy
from sacrecap_studies import KINDS
from sacrecap_studies.export import export_name
from sacrecap_studies.kinds import StudyKind
from sacrecap_studies.messages import Message
from sacrecap_studies.questions import LETTERS, captions_of, images_of

routes = Routes()
Text = Annotated[str, Form(max_length=400)]
Long = Annotated[str, Form(max_length=20_000)]
Search = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]


@routes.page("/studies", role=Role.ORGANISER)
def list_page(context: Context) -> Response:
    return _list(context, [])


def _list(context: Context, problems: list[str]) -> Response:
    with context.database.read() as session:
        found = repository.listed(session, context.caller)
        done = progress_of_all(session, [study for study, _ in found])
    rows = [(study, owner, *done[study.id]) for study, owner in found]
    return context.render("studies.html", 422 if problems else 200, rows=rows, problems=problems, kinds=KINDS)


@routes.page("/studies", role=Role.ORGANISER, methods=("POST",))
def make_done(context: Context, file: UploadFile) -> Response:
    """The file is read as a whole first: a study is made of it, or every problem is listed."""
    try:
        made = studies.make_study(context, file.file.read())
    except Refused as refusal:
        return _list(context, problems_of_form(refusal))
    return context.redirect(f"/studies/{made.id}", "study-made")


@routes.page("/studies/{study_id}", role=Role.ORGANISER)
def study_page(context: Context, study_id: int) -> Response:
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        done, sizes = progress(session, study), repository.sizes(session, study)
        remarks = repository.remarks_of(session, study)
        shared_with = review.members(session, study)
    return context.render(
        "study.html",
        study=study,
        kind=repository.kind_of(study),
        progress=done,
        sizes=sizes,
        study_settings=repository.settings_of(study),
        export_name=export_name(repository.kind_of(study)),
        links=links_of(context, study),
        remarks=remarks,
        shared_with=shared_with,
    )


@routes.page("/studies/{study_id}/state", role=Role.ORGANISER, methods=("POST",))
def change_state(context: Context, study_id: int, state: Text = "") -> Response:
    studies.set_state(context, study_id, studies.StateBody(state=state))
    return context.redirect(f"/studies/{study_id}", "saved")


@routes.page("/studies/{study_id}/delete", role=Role.ORGANISER)
def delete_page(context: Context, study_id: int) -> Response:
    """Lists what will be deleted, and asks for confirmation."""
    return _delete_page(context, study_id, problem="")


def _delete_page(context: Context, study_id: int, problem: str) -> Response:
    with context.database.read() as session:
        study = repository.find_own(session, study_id, context.caller)
        done = progress(session, study)
    return context.render(
        "study-delete.html",
        422 if problem else 200,
        study=study,
        progress=done,
        problem=problem,
        export_name=export_name(repository.kind_of(study)),
    )


@routes.page("/studies/{study_id}/delete", role=Role.ORGANISER, methods=("POST",))
def delete_done(context: Context, study_id: int, title: Text = "") -> Response:
    """Whoever deletes writes the title, since nothing brings the answers back."""
    try:
        studies.delete_study(context, study_id, title)
    except Refused as refusal:
        return _delete_page(context, study_id, problems_of_form(refusal)[0])
    return context.redirect("/studies", "study-deleted")


@routes.page("/studies/{study_id}/edit", role=Role.ORGANISER)
def edit_page(context: Context, study_id: int) -> Response:
    """Texts and numbers that can change, also after the start."""
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
    settings = repository.settings_of(study)
    values = {name: settings[name] for name in _TEXTS} | {
        name: getattr(study, name) or 0 for name in ("title", "judgments", "most_per_person", "minutes")
    }
    return _edit_page(context, study, values, [])


_TEXTS = ("instructions", "question", "consent", "completion_code", "completion_url")


def _edit_page(context: Context, study: Study, values: dict[str, Any], problems: list[str]) -> Response:
    kind: StudyKind = repository.kind_of(study)
    return context.render(
        "study-edit.html", 422 if problems else 200, study=study, values=values, problems=problems, kind=kind
    )


@routes.page("/studies/{study_id}/edit", role=Role.ORGANISER, methods=("POST",))
def edit_done(
    context: Context,
    study_id: int,
    title: Text = "",
    judgments: Annotated[int, Form(ge=0, le=2**31 - 1)] = 0,
    most_per_person: Annotated[int, Form(ge=0, le=2**31 - 1)] = 0,
    minutes: Annotated[int, Form(ge=0, le=2**31 - 1)] = 0,
    instructions: Long = "",
    question: Long = "",
    consent: Long = "",
    completion_code: Text = "",
    completion_url: Text = "",
) -> Response:
    """Saves everything, or nothing and lists the problems."""
    texts = {
        "instructions": instructions,
        "question": question,
        "consent": consent,
        "completion_code": completion_code,
        "completion_url": completion_url,
    }
    texts = {name: text.replace("\r\n", "\n").strip() for name, text in texts.items()}
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
    before = repository.settings_of(study)
    numbers = {"judgments": judgments, "most_per_person": most_per_person, "minutes": minutes}
    # A browser sends a text back as it was but for blanks around it: that is no change.
    different = {name: text for name, text in texts.items() if text != before[name].strip()}
    values: dict[str, Any] = {"title": title.strip() or None, **numbers, **different}
    try:
        studies.change_study(context, study_id, studies.ChangeBody.model_construct(**values))
    except Refused as refusal:
        return _edit_page(context, study, {"title": title, **numbers, **texts}, problems_of_form(refusal))
    return context.redirect(f"/studies/{study_id}", "saved")


@routes.page("/studies/{study_id}/clone", role=Role.ORGANISER, methods=("POST",))
def clone_done(context: Context, study_id: int, title: Text = "") -> Response:
    """The same questions and rules again, for other people; the new study is the caller's."""
    twin = studies.clone_study(context, study_id, studies.CloneBody(title=title.strip()[:120]))
    return context.redirect(f"/studies/{twin.id}", "study-made")


@routes.page("/studies/{study_id}/members", role=Role.ORGANISER, methods=("POST",))
def share_study(context: Context, study_id: int, email: Text = "") -> Response:
    """Lets another organiser see and manage the study."""
    with context.database.write() as session:
        study = repository.find_own(session, study_id, context.caller)
        review.share(session, study, email)
        context.audit(session, "study.shared", f"{study.id} {study.title}")
    return context.redirect(f"/studies/{study_id}", "saved")


@routes.page("/studies/{study_id}/members/{account_id}", role=Role.ORGANISER, methods=("POST",))
def unshare_study(context: Context, study_id: int, account_id: int) -> Response:
    """Ends the sharing."""
    with context.database.write() as session:
        study = repository.find_own(session, study_id, context.caller)
        review.unshare(session, study, account_id)
        context.audit(session, "study.unshared", f"{study.id} {study.title}")
    return context.redirect(f"/studies/{study_id}", "saved")


@routes.page("/studies/{study_id}/quality", role=Role.ORGANISER)
def quality_page(context: Context, study_id: int) -> Response:
    """What is known of the answers; where newer ones have to be counted, a job is asked to."""
    from sacrecap_server.pages import page_charts

    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        known, people = answer_statistics.current(session, study), people_of(session, study)
        done = progress(session, study)
    if is_asked := answer_statistics.ask_if_due(context.database, study, known):
        context.state.jobs.wake()
    spreads = {one["person"]: one.get("spread") for one in (known.body or {}).get("people", [])}
    is_counting = is_asked or (not known.is_current and known.is_counting)
    return context.render(
        "study-quality.html",
        study=study,
        kind=repository.kind_of(study),
        known=known,
        quality=known.body,
        people=people,
        flags=flags_of(people.values(), spreads),
        speed=repository.limit_of(study, "speed"),
        progress=done,
        is_counting=is_counting,
        draw=page_charts,
    )


@routes.page("/studies/{study_id}/quality.json", role=Role.ORGANISER)
def quality_state(context: Context, study_id: int) -> Response:
    """The progress of the job that the quality page waits for."""
    with context.database.read() as session:
        job: Job | None = answer_statistics.newest_job(session, repository.find(session, study_id, context.caller))
    state, progress = ("done", "") if job is None else (job.state, job.progress)
    return JSONResponse({"state": state, "progress": progress}, headers={"Cache-Control": "no-store"})


@routes.page("/studies/{study_id}/people/{annotator_id}", role=Role.ORGANISER, methods=("POST",))
def change_person(context: Context, study_id: int, annotator_id: int, action: Text = "") -> Response:
    """Excludes a person, or reverses the exclusion."""
    with context.database.write() as session:
        study = repository.find(session, study_id, context.caller)
        person = session.get(Annotator, annotator_id)
        if person is None or person.study_id != study.id:
            raise not_found("person")
        if action == "exclude":
            exclude(session, study, person, Message("by the owner"))
        elif action == "include":
            include(session, study, person)
        else:
            raise Refused(422, "The action is one of exclude, include.")
        context.audit(session, f"study.{action}", f"{study.id} person {person.id}")
    return context.redirect(f"/studies/{study_id}/quality", "saved")


@routes.page("/studies/{study_id}/answers", role=Role.ORGANISER)
def list_answers(
    context: Context,
    study_id: int,
    page: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
    person: Search = "",
    item: Search = "",
    role: Search = "",
    state: Search = "",
    image: Search = "",
) -> Response:
    """The answers one by one with their questions, newest first; here the owner rejects them, or takes that back."""
    wanted = Filter(
        _number(person), role if role in ROLES else "", _number(item), state if state in STATES else "", image.strip()
    )
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        found = answers_page(session, study, wanted, page)
        kind = repository.kind_of(study)
        images = repository.shown_images(session, study, [one.content for one in found.answers])
    context.policy = policy(images=repository.image_policy(images.values()))
    return context.render(
        "study-answers.html",
        study=study,
        kind=kind,
        captions_of=captions_of,
        images_of=images_of,
        letters=LETTERS,
        found=found,
        wanted=wanted,
        images=images,
        roles=ROLES,
        states=tuple(STATES),
        here=_query(wanted, found.page),
        pages_link=lambda page: "?" + _query(wanted, page),
    )


def _number(text: str) -> int | None:
    """A number of a filter's field; None if it is empty, and one that no row has where it is no number."""
    text = text.strip()
    if not text:
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def _query(wanted: Filter, page: int) -> str:
    """The query of a page of answers."""
    return urlencode({**wanted.query(), "page": page})


@routes.page("/studies/{study_id}/answers/{assignment_id}/reject", role=Role.ORGANISER, methods=("POST",))
def reject_answer(context: Context, study_id: int, assignment_id: int, reason: Text = "", back: Text = "") -> Response:
    with context.database.write() as session:
        study = repository.find(session, study_id, context.caller)
        review.reject(session, study, assignment_id, reason)
        context.audit(session, "study.rejected", f"{study.id} answer {assignment_id}")
    return context.redirect(_back(study, back, assignment_id), "saved")


@routes.page("/studies/{study_id}/answers/{assignment_id}/restore", role=Role.ORGANISER, methods=("POST",))
def restore_answer(context: Context, study_id: int, assignment_id: int, back: Text = "") -> Response:
    with context.database.write() as session:
        study = repository.find(session, study_id, context.caller)
        review.restore(session, study, assignment_id)
        context.audit(session, "study.restored", f"{study.id} answer {assignment_id}")
    return context.redirect(_back(study, back, assignment_id), "saved")


def _back(study: Study, query: str, assignment_id: int) -> str:
    """Back to the page of answers that the form was on; `query` is only ever the query of one."""
    fields = {name: value for name, value in parse_qsl(query) if name in (*vars(Filter()), "page")}
    return f"/studies/{study.id}/answers?{urlencode({**fields, 'at': assignment_id})}"
