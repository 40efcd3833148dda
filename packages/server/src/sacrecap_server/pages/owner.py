"""Pages of the owner: the way in and out, studies with their people and answers, the preview, and what is stored."""

from __future__ import annotations

import csv
import io
import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import accumulate
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Form, Query, UploadFile
from fastapi.responses import PlainTextResponse, Response
from pydantic import ConfigDict
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from sacrecap_server import api
from sacrecap_server.errors import Refused, not_found, problems_of_form
from sacrecap_server.log import event
from sacrecap_server.pages.annotate import Visit, show_question
from sacrecap_server.store.schema import ABOUT_PEOPLE, Annotator, Assignment, Base, SignedIn, Study, StudyItem
from sacrecap_server.studies import arrivals, endings, repository, results
from sacrecap_server.studies.assignment import exclude, include
from sacrecap_server.studies.endings import Ending, approvals, bonuses, flags_of, state_of
from sacrecap_server.studies.results import ROLES, STATES, Filter, answers_page, people_of, progress, progress_of
from sacrecap_server.web.context import Context, RequestContext, Role, Routes, digest, is_token, new_secret, sign_in
from sacrecap_server.web.security import neighbourhood, policy
from sacrecap_studies import KINDS
from sacrecap_studies.answers import export_name, no_formula
from sacrecap_studies.questions import LETTERS, captions_of, images_of

routes = Routes()
Text = Annotated[str, Form(max_length=400)]


@routes.page("/sign-in", role=Role.ANYONE)
def sign_in_page(context: Context, next: str = "/") -> Response:
    return context.render("sign-in.html", next=_inside(next))


@routes.page("/sign-in", role=Role.ANYONE, methods=("POST",))
def sign_in_done(context: Context, token: Text = "", next: Text = "/") -> Response:
    context.state.sign_ins.take(neighbourhood(context.address))
    if not is_token(token.strip(), context.settings.owner_token):
        event("sign-in.refused")
        context.problems = ["This is not the token."]
        return context.render("sign-in.html", 403, next=_inside(next))
    with context.database.write() as session:
        context.set_cookie(sign_in(session))
    event("sign-in")
    return context.redirect(_inside(next))


@routes.page("/sign-out", role=Role.ANYONE, methods=("POST",))
def sign_out_done(context: Context) -> Response:
    with context.database.write() as session:
        session.execute(delete(SignedIn).where(SignedIn.token_hash == digest(context.cookie)))  # copies end, too
    context.set_cookie(new_secret())
    return context.redirect("/")


def _inside(path: str) -> str:
    """The path where it leads to this server; a link from outside must not send people elsewhere."""
    return path if re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f]*", path) else "/"


@routes.page("/healthz", role=Role.ANYONE)
async def health() -> Response:
    """Live: the process answers. It asks nothing of the database, since a restart would not bring that back."""
    return PlainTextResponse("ok\n", headers={"Cache-Control": "no-store"})


@routes.page("/privacy", role=Role.ANYONE)
def privacy_page(context: Context) -> Response:
    """Public: people read it before they answer a study."""
    rows = [
        (title, [column.doc for column in Base.metadata.tables[name].c if column.doc], until)
        for name, (title, until) in ABOUT_PEOPLE.items()
    ]
    return context.render("privacy.html", rows=rows, own=context.state.privacy_text)


Search = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]


@routes.page("/", role=Role.ANYONE)
def home(context: Context) -> Response:
    return context.redirect("/studies")


@routes.page("/studies", role=Role.OWNER)
def list_page(context: Context) -> Response:
    with context.database.read() as session:
        studies_listed = repository.listed(session)
        progress_by_study = progress_of(session, studies_listed)
    rows = [(study, progress_by_study[study.id], study.settings["file"]) for study in studies_listed]
    return context.render("studies.html", rows=rows, kinds=KINDS)


@routes.page("/studies", role=Role.OWNER, methods=("POST",))
def make_done(context: Context, file: UploadFile) -> Response:
    """The file is read as a whole first: a study is made of it, or every problem is listed."""
    try:
        study = api.make_study(context, file.file.read())
    except Refused as refusal:
        context.problems = problems_of_form(refusal)
        return list_page(context)
    return context.redirect(f"/studies/{study.id}", "study-made")


