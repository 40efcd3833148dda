"""Studies, for those who own them: making, watching, quality, people, answers, exports."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import Form, Query, UploadFile
from fastapi.responses import JSONResponse, Response
from sqlalchemy import select

from capeval_server.accounts.access import Role
from capeval_server.pages.annotate import allow_image
from capeval_server.store.models import Account, Annotator, Assignment, Study, StudyItem
from capeval_server.studies import repository
from capeval_server.studies.assignment import exclude, include, reject
from capeval_server.studies.results import answers_of, people_of, progress
from capeval_server.web.context import Context
from capeval_server.web.errors import Refused, not_found
from capeval_server.web.routing import Routes
from capeval_studies import KINDS
from capeval_studies.design import StudyFileError, read_design
from capeval_studies.export import answers_csv, export, export_name
from capeval_studies.quality import quality

routes = Routes()
Text = Annotated[str, Form(max_length=400)]
_A_PAGE = 50


@routes.page("/studies", role=Role.ORGANISER)
def list_page(context: Context) -> Response:
    return _list(context, [])


def _list(context: Context, problems: list[str]) -> Response:
    with context.database.read() as session:
        query = select(Study, Account.email).join(Account, Account.id == Study.owner_id).order_by(Study.id.desc())
        if context.caller.role < Role.ADMIN:
            query = query.where(Study.owner_id == context.caller.account_id)
        rows = [(study, owner, progress(session, study)) for study, owner in session.execute(query.limit(200))]
    return context.render("studies.html", 422 if problems else 200, rows=rows, problems=problems, kinds=KINDS)


@routes.page("/studies", role=Role.ORGANISER, methods=("POST",))
def make_done(context: Context, file: UploadFile) -> Response:
    """The file is read as a whole first: a study is made of it, or every problem is listed."""
    try:
        design = read_design(file.file.read())
    except StudyFileError as error:
        return _list(context, error.problems)
    assert context.caller.account_id is not None
    with context.database.write() as session:
        study = repository.make(session, context.caller.account_id, design)
        context.audit(session, "study.made", f"{study.id} {study.title}")
    return context.redirect(f"/studies/{study.id}", "study-made")


@routes.page("/studies/{study_id}", role=Role.ORGANISER)
def study_page(context: Context, study_id: int) -> Response:
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        done, sizes = progress(session, study), repository.sizes(session, study)
        shortage = repository.check_shortage(session, study)
    return context.render(
        "study.html", study=study, kind=repository.kind_of(study), progress=done, sizes=sizes,
        study_settings=repository.settings_of(study), export_name=export_name(repository.kind_of(study)),
        link=f"{_base(context)}/s/{study.code}", shortage=shortage,
    )  # fmt: skip


def _base(context: Context) -> str:
    """The server's address for people: the operator's setting, or the address of this request."""
    return context.settings.url if context.settings.public_url else str(context.request.base_url).rstrip("/")


@routes.page("/studies/{study_id}/progress.json", role=Role.ORGANISER)
def progress_json(context: Context, study_id: int) -> Response:
    """The progress that the study's page polls every few seconds."""
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        done = progress(session, study)
    return JSONResponse(
        {
            "answers": done.answers, "wanted": done.wanted, "at_work": done.at_work, "people": done.people,
            "excluded": done.excluded, "discarded": done.discarded,
        },
        headers={"Cache-Control": "no-store"},
    )  # fmt: skip


@routes.page("/studies/{study_id}/preview", role=Role.ORGANISER)
def preview(context: Context, study_id: int, page: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0) -> Response:
    """A question as annotators will see it; nothing is given out or saved."""
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        query = select(StudyItem).where(StudyItem.study_id == study.id, StudyItem.role == "item")
        item = session.execute(query.where(StudyItem.number == page)).scalar_one_or_none()
        if item is None:
            raise not_found("question")
        content = json.loads(item.content)
        image = repository.image_of(session, study, content)
    kind = repository.kind_of(study)
    given = Assignment(id=0, item=item, shown_order="[]")
    person = Annotator(items=0, warned=False)
    answer = context.render(
        f"annotate-{kind.template}.html", study=study, kind=kind, person=person, given=given, content=content,
        order=list(range(kind.options(content))), image=image, problem="", values={}, preview=True,
        study_settings=repository.settings_of(study), total=study.most_per_person,
    )  # fmt: skip
    return allow_image(answer, image)


@routes.page("/studies/{study_id}/state", role=Role.ORGANISER, methods=("POST",))
def change_state(context: Context, study_id: int, state: Text = "") -> Response:
    if state not in repository.STATES:
        raise Refused(422, f"A study is one of {', '.join(repository.STATES)}.")
    with context.database.write() as session:
        study = repository.find(session, study_id, context.caller)
        study.state = state
        context.audit(session, f"study.{state}", f"{study.id} {study.title}")
    return context.redirect(f"/studies/{study_id}", "saved")


