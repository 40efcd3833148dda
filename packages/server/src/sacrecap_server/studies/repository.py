"""Studies as their owners see them: made from a file or from another study, changed, opened and closed."""

from __future__ import annotations

import base64
import hashlib
import random
import secrets
import zlib
from collections.abc import Iterable
from itertools import islice
from typing import Any

from sqlalchemy import delete, exists, func, insert, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import Session

from sacrecap_server.errors import not_found
from sacrecap_server.store.schema import (
    Annotator,
    Assignment,
    Blob,
    KeyValue,
    Study,
    StudyFindings,
    StudyImage,
    StudyItem,
)
from sacrecap_studies import KINDS
from sacrecap_studies.checks import remarks
from sacrecap_studies.design import DIRECTIONS, Limit, StudyDesign, StudyFileError, StudyPage, read_language, read_texts
from sacrecap_studies.field_reader import Fields, Problems, link
from sacrecap_studies.kinds import StudyKind
from sacrecap_studies.questions import images_of

SURVEYS = ("before", "after")
"""Roles of the pages with questions to everybody: before the first item and after the last."""
STATES = ("open", "paused", "closed")
_TEXTS = {"title": 120, "instructions": 5000, "consent": 20_000, "question": 500, "completion_code": 60}
"""Texts that can be changed, and their most characters."""


def make(session: Session, design: StudyDesign, seed: str | None = None, file: str = "") -> Study:
    """Stores a study with its pages and images; paused, so that the owner can look at it first.

    All its draws follow from the seed, a secret random one by default. `file` is the name of a served file.
    """
    rules = {name: getattr(design, name) for name in ("title", "judgments", "most_per_person", "minutes")}
    settings = {**design.settings, "file": file}
    study = _paused(session, seed, kind=design.kind.name, settings=settings, **rules)
    surveys = {name: [StudyPage(0, {"asks": name})] for name in SURVEYS if name in design.settings["asked"]}
    roles = {"item": design.pages, **design.known, **surveys}
    _insert(
        session,
        (
            {
                "study_id": study.id,
                "role": role,
                "number": number,
                "group": page.group,
                "content": page.content,
                "answer": None if role == "item" else page.answer,
                "taken": 0,
                "shuffle": place,
                "because": page.because,
                "image_id": page.content.get("image_id"),
            }
            for role, pages in roles.items()
            for number, (page, place) in enumerate(zip(pages, _places(study, role, len(pages)), strict=True))
        ),
    )
    for image_id, address in design.images.items():
        image = StudyImage(study_id=study.id, image_id=image_id, code=secrets.token_urlsafe(12))
        if address.startswith("data:"):
            head, _, data = address.partition(",")
            image.media_type = head.removeprefix("data:").removesuffix(";base64")
            content = base64.b64decode(data)
            image.blob_sha = hashlib.sha256(content).hexdigest()
            blob = {"sha256": image.blob_sha, "size": len(content), "data": zlib.compress(content, 6)}
            session.execute(sqlite.insert(Blob).values(blob).on_conflict_do_nothing())
        else:
            image.url = address
        session.add(image)
    return study


_FILE = "file "
"""How the names of rows begin that say which files were made into studies, each with the name of its file."""


def make_once(session: Session, name: str, data: bytes, design: StudyDesign) -> str:
    """Makes a study of a served file, once; what is in the way, where another file of this name was made into one."""
    key = _FILE + hashlib.sha256(data).hexdigest()
    if session.get(KeyValue, key) is not None:
        return ""
    same_name = select(KeyValue.name).where(KeyValue.name.startswith(_FILE), KeyValue.value == name)
    if session.execute(same_name).first() is not None:
        return "the file has changed since its study was made"
    session.add(KeyValue(name=key, value=name))
    make(session, design, file=name)
    return ""


def _paused(session: Session, seed: str | None = None, **rules: Any) -> Study:
    """A study that has no questions yet."""
    code, seed = secrets.token_urlsafe(9), seed or secrets.token_hex(16)
    study = Study(code=code, state="paused", seed=seed, **rules)
    session.add(study)
    session.flush()
    return study


def _insert(session: Session, items: Iterable[dict[str, Any]]) -> None:
    rows = iter(items)
    while batch := list(islice(rows, 5000)):
        session.execute(insert(StudyItem), batch)


def _places(study: Study, role: str, count: int) -> list[int]:
    """An order of chance of the pages of a role."""
    return random.Random(f"{study.seed}:{role}").sample(range(count), count)


def find(session: Session, study_id: int) -> Study:
    """The study of this number."""
    study = session.get(Study, study_id)
    if study is None:
        raise not_found("study")
    return study


def listed(session: Session) -> list[Study]:
    """The newest 200 studies."""
    return list(session.execute(select(Study).order_by(Study.id.desc()).limit(200)).scalars())