@routes.page("/studies/{study_id}", role=Role.OWNER)
def study_page(context: Context, study_id: int) -> Response:
    with context.database.read() as session:
        study = repository.find(session, study_id)
        counts, sizes = progress(session, study), repository.sizes(session, study)
        remarks = repository.remarks_of(session, study)
    # The addresses to give a crowd platform, by its name.
    base, key = context.base_address, context.state.secret_key
    open_link, platform = arrivals.open_link(base, study.code), study.settings.get("platform") or "prolific"
    links = {arrivals.PLATFORMS[platform]: arrivals.platform_link(base, key, study.code, platform)}
    if platform != "mturk":
        links["Another platform"] = arrivals.platform_link(base, key, study.code, "")
    return context.render(
        "study.html",
        study=study,
        progress=counts,
        sizes=sizes,
        export_name=export_name(repository.kind_of(study)),
        open_link=open_link,
        platform_links={"Prolific": open_link} if study.settings.get("signed_links") else links,
        remarks=remarks,
    )


@routes.page("/studies/{study_id}/state", role=Role.OWNER, methods=("POST",))
def change_state(context: Context, study_id: int, state: Text = "") -> Response:
    api.change_study(context, study_id, api.ChangeBody(state=state))
    return context.redirect(f"/studies/{study_id}", "saved")


@routes.page("/studies/{study_id}/delete", role=Role.OWNER, methods=("POST",))
def delete_done(context: Context, study_id: int, title: Text = "") -> Response:
    """Whoever deletes writes the title, since nothing brings the answers back."""
    try:
        api.delete_study(context, study_id, title)
    except Refused as refusal:
        context.problems = problems_of_form(refusal)[:1]
        return study_page(context, study_id)
    return context.redirect("/studies", "study-deleted")


@routes.page("/studies/{study_id}/edit", role=Role.OWNER)
def edit_page(context: Context, study_id: int) -> Response:
    """Texts and numbers that can change, also after the start."""
    with context.database.read() as session:
        study = repository.find(session, study_id)
    numbers = {name: getattr(study, name) or 0 for name in ("title", "judgments", "most_per_person", "minutes")}
    values = study.settings | numbers
    return context.render("study-edit.html", study=study, values=values, kind=repository.kind_of(study))


class EditForm(api.ChangeBody):
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
    before = study.settings
    changes = {name: value for name, value in values.items() if name not in before or value != before[name].strip()}
    changes["title"] = values["title"] or None
    try:
        api.change_study(context, study_id, api.ChangeBody.model_construct(**changes))
    except Refused as refusal:
        context.problems = problems_of_form(refusal)
        return context.render("study-edit.html", study=study, values=values, kind=repository.kind_of(study))
    return context.redirect(f"/studies/{study_id}", "saved")


@routes.page("/studies/{study_id}/clone", role=Role.OWNER, methods=("POST",))
def clone_done(context: Context, study_id: int, title: Text = "") -> Response:
    """The same questions and rules again, for other people."""
    twin = api.clone_study(context, study_id, api.CloneBody(title=title.strip()[:120]))
    return context.redirect(f"/studies/{twin.id}", "study-made")


@routes.page("/studies/{study_id}/quality", role=Role.OWNER)
def quality_page(context: Context, study_id: int) -> Response:
    """What is known of the answers; where there are many newer ones, they are counted meanwhile."""
    from sacrecap_server.pages import page_charts

    with context.database.read() as session:
        study = repository.find(session, study_id)
        statistics = results.current(session, study, context.state.counting)
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
    context.policy = policy(image.url for image in images.values())
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
        query_of=lambda page: urlencode({**chosen.query(), "page": page}),
    )


def _number(text: str) -> int | None:
    """A number of a filter's field; None if it is empty, and one that no row has where it is no number."""
    text = text.strip()
    if not text:
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


