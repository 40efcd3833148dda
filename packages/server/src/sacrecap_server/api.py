"""Studies as JSON, for those who own them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import Field
from sqlalchemy.orm import Session

from sacrecap_server.errors import Refused
from sacrecap_server.log import event
from sacrecap_server.store.schema import Study
from sacrecap_server.studies import repository, results
from sacrecap_server.web.context import Body, Context, RequestContext, Routes
from sacrecap_studies.answers import answers_csv, export, export_name
from sacrecap_studies.design import StudyFileError, read_design
from sacrecap_studies.quality import Quality


class StudyBody(Body):
    """A study and its rules."""

    id: int
    title: str
    kind: str
    state: str = Field(description="open, paused or closed")
    judgments: int = Field(description="People per question.")
    most_per_person: int | None
    minutes: int
    created: dt.datetime
    pages: dict[str, int] = Field(description="Questions by role: item, gold, attention, practice.")
    remarks: list[str] = Field(description="What to know of the checks before opening; empty where they are enough.")
    url: str = Field(description="Its page.")
    link: str = Field(description="For annotators.")
    progress: results.StudyProgress


class StudyEntry(Body):
    """A study in a list."""

    id: int
    title: str
    kind: str
    state: str
    created: dt.datetime
    answers: int
    wanted: int
    people: int


class StudyList(Body):
    """Studies, the newest first; 200 at most."""

    studies: list[StudyEntry]


class CloneBody(Body):
    """The title of the new study."""

    title: str = Field(default="", max_length=120, description="The old title with “(again)”, where it is empty.")


class ChangeBody(Body):
    """What to change; what is left out, or null, stays."""

    state: str | None = Field(default=None, description="open, paused or closed")
    title: str | None = Field(default=None, max_length=120)
    judgments: int | None = None
    most_per_person: int | None = Field(default=None, description="0: no limit.")
    minutes: int | None = None
    instructions: str | None = None
    question: str | None = None
    consent: str | None = None
    completion_code: str | None = None
    completion_url: str | None = None


class AnswerBody(Body):
    """An answer with its question."""

    id: int
    role: str
    number: int = Field(description="The question's number among those of its role, from 1.")
    content: dict[str, Any] = Field(description="What was asked.")
    order: list[int] = Field(description="Which option stood first, second and so on; from 0.")
    answer: Any
    correct: bool | None = Field(description="On checks.")
    state: str = Field(description="counted, rejected, excluded or practice")
    reason: str = Field(description="Why it does not count.")
    person: int
    worker: str = Field(description="What the crowd platform calls the person; empty with `pseudonymous`.")
    seconds: float | None
    too_fast: bool | None
    answered: dt.datetime


class AnswerList(Body):
    """Answers, the newest first."""

    answers: list[AnswerBody]
    count: int = Field(description="Of all pages.")
    page: int
    pages: int


class ResultsBody(Body):
    """Statistics of the answers."""

    current: bool = Field(description="False where newer answers are being counted: ask again in a minute.")
    computed: dt.datetime | None
    results: Quality | None = Field(description="Null where they were never computed.")


class Deleted(Body):
    """What was deleted."""

    deleted: int
    answers: int


routes = Routes(tags=["studies"])
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
_FILE = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}},
        "description": "The file of a study, as `sacrecap study make` writes it.",
    }
}
_TEXT: dict[int | str, Any] = {
    200: {"description": "The file.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


async def _body(request: Request) -> bytes:
    return await request.body()


@routes.api("/studies")
def list_studies(context: Context) -> StudyList:
    """The newest 200 studies."""
    with context.database.read() as session:
        studies = repository.listed(session)
        counts = results.progress_of(session, studies)
    entries = [
        StudyEntry.of(study, answers=progress.answers, wanted=progress.wanted, people=progress.people)
        for study, progress in zip(studies, counts.values(), strict=True)
    ]
    return StudyList(studies=entries)


@routes.api("/studies", methods=("POST",), status_code=201, openapi_extra=_FILE)
def make_study(context: Context, data: Annotated[bytes, Depends(_body)]) -> StudyBody:
    """Makes a study of a file; it is paused at first. Or lists every problem of the file, and makes nothing."""
    try:
        design = read_design(data)
    except StudyFileError as error:
        raise Refused(422, "The file was not accepted; no study was made.", error.problems) from None
    with context.database.write() as session:
        study = repository.make(session, design)
    event("study.made", study=study.id)
    return get_study(context, study.id)


@routes.api("/studies/{number}")
def get_study(context: Context, number: Number) -> StudyBody:
    """One study: its rules and its progress."""
    with context.database.read() as session:
        study = repository.find(session, number)
        return StudyBody.of(
            study,
            pages=repository.sizes(session, study),
            remarks=repository.remarks_of(session, study),
            url=f"{context.settings.url}/studies/{study.id}",
            link=f"{context.settings.url}/s/{study.code}",
            progress=results.progress(session, study),
        )


@routes.api("/studies/{number}", methods=("PATCH",))
def change_study(context: Context, number: Number, change: ChangeBody) -> StudyBody:
    """Opens, pauses or closes a study, or changes texts and numbers, also after the start: all given, or nothing."""
    if change.state not in (None, *repository.STATES):
        raise Refused(422, "A study is one of %(names)s.", names=", ".join(repository.STATES))
    try:
        with context.database.write() as session:
            study = repository.find(session, number)
            repository.change(session, study, **change.model_dump(exclude={"state"}))
            study.state = change.state or study.state
    except StudyFileError as error:
        raise Refused(422, "Nothing was changed.", error.problems) from None
    event(f"study.{change.state or 'changed'}", study=number)
    return get_study(context, number)


@routes.api("/studies/{number}", methods=("DELETE",))
def delete_study(
    context: Context,
    number: Number,
    title: Annotated[str, Query(description="The study's title, to be sure.", max_length=400)] = "",
) -> Deleted:
    """Deletes a study with its people and answers, for good."""
    with context.database.write() as session:
        study = repository.find(session, number)
        if title.split() != study.title.split():
            raise Refused(422, "That is not the title of the study. Nothing was deleted.")
        answers = results.progress(session, study).answers
        repository.delete_whole(session, study)
    event("study.deleted", study=number, answers=answers)
    return Deleted(deleted=number, answers=answers)


@routes.api("/studies/{number}/clone", methods=("POST",), status_code=201)
def clone_study(context: Context, number: Number, changes: CloneBody) -> StudyBody:
    """A new study with the same questions, images and rules; it is paused at first."""
    with context.database.write() as session:
        study = repository.find(session, number)
        title = changes.title.strip() or f"{study.title[:110]} (again)"
        twin = repository.clone(session, study, title)
    event("study.made", study=twin.id, clone_of=number)
    return get_study(context, twin.id)


@routes.api("/studies/{number}/answers")
def list_answers(
    context: Context,
    number: Number,
    page: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
    size: Annotated[int, Query(ge=1, le=500, description="Answers per page.")] = 100,
    person: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    item: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="The question's number.")] = None,
    role: Annotated[str, Query(description=f"One of {', '.join(results.ROLES)}.")] = "",
    state: Annotated[str, Query(description=f"One of {', '.join(results.STATES)}.")] = "",
    image: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")] = "",
    pseudonymous: Annotated[bool, Query(description="Without worker ids.")] = False,
) -> AnswerList:
    """Answers with their questions, the newest first."""
    for name, value, accepted in (("role", role, tuple(results.ROLES)), ("state", state, tuple(results.STATES))):
        if value and value not in accepted:
            raise Refused(422, "%(name)s is one of %(names)s.", name=name, names=", ".join(accepted))
    with context.database.read() as session:
        study = repository.find(session, number)
        answers = results.answers_page(session, study, results.Filter(person, role, item, state, image), page, size)
    listed = [
        AnswerBody.of(answer, number=answer.number + 1, worker="" if pseudonymous else answer.worker)
        for answer in answers.answers
    ]
    return AnswerList.of(answers, answers=listed)


@routes.api("/studies/{number}/results")
def get_results(context: Context, number: Number) -> ResultsBody:
    """Agreement, strengths or ratings, and people, with intervals; many answers are counted beside requests."""
    with context.database.read() as session:
        study = repository.find(session, number)
        known = results.current(session, study, context.state.counting)
    return ResultsBody.model_validate({"current": known.is_current, "computed": known.computed, "results": known.body})


@routes.api("/studies/{number}/export", response_class=Response, responses=_TEXT)
def get_export(context: Context, number: Number) -> Any:
    """Judgments for `sacrecap agreement`, or collected references, of the answers that count."""

    def lines(session: Session, study: Study) -> Iterator[str]:
        kind = repository.kind_of(study)
        pages = results.pages_by_group(session, study) if kind.has_several_pages else {}
        return export(kind, results.answers_of(session, study, "item"), study.judgments, pages)

    with context.database.read() as session:
        name = export_name(repository.kind_of(repository.find(session, number)))
    return _streamed(context, number, name, "application/json", lines)


@routes.api("/studies/{number}/answers.csv", response_class=Response, responses=_TEXT)
def get_answers_csv(
    context: Context,
    number: Number,
    pseudonymous: Annotated[bool, Query(description="Without worker ids, and ids of studies and sessions.")] = False,
) -> Any:
    """Every answer as CSV, with person, order and times."""

    def lines(session: Session, study: Study) -> Iterator[str]:
        return answers_csv(results.answers_of(session, study), pseudonymous=pseudonymous)

    return _streamed(context, number, "answers.csv", "text/csv", lines)


def _streamed(
    context: RequestContext, study_id: int, name: str, media_type: str, lines: Callable[[Session, Study], Iterator[str]]
) -> Response:
    """A file of answers, sent while they are read: neither the answers nor the file are in memory as a whole."""
    with context.database.read() as session:
        repository.find(session, study_id)

    def pieces() -> Iterator[str]:
        with context.database.read() as session:
            left = lines(session, repository.find(session, study_id))
            while piece := "".join(islice(left, 200)):
                yield piece

    headers = {"Content-Disposition": f'attachment; filename="study-{study_id}-{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces(), media_type=f"{media_type}; charset=utf-8", headers=headers)