def delete_whole(session: Session, study: Study) -> None:
    """The study with its questions, people and answers, and its images where nothing else has them."""
    query = select(StudyImage.blob_sha).where(StudyImage.study_id == study.id)
    shas = {sha for sha in session.execute(query).scalars() if sha is not None}
    for table in (Assignment, Annotator, StudyItem, StudyImage, StudyFindings):
        session.execute(delete(table).where(table.study_id == study.id))
    session.execute(delete(Study).where(Study.id == study.id))
    is_used = exists().where(StudyImage.blob_sha == Blob.sha256)
    session.execute(delete(Blob).where(Blob.sha256.in_(shas), ~is_used))


def kind_of(study: Study) -> StudyKind:
    """The protocol that the study follows, with the questions of its file."""
    return KINDS[study.kind].asking(study.settings.get("asked", {}))


def most_items(study: Study) -> int:
    """Items that one person can answer."""
    size: int = study.settings["size"]
    return min(size, study.most_per_person or size)


def limit_of(study: Study, name: str) -> Limit:
    """The rule for answers with a fault: `speed` or `repeats`."""
    return Limit(**study.settings[name])


def remarks_of(session: Session, study: Study) -> list[str]:
    """What the owner should know of the checks before the start."""
    return remarks(study.settings, sizes(session, study), most_items(study))


_COLUMNS = ("title", "judgments", "most_per_person", "minutes")


def change(session: Session, study: Study, **changes: Any) -> None:
    """Changes a study, also after the start; what is None or not named stays, and an empty text is the default.

    With fewer judgments than an item has already, its answers stay and nobody else gets it. `most_per_person` 0 takes
    the limit away. People who are at work see new texts with their next page.

    `changes` has `title`, `judgments`, `most_per_person`, `minutes`, `instructions`, `consent`, `question`,
    `completion_code`, `completion_url`, `language`, `direction`, `texts`, as the file has them. Consent cannot change
    once somebody has agreed to it. Raises `StudyFileError` for what the file could not have either: every problem is
    listed, and nothing changed.
    """
    changes = {name: value for name, value in changes.items() if value is not None}
    fields = Fields({name: None if value == "" else value for name, value in changes.items()}, "", Problems())
    for name, most in _TEXTS.items():
        fields.text(name, "", most=most)
    fields.whole("judgments", 1, 1, 1000)
    fields.whole("most_per_person", 0, 0, 100_000)
    fields.whole("minutes", 1, 1, 1440)
    fields.optional("completion_url", link, "")
    fields.optional("language", read_language, "en")
    fields.one_of("direction", DIRECTIONS, "")
    fields.optional("texts", read_texts, dict[str, str]())
    fields.end()
    before, kind = study.settings, kind_of(study)
    after = before | {name: value for name, value in changes.items() if name not in _COLUMNS}
    after |= {name: getattr(kind, name) for name in ("instructions", "question") if not after[name]}
    started = session.execute(select(Annotator.id).where(Annotator.study_id == study.id).limit(1)).first() is not None
    if started and after["consent"] != before["consent"]:
        fields.wrong("consent", "people have agreed to the text as it is; clone the study to ask with another")
    if fields.problems.count:
        raise StudyFileError("the study", fields.problems.all())
    for name in _COLUMNS:
        if changes.get(name):
            setattr(study, name, changes[name])
    if changes.get("most_per_person") == 0:
        study.most_per_person = None
    study.settings = after
    study.wave = 0  # with more judgments, items that were complete are not


def clone(session: Session, study: Study, title: str) -> Study:
    """A new study, paused, with the same questions, images and rules, and other draws; without people and answers."""
    rules = {name: getattr(study, name) for name in ("kind", "judgments", "most_per_person", "minutes", "settings")}
    twin = _paused(session, title=title, **rules)
    places = {role: _places(twin, role, count) for role, count in sizes(session, study).items()}
    columns = ("role", "number", "group", "content", "answer", "because", "image_id")
    query = select(*(getattr(StudyItem, name) for name in columns)).where(StudyItem.study_id == study.id)
    rows = session.execute(query.order_by(StudyItem.id)).mappings().all()
    _insert(session, ({**row, "study_id": twin.id, "taken": 0, "shuffle": places[row["role"]].pop()} for row in rows))
    for image in session.execute(select(StudyImage).where(StudyImage.study_id == study.id)).scalars():
        copied = {name: getattr(image, name) for name in ("image_id", "url", "blob_sha", "media_type")}
        session.add(StudyImage(study_id=twin.id, code=secrets.token_urlsafe(12), **copied))
    return twin


def shown_images(session: Session, study: Study, contents: Iterable[dict[str, Any]]) -> dict[str, StudyImage]:
    """The images that pages with these contents show, by their ids."""
    names = {name for content in contents for name in images_of(content)} if kind_of(study).shows_image else set()
    query = select(StudyImage).where(StudyImage.study_id == study.id, StudyImage.image_id.in_(names))
    return {image.image_id: image for image in session.execute(query).scalars()} if names else {}


def sizes(session: Session, study: Study) -> dict[str, int]:
    """Pages by role."""
    query = select(StudyItem.role, func.count()).where(StudyItem.study_id == study.id).group_by(StudyItem.role)
    return {row[0]: row[1] for row in session.execute(query)}