@routes.page("/studies/{study_id}/answers/{assignment_id}", role=Role.OWNER, methods=("POST",))
def change_answer(
    context: Context, study_id: int, assignment_id: int, action: Text = "", reason: Text = "", back: Text = ""
) -> Response:
    """Rejects an answer, or takes that back."""
    with context.database.write() as session:
        study = repository.find(session, study_id)
        if action == "reject":
            endings.reject(session, study, assignment_id, reason)
        elif action == "restore":
            endings.restore(session, study, assignment_id)
        else:
            raise Refused(422, "The action is one of reject, restore.")
    event(f"study.{action}", study=study_id, answer=assignment_id)
    # Back to the page of answers that the form was on; `back` is only ever the query of one.
    fields = {name: value for name, value in parse_qsl(back) if name in (*vars(Filter()), "page")}
    return context.redirect(f"/studies/{study.id}/answers?{urlencode({**fields, 'at': assignment_id})}", "saved")


@routes.page("/studies/{study_id}/links", role=Role.OWNER, methods=("POST",))
def personal_links(context: Context, study_id: int, workers: Annotated[str, Form(max_length=200_000)] = "") -> Response:
    """A table of personal links, one for each id of the form. Nothing is stored: the server knows its signature."""
    with context.database.read() as session:
        study = repository.find(session, study_id)
    ids = list(dict.fromkeys(line.strip() for line in workers.splitlines() if line.strip()))
    wrong = [worker for worker in ids if len(worker) > 128 or not worker.isprintable()]
    if not ids or len(ids) > 2000 or wrong:
        raise Refused(
            422,
            "Write 1 to 2,000 ids, one per line, each with at most 128 printable characters.",
            [f"{id[:60]!r} is not printable, or has too many characters: {len(id)}." for id in wrong[:10]],
        )
    base, key = context.base_address, context.state.secret_key
    links = [(worker, arrivals.personal_link(base, key, study.code, worker)) for worker in ids]
    return _table([("worker", "link"), *links], f"study-{study_id}-links.csv")


@routes.page("/studies/{study_id}/people", role=Role.OWNER)
def people_page(context: Context, study_id: int) -> Response:
    """Everybody who began, newest first."""
    study, people = _people(context, study_id)
    return context.render("study-people.html", study=study, people=people[::-1], state_of=state_of)


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
    return _table([[*_COLUMNS, "same_address"], *rows], f"study-{study_id}-people.csv")


@routes.token_page("/studies/{study_id}/approve")
def approve_list(context: Context, study_id: int) -> Response:
    """Whose work is to be approved, as the study's platform takes it."""
    study, people = _people(context, study_id)
    platform = study.settings.get("platform", "")
    return _table(approvals(people, platform), f"study-{study_id}-approve.{'csv' if platform == 'mturk' else 'txt'}")


@routes.token_page("/studies/{study_id}/bonus")
def bonus_list(
    context: Context, study_id: int, per_answer: Annotated[Decimal, Query(gt=0, le=1000, max_digits=8)]
) -> Response:
    """What those get who did a part of the work, as the study's platform takes it."""
    study, people = _people(context, study_id)
    return _table(bonuses(people, study.settings.get("platform", ""), per_answer), f"study-{study_id}-bonus.csv")


@routes.page("/studies/{study_id}/people/{annotator_id}", role=Role.OWNER)
def person_page(context: Context, study_id: int, annotator_id: int) -> Response:
    with context.database.read() as session:
        study, person = person_of(session, study_id, annotator_id)
        answered = select(func.count()).where(Assignment.annotator_id == person.id, Assignment.answered.is_not(None))
        count = session.execute(answered).scalar_one()
    return context.render("person-delete.html", study=study, person=person, count=count)


@routes.page("/studies/{study_id}/people/{annotator_id}", role=Role.OWNER, methods=("POST",))
def change_person(context: Context, study_id: int, annotator_id: int, action: Text = "") -> Response:
    """Excludes a person, or reverses that; or deletes them, a right by article 17 of the GDPR."""
    with context.database.write() as session:
        study, person = person_of(session, study_id, annotator_id)
        if action == "exclude":
            exclude(session, study, person, "by the owner")
        elif action == "include":
            include(session, study, person)
        elif action == "delete":
            endings.erase(session, study, person)
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


