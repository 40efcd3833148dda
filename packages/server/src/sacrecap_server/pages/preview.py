"""The whole study as its owner may look at it: entrance, every question of every role, every way to end.

Nothing is given out or saved, and each page says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import select

from sacrecap_server.errors import not_found
from sacrecap_server.pages.annotate import Visit, show_end, show_question, show_stop, show_welcome
from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyItem
from sacrecap_server.studies import endings, repository
from sacrecap_server.studies.annotators import Arrival
from sacrecap_server.studies.endings import Ending
from sacrecap_server.web.context import Context, Response
from sacrecap_server.web.owner import Role
from sacrecap_server.web.routing import Routes

routes = Routes()
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


@dataclass(frozen=True)
class PageGroup:
    """Pages of one sort that follow each other."""

    key: str
    name: str
    first: int
    size: int
    is_here: bool = False


@dataclass(frozen=True)
class Preview:
    """Where a page is among those of the study."""

    name: str
    previous: int | None
    next: int | None
    sections: list[PageGroup]


@routes.page("/studies/{study_id}/preview", role=Role.OWNER)
def preview(context: Context, study_id: int, page: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0) -> Response:
    """One page of the study as annotators see it."""
    with context.database.read() as session:
        study = repository.find(session, study_id)
        sections = _sections(repository.sizes(session, study), page)
        here = next((section for section in sections if section.is_here), None)
        if here is None:
            raise not_found("page of the study")
        place = page - here.first
        item = None
        if here.key not in ("welcome", "stop", "end"):
            query = select(StudyItem).where(StudyItem.study_id == study.id, StudyItem.role == here.key)
            item = session.execute(query.order_by(StudyItem.number).offset(place).limit(1)).scalar_one_or_none()
            if item is None:
                raise not_found("question")
        contents = [] if item is None else [json.loads(item.content)]
        images = repository.shown_images(session, study, contents)
    visit = Visit(context, study, repository.settings_of(study), _somebody(study), f"?page={page}")
    visit.prepare()
    last = sections[-1].first + sections[-1].size - 1
    name = f"{here.name} {place + 1:,} of {here.size:,}" if here.size > 1 else here.name
    if here.key == "end":
        name = f"Ending: {list(_ENDS.values())[place]}"
    preview = Preview(name, page - 1 if page else None, page + 1 if page < last else None, sections)
    if item is not None:
        options = list(range(repository.kind_of(study).options(contents[0])))
        assignment = Assignment(id=0, item=item, role=item.role, shown_order=json.dumps(options))
        return show_question(visit, assignment, images, preview=preview)
    if here.key == "welcome":
        visit.person = None
        return show_welcome(visit, Arrival(), preview=preview)
    if here.key == "stop":
        return show_stop(visit, preview=preview)
    return show_end(visit, _ending(visit, list(_ENDS)[place]), preview=preview)


def _sections(sizes: dict[str, int], page: int) -> list[PageGroup]:
    """The pages in the order in which the preview walks through them."""
    pages = [("welcome", "Welcome", 1)]
    pages += [(role, name, sizes[role]) for role, name in _ROLES.items() if sizes.get(role)]
    pages += [(role, role, size) for role, size in sizes.items() if role not in _ROLES]
    pages += [("stop", "Stopping", 1), ("end", "Endings", len(_ENDS))]
    sections, first = [], 0
    for key, name, size in pages:
        sections.append(PageGroup(key, name, first, size, is_here=first <= page < first + size))
        first += size
    return sections


def _somebody(study: Study) -> Annotator:
    """A person who is nobody, for pages that speak of one."""
    settings = repository.settings_of(study)
    submits = "https://www.mturk.com" if settings.get("platform") == "mturk" else ""
    nobody: dict[str, Any] = {"id": 0, "items": 0, "pages": 0, "cautions": "", "warned": False, "platform_session": ""}
    return Annotator(**nobody, completion="EXAMPLE", platform_return=submits)


def _ending(visit: Visit, kind: str) -> Ending:
    assert visit.person is not None
    if kind == "no-consent":
        visit.person = None
    elif kind != "full":
        visit.person.items = visit.study.most_per_person or 1
    if kind in ("waiting", "paused", "closed"):
        return Ending(kind, minutes=0 if kind == "closed" else visit.study.minutes)
    return endings.with_code(kind, visit.study, visit.person)
