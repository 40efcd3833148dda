"""Studies, for those who own them: making, watching, quality, people, answers, exports."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Form, Query, UploadFile
from fastapi.responses import Response
from pydantic import ConfigDict

from sacrecap_server.api import studies
from sacrecap_server.errors import Refused, problems_of_form
from sacrecap_server.log import event
from sacrecap_server.pages.study_people import links_of
from sacrecap_server.store.schema import Study
from sacrecap_server.studies import answer_statistics, repository, review
from sacrecap_server.studies.people import flags_of
from sacrecap_server.studies.results import ROLES, STATES, Filter, answers_page, people_of, progress, progress_of
from sacrecap_server.web.context import Context
from sacrecap_server.web.owner import Role
from sacrecap_server.web.routing import Routes
from sacrecap_server.web.security import policy
from sacrecap_studies import KINDS
from sacrecap_studies.export import export_name
from sacrecap_studies.kinds import StudyKind
from sacrecap_studies.questions import LETTERS, captions_of, images_of

routes = Routes()
Text = Annotated[str, Form(max_length=400)]
Search = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]


@routes.page("/", role=Role.ANYONE)
def home(context: Context) -> Response:
    return context.redirect("/studies")


@routes.page("/studies", role=Role.OWNER)
def list_page(context: Context) -> Response:
    return _list(context, [])


def _list(context: Context, problems: list[str]) -> Response:
    with context.database.read() as session:
        studies_listed = repository.listed(session)
        progress_by_study = progress_of(session, studies_listed)
    rows = [(study, progress_by_study[study.id], repository.settings_of(study)["file"]) for study in studies_listed]
    return context.render("studies.html", 422 if problems else 200, rows=rows, problems=problems, kinds=KINDS)


@routes.page("/studies", role=Role.OWNER, methods=("POST",))
def make_done(context: Context, file: UploadFile) -> Response:
    """The file is read as a whole first: a study is made of it, or every problem is listed."""
    try:
        study = studies.make_study(context, file.file.read())
    except Refused as refusal:
        return _list(context, problems_of_form(refusal))
    return context.redirect(f"/studies/{study.id}", "study-made")


@routes.page("/studies/{study_id}", role=Role.OWNER)
def study_page(context: Context, study_id: int) -> Response:
    return _study_page(context, study_id)


def _study_page(context: Context, study_id: int, problem: str = "") -> Response:
    with context.database.read() as session:
        study = repository.find(session, study_id)
        counts, sizes = progress(session, study), repository.sizes(session, study)
        remarks = repository.remarks_of(session, study)
    return context.render(
        "study.html",
        422 if problem else 200,
        study=study,
        problem=problem,
        kind=repository.kind_of(study),
        progress=counts,
        sizes=sizes,
        study_settings=repository.settings_of(study),
        export_name=export_name(repository.kind_of(study)),
        links=links_of(context, study),
        remarks=remarks,
    )


@routes.page("/studies/{study_id}/state", role=Role.OWNER, methods=("POST",))
def change_state(context: Context, study_id: int, state: Text = "") -> Response:
    studies.change_study(context, study_id, studies.ChangeBody(state=state))
    return context.redirect(f"/studies/{study_id}", "saved")


@routes.page("/studies/{study_id}/delete", role=Role.OWNER, methods=("POST",))
def delete_done(context: Context, study_id: int, title: Text = "") -> Response:
    """Whoever deletes writes the title, since nothing brings the answers back."""
    try:
        studies.delete_study(context, study_id, title)
    except Refused as refusal:
        return _study_page(context, study_id, problems_of_form(refusal)[0])
    return context.redirect("/studies", "study-deleted")


@routes.page("/studies/{study_id}/edit", role=Role.OWNER)
def edit_page(context: Context, study_id: int) -> Response:
    """Texts and numbers that can change, also after the start."""
    with context.database.read() as session:
        study = repository.find(session, study_id)
    numbers = {name: getattr(study, name) or 0 for name in ("title", "judgments", "most_per_person", "minutes")}
    return _edit_page(context, study, repository.settings_of(study) | numbers, [])


def _edit_page(context: Context, study: Study, values: dict[str, Any], problems: list[str]) -> Response:
    kind: StudyKind = repository.kind_of(study)
    return context.render(
        "study-edit.html", 422 if problems else 200, study=study, values=values, problems=problems, kind=kind
    )


class EditForm(studies.ChangeBody):
    """The form of texts and numbers. Blanks around a text are the browser's, and change nothing."""

    model_config = ConfigDict(str_strip_whitespace=True)

    judgments: int = 0
    most_per_person: int = 0
    minutes: int = 0