@routes.page("/studies/{study_id}/delete", role=Role.ORGANISER)
def delete_page(context: Context, study_id: int) -> Response:
    """Lists what will be deleted, and asks for confirmation."""
    return _delete_page(context, study_id, problem="")


def _delete_page(context: Context, study_id: int, problem: str) -> Response:
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        done = progress(session, study)
    return context.render(
        "study-delete.html", 422 if problem else 200, study=study, progress=done, problem=problem,
        export_name=export_name(repository.kind_of(study)),
    )  # fmt: skip


@routes.page("/studies/{study_id}/delete", role=Role.ORGANISER, methods=("POST",))
def delete_done(context: Context, study_id: int, title: Text = "") -> Response:
    """Whoever deletes writes the title, since nothing brings the answers back."""
    with context.database.write() as session:
        study = repository.find(session, study_id, context.caller)
        if sure := title.split() == study.title.split():
            answers = progress(session, study).answers
            repository.delete_whole(session, study)
            context.audit(session, "study.deleted", f"{study_id} {study.title}: {answers} answers")
    if not sure:
        return _delete_page(context, study_id, "That is not the title of the study. Nothing was deleted.")
    return context.redirect("/studies", "study-deleted")


@routes.page("/studies/{study_id}/quality", role=Role.ORGANISER)
def quality_page(context: Context, study_id: int) -> Response:
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        answers, people = answers_of(session, study), people_of(session, study)
        done = progress(session, study)
    found = quality(repository.kind_of(study), answers)
    rows = sorted(found.people, key=lambda one: one.items, reverse=True)
    return context.render(
        "study-quality.html", study=study, kind=repository.kind_of(study), quality=found, rows=rows, people=people,
        progress=done,
    )  # fmt: skip


@routes.page("/studies/{study_id}/people/{annotator_id}", role=Role.ORGANISER, methods=("POST",))
def change_person(context: Context, study_id: int, annotator_id: int, action: Text = "") -> Response:
    """Excludes a person, or takes that back."""
    with context.database.write() as session:
        study = repository.find(session, study_id, context.caller)
        person = session.get(Annotator, annotator_id)
        if person is None or person.study_id != study.id:
            raise not_found("person")
        if action == "exclude":
            exclude(session, study, person, "by the owner")
        elif action == "include":
            include(session, study, person)
        else:
            raise Refused(422, "The action is one of exclude, include.")
        context.audit(session, f"study.{action}", f"{study.id} person {person.id}")
    return context.redirect(f"/studies/{study_id}/quality", "saved")


@routes.page("/studies/{study_id}/answers", role=Role.ORGANISER)
def answers_page(context: Context, study_id: int, page: int = 1) -> Response:
    """The answers one by one, newest first; here sentences of poor grammar are rejected."""
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        answers = sorted(answers_of(session, study), key=lambda one: one.answered, reverse=True)
    pages = max(1, -(-len(answers) // _A_PAGE))
    page = min(max(page, 1), pages)
    shown = answers[(page - 1) * _A_PAGE : page * _A_PAGE]
    return context.render("study-answers.html", study=study, answers=shown, page=page, pages=pages, count=len(answers))


@routes.page("/studies/{study_id}/answers/{assignment_id}/reject", role=Role.ORGANISER, methods=("POST",))
def reject_answer(context: Context, study_id: int, assignment_id: int, page: Annotated[int, Form()] = 1) -> Response:
    with context.database.write() as session:
        study = repository.find(session, study_id, context.caller)
        reject(session, study, assignment_id)
        context.audit(session, "study.rejected", f"{study.id} answer {assignment_id}")
    return context.redirect(f"/studies/{study_id}/answers?page={page}", "saved")


@routes.token_page("/studies/{study_id}/export", role=Role.ORGANISER)
def export_file(context: Context, study_id: int) -> Response:
    """Judgments, or references, of the answers that count."""
    with context.database.read() as session:
        study = repository.find(session, study_id, context.caller)
        text = export(repository.kind_of(study), answers_of(session, study))
    return context.download(text, f"study-{study_id}-{export_name(repository.kind_of(study))}", "application/json")


@routes.token_page("/studies/{study_id}/answers.csv", role=Role.ORGANISER)
def export_answers(context: Context, study_id: int) -> Response:
    """Every answer, with person, order and times."""
    with context.database.read() as session:
        text = answers_csv(answers_of(session, repository.find(session, study_id, context.caller)))
    return context.download(text, f"study-{study_id}-answers.csv", "text/csv")
