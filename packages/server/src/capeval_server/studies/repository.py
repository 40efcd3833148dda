"""Studies as their owners see them: made from a file, opened and closed."""

from __future__ import annotations

import base64
import json
import random
import secrets
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from capeval_server.accounts.access import Caller
from capeval_server.store.blobs import forget, keep
from capeval_server.store.models import Annotator, Assignment, Study, StudyImage, StudyItem
from capeval_server.web.errors import not_found
from capeval_studies import KINDS
from capeval_studies.design import Checks, Design, Page
from capeval_studies.kinds import StudyKind

STATES = ("open", "paused", "closed")
_BATCH = 5000


def make(session: Session, owner_id: int, design: Design) -> Study:
    """Stores a study with its pages and images; paused, so that the owner can look at it first."""
    study = Study(
        code=secrets.token_urlsafe(9), owner_id=owner_id, kind=design.kind.name, title=design.title, state="paused",
        judgments=design.judgments, most_per_person=design.most_per_person, minutes=design.minutes,
        settings=json.dumps(_settings(design)),
    )  # fmt: skip
    session.add(study)
    session.flush()
    rows = list(_items(study.id, design))
    for start in range(0, len(rows), _BATCH):
        session.execute(insert(StudyItem), rows[start : start + _BATCH])
    for image_id, address in design.images.items():
        session.add(_image(session, study.id, image_id, address))
    return study


def _settings(design: Design) -> dict[str, Any]:
    return {
        "instructions": design.instructions,
        "consent": design.consent,
        "workers_only": design.workers_only,
        "completion_code": design.completion_code,
        "completion_url": design.completion_url,
        **design.crowd,
        "size": len(design.pages),
        "checks": {
            role: {"every": checks.every, "policy": checks.policy, "least": checks.least, "after": checks.after}
            for role, checks in design.checks.items()
        },
    }


def _items(study_id: int, design: Design) -> Iterator[dict[str, Any]]:
    roles: dict[str, list[Page]] = {"item": design.pages}
    roles |= {role: checks.pages for role, checks in design.checks.items()}
    for role, pages in roles.items():
        places = list(range(len(pages)))
        random.shuffle(places)
        for number, (page, place) in enumerate(zip(pages, places, strict=True)):
            yield {
                "study_id": study_id, "role": role, "number": number, "group": page.group,
                "content": json.dumps(page.content),
                "answer": None if role == "item" else json.dumps(page.answer), "taken": 0, "shuffle": place,
            }  # fmt: skip


def _image(session: Session, study_id: int, image_id: str, address: str) -> StudyImage:
    image = StudyImage(study_id=study_id, image_id=image_id, code=secrets.token_urlsafe(12))
    if address.startswith("data:"):
        head, _, data = address.partition(",")
        image.media_type = head.removeprefix("data:").removesuffix(";base64")
        image.blob_sha = keep(session, base64.b64decode(data))
    else:
        image.url = address
    return image


def find(session: Session, study_id: int, caller: Caller) -> Study:
    """A study that the caller owns; anybody else's does not exist."""
    study = session.get(Study, study_id)
    if study is None or not caller.owns(study.owner_id):
        raise not_found("study")
    return study


def by_code(session: Session, code: str) -> Study:
    """The study of an annotators' link."""
    study = session.execute(select(Study).where(Study.code == code)).scalar_one_or_none()
    if study is None:
        raise not_found("study")
    return study


def lock(session: Session, study_id: int) -> None:
    """Makes what gives out items of this study wait for each other: two people must not get an item's last place.

    On SQLite, write transactions wait for each other anyway. The lock lets rows that refer to the study be added beside
    it, since whoever has added one could otherwise not take it any more without a deadlock.
    """
    if session.get_bind().dialect.name == "sqlite":
        return
    locked = session.execute(select(Study.id).where(Study.id == study_id).with_for_update(key_share=True))
    if locked.first() is None:  # deleted while this waited
        raise not_found("study")


def delete_whole(session: Session, study: Study) -> None:
    """The study with its questions, people and answers, and its images where nothing else has them."""
    lock(session, study.id)
    query = select(StudyImage.blob_sha).where(StudyImage.study_id == study.id)
    shas = {sha for sha in session.execute(query).scalars() if sha is not None}
    for table in (Assignment, Annotator, StudyItem, StudyImage):
        session.execute(delete(table).where(table.study_id == study.id))
    session.execute(delete(Study).where(Study.id == study.id))
    forget(session, shas)


def kind_of(study: Study) -> StudyKind:
    """The protocol that the study follows."""
    return KINDS[study.kind]


def settings_of(study: Study) -> dict[str, Any]:
    """The content of the file besides the pages; see `_settings`."""
    settings: dict[str, Any] = json.loads(study.settings)
    return settings


def checks_of(study: Study) -> dict[str, Checks]:
    """The checks' rules, without their pages."""
    return {role: Checks(**rules, pages=[]) for role, rules in settings_of(study)["checks"].items()}


def image_of(session: Session, study: Study, content: dict[str, Any]) -> StudyImage | None:
    """The image that a page shows."""
    if not kind_of(study).shows_image:
        return None
    return session.get_one(StudyImage, (study.id, content["image_id"]))


def image_policy(study_image: StudyImage | None) -> str | None:
    """The origin that a page with this image must be allowed to load from; None for images kept here."""
    if study_image is None or study_image.url is None:
        return None
    parts = urlsplit(study_image.url)
    return f"{parts.scheme}://{parts.netloc}"


def sizes(session: Session, study: Study) -> dict[str, int]:
    """Pages by role."""
    query = select(StudyItem.role, func.count()).where(StudyItem.study_id == study.id).group_by(StudyItem.role)
    return {row[0]: row[1] for row in session.execute(query)}