@routes.page("/studies/{study_id}/edit", role=Role.OWNER, methods=("POST",))
def edit_done(context: Context, study_id: int, form: Annotated[EditForm, Form()]) -> Response:
    """Saves everything, or nothing and lists the problems."""
    fields = form.model_dump(exclude={"state"})
    values: dict[str, Any] = {
        name: value.replace("\r\n", "\n") if isinstance(value, str) else "" if value is None else value
        for name, value in fields.items()
    }
    with context.database.read() as session:
        study = repository.find(session, study_id)
    before = repository.settings_of(study)
    changes = {name: value for name, value in values.items() if name not in before or value != before[name].strip()}
    changes["title"] = values["title"] or None
    try:
        studies.change_study(context, study_id, studies.ChangeBody.model_construct(**changes))
    except Refused as refusal:
        return _edit_page(context, study, values, problems_of_form(refusal))
    return context.redirect(f"/studies/{study_id}", "saved")


@routes.page("/studies/{study_id}/clone", role=Role.OWNER, methods=("POST",))
def clone_done(context: Context, study_id: int, title: Text = "") -> Response:
    """The same questions and rules again, for other people."""
    twin = studies.clone_study(context, study_id, studies.CloneBody(title=title.strip()[:120]))
    return context.redirect(f"/studies/{twin.id}", "study-made")


@routes.page("/studies/{study_id}/quality", role=Role.OWNER)
def quality_page(context: Context, study_id: int) -> Response:
    """What is known of the answers; where there are many newer ones, they are counted meanwhile."""
    from sacrecap_server.pages import page_charts

    with context.database.read() as session:
        study = repository.find(session, study_id)
        statistics = answer_statistics.current(session, study, context.state.counting)
        people, counts = people_of(session, study), progress(session, study)
    spreads = {person["person"]: person.get("spread") for person in (statistics.body or {}).get("people", [])}
    return context.render(
        "study-quality.html",
        study=study,
        kind=repository.kind_of(study),
        known=statistics,
        quality=statistics.body,
        people=people,
        flags=flags_of(people.values(), spreads),
        speed=repository.limit_of(study, "speed"),
        progress=counts,
        draw=page_charts,
    )


@routes.page("/studies/{study_id}/answers", role=Role.OWNER)
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
    chosen = Filter(
        _number(person), role if role in ROLES else "", _number(item), state if state in STATES else "", image.strip()
    )
    with context.database.read() as session:
        study = repository.find(session, study_id)
        answers = answers_page(session, study, chosen, page)
        kind = repository.kind_of(study)
        images = repository.shown_images(session, study, [answer.content for answer in answers.answers])
    context.policy = policy(images=repository.image_policy(images.values()))
    return context.render(
        "study-answers.html",
        study=study,
        kind=kind,
        captions_of=captions_of,
        images_of=images_of,
        letters=LETTERS,
        found=answers,
        wanted=chosen,
        images=images,
        roles=ROLES,
        states=tuple(STATES),
        here=_query(chosen, answers.page),
        pages_link=lambda page: "?" + _query(chosen, page),
    )


def _number(text: str) -> int | None:
    """A number of a filter's field; None if it is empty, and one that no row has where it is no number."""
    text = text.strip()
    if not text:
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def _query(chosen: Filter, page: int) -> str:
    """The query of a page of answers."""
    return urlencode({**chosen.query(), "page": page})


@routes.page("/studies/{study_id}/answers/{assignment_id}", role=Role.OWNER, methods=("POST",))
def change_answer(
    context: Context, study_id: int, assignment_id: int, action: Text = "", reason: Text = "", back: Text = ""
) -> Response:
    """Rejects an answer, or takes that back."""
    with context.database.write() as session:
        study = repository.find(session, study_id)
        if action == "reject":
            review.reject(session, study, assignment_id, reason)
        elif action == "restore":
            review.restore(session, study, assignment_id)
        else:
            raise Refused(422, "The action is one of reject, restore.")
    event(f"study.{action}", study=study_id, answer=assignment_id)
    # Back to the page of answers that the form was on; `back` is only ever the query of one.
    fields = {name: value for name, value in parse_qsl(back) if name in (*vars(Filter()), "page")}
    return context.redirect(f"/studies/{study.id}/answers?{urlencode({**fields, 'at': assignment_id})}", "saved")