def _table(rows: Iterable[Iterable[str]], name: str) -> Response:
    """A file to save, whose name is plain; kept by no cache, since the next caller may not see it."""
    file = io.StringIO(newline="")
    csv.writer(file).writerows([no_formula(value) for value in row] for row in rows)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return PlainTextResponse(file.getvalue(), media_type="text/csv", headers=headers)


_ROLES = {"practice": "Practice", "item": "Questions", "gold": "Gold questions", "attention": "Attention checks"}
_ENDS = {
    "complete": "complete",
    "screened-out": "screened out, after failed checks",
    "no-consent": "did not agree",
    "stopped": "stopped, answers kept",
    "partial": "finished early",
    "too-fast": "too fast, ended early",
    "withdrawn": "withdrew",
    "waiting": "waiting for others",
    "paused": "the study is paused",
    "closed": "the study was closed",
    "full": "came too late",
}


@routes.page("/studies/{study_id}/preview", role=Role.OWNER)
def preview(context: Context, study_id: int, page: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0) -> Response:
    """One page of the whole study as annotators see it: entrance, every question of every role, every way to end.

    Nothing is given out or saved, and each page says so.
    """
    with context.database.read() as session:
        study = repository.find(session, study_id)
        sizes = repository.sizes(session, study)
        # The sections that the preview walks through: key, name, and number of pages.
        sections = [("welcome", "Welcome", 1)]
        sections += [(role, name, sizes[role]) for role, name in _ROLES.items() if sizes.get(role)]
        sections += [(role, role, size) for role, size in sizes.items() if role not in _ROLES]
        sections += [("stop", "Stopping", 1), ("end", "Endings", len(_ENDS))]
        *firsts, end = accumulate((size for _, _, size in sections), initial=0)
        if page >= end:
            raise not_found("page of the study")
        number = bisect(firsts, page) - 1
        key, name, size = sections[number]
        place = page - firsts[number]
        item = None
        if key not in ("welcome", "stop", "end"):
            query = select(StudyItem).where(StudyItem.study_id == study.id, StudyItem.role == key)
            item = session.execute(query.order_by(StudyItem.number).offset(place).limit(1)).scalar_one_or_none()
            if item is None:
                raise not_found("question")
        contents = [] if item is None else [item.content]
        images = repository.shown_images(session, study, contents)
    submits = "https://www.mturk.com" if study.settings.get("platform") == "mturk" else ""
    nobody: dict[str, Any] = {"id": 0, "items": 0, "pages": 0, "cautions": "", "warned": False, "platform_session": ""}
    person = Annotator(**nobody, completion="EXAMPLE", platform_return=submits)
    visit = Visit(context, study, person, f"?page={page}")
    visit.prepare()
    name = f"{name} {place + 1:,} of {size:,}" if size > 1 else name
    preview = {
        "name": f"Ending: {list(_ENDS.values())[place]}" if key == "end" else name,
        "previous": page - 1 if page else None,
        "next": page + 1 if page < end - 1 else None,
        "sections": [(title, at, at == firsts[number]) for (_, title, _), at in zip(sections, firsts, strict=True)],
    }
    if item is not None:
        order = list(range(len(captions_of(item.content))))
        assignment = Assignment(id=0, item=item, role=item.role, shown_order=order)
        return show_question(visit, assignment, images, preview=preview)
    if key == "welcome":
        visit.person = None
        return visit.render("annotate-welcome.html", arrival=arrivals.Arrival(), obstacle="", preview=preview)
    if key == "stop":
        return visit.render("annotate-stop.html", problem="", preview=preview)
    kind = list(_ENDS)[place]
    visit.person = None if kind == "no-consent" else person
    person.items = 0 if kind == "full" else study.most_per_person or 1
    ending = endings.with_code(kind, study, visit.person)
    if kind in ("waiting", "paused", "closed"):
        ending = Ending(kind, minutes=0 if kind == "closed" else study.minutes)
    return visit.render("annotate-end.html", ending=ending, preview=preview)
