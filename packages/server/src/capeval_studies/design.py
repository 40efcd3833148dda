"""The file of a study: one JSON object with everything that is asked, read as a whole before anything is made of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from capeval.data.fields import Invalid, shown
from capeval.errors import DataError
from capeval_studies import KINDS
from capeval_studies.crowd import read_crowd
from capeval_studies.fields import Fields, Problems, flag, link
from capeval_studies.kinds import Content, StudyKind

MOST_PAGES = 300_000
MOST_IMAGE_BYTES = 4 * 2**20
POLICIES = ("note", "warn", "exclude")
"""Consequences of failed checks: the owner sees it; the person is told too; the answers no longer count."""
ROLES = ("gold", "attention")

_DATA_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})")
_WEB_IMAGE = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?/[^\s\"'<>\\]*")


@dataclass(frozen=True)
class Page:
    """The content of one page, of the file's item `group`."""

    group: int
    content: Content
    answer: Any = None
    """The known answer, on checks."""


@dataclass(frozen=True)
class Checks:
    """Questions with known answers, and what follows from failing them."""

    every: int
    """One of them after so many items."""
    policy: str
    least: float
    """The share that must be right ..."""
    after: int
    """... once so many are answered."""
    pages: list[Page]

    def fails(self, right: int, answered: int) -> bool:
        """Whether these answers are below what is asked."""
        return answered >= self.after and right < self.least * answered


@dataclass(frozen=True)
class Design:
    """A study as its file describes it."""

    kind: StudyKind
    title: str
    instructions: str
    consent: str
    judgments: int
    most_per_person: int | None
    minutes: int
    """Minutes after which an unanswered item goes to somebody else."""
    workers_only: bool
    completion_code: str
    completion_url: str
    images: dict[str, str]
    """Web address or `data:` URL of each image."""
    pages: list[Page]
    checks: dict[str, Checks] = field(default_factory=dict)
    crowd: dict[str, Any] = field(default_factory=dict)
    """See `read_crowd`."""


def read_design(data: bytes, source: str = "study") -> Design:
    """The study in a file's bytes. Raises `StudyFileError`, which lists everything that is wrong with it."""
    problems = Problems()
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise StudyFileError(source, ["not UTF-8; save the file as UTF-8"]) from None
    except (ValueError, RecursionError) as error:
        raise StudyFileError(source, [f"not JSON ({error})"]) from None
    design = _design(Fields(value, "", problems))
    if problems.count:
        raise StudyFileError(source, problems.all())
    return design


class StudyFileError(DataError):
    """Everything that is wrong with a study's file."""

    def __init__(self, source: str, problems: list[str]) -> None:
        self.problems = problems
        several = f"{len(problems)} problems:\n  " if len(problems) > 1 else ""
        super().__init__(f"{source}: {several}" + "\n  ".join(problems))


def _design(fields: Fields) -> Design:
    kind = KINDS[fields.one_of("study", list(KINDS))]
    completion = Fields(fields.take("completion") or {}, "completion", fields.problems)
    pages = [
        Page(group, content)
        for group, contents in enumerate(fields.each("items", lambda item, _: kind.contents(item)))
        for content in contents
    ]
    if len(pages) > MOST_PAGES:
        fields.wrong("items", f"{len(pages):,} pages, of which there may be {MOST_PAGES:,}; make several studies")
    design = Design(
        kind=kind,
        title=fields.text("title", kind.title, most=120),
        instructions=fields.text("instructions", kind.instructions, most=5000),
        consent=fields.text("consent", "", most=20_000),
        judgments=fields.whole("judgments", kind.judgments, 1, 1000),
        most_per_person=fields.whole("most_per_person", 0, 1, 100_000) or None,
        minutes=fields.whole("minutes", 15, 1, 1440),
        workers_only=fields.optional("workers_only", flag, default=False),
        completion_code=completion.text("code", "", most=60),
        completion_url=completion.optional("url", link, ""),
        images=_images(fields),
        pages=pages,
        checks={role: _checks(fields, role, kind) for role in ROLES if fields.has(role)},
        crowd=read_crowd(fields, completion),
    )
    for role in ROLES:
        fields.take(role)
    completion.end()
    fields.end()
    _check_images(fields, design)
    return design


def _checks(fields: Fields, role: str, kind: StudyKind) -> Checks:
    checks = Fields(fields.take(role), role, fields.problems)
    found = checks.each("items", lambda item, _: kind.check(item))
    read = Checks(
        every=checks.whole("every", 10, 1, 10_000),
        policy=checks.one_of("policy", POLICIES, "warn"),
        least=checks.number("least", 0.7, 0, 1),
        after=checks.whole("after", 3, 1, 1000),
        pages=[Page(number, content, answer) for number, (content, answer) in enumerate(found)],
    )
    checks.end()
    return read


def _images(fields: Fields) -> dict[str, str]:
    images: dict[str, str] = fields.optional("images", _mapping, {})
    for image_id, address in images.items():
        fields.check(f"images[{image_id[:60]!r}]", _address, address, "")
    return images


def _mapping(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise Invalid.of(value, "{image_id: address}")
    return value


def _address(value: object) -> str:
    address = value if isinstance(value, str) else ""
    if len(address) > MOST_IMAGE_BYTES * 4 // 3:
        raise Invalid(f"must have at most {MOST_IMAGE_BYTES // 2**20} MiB, got {len(address) * 3 / 2**22:.1f}")
    if not _DATA_IMAGE.fullmatch(address) and not _WEB_IMAGE.fullmatch(address):
        raise Invalid.of(value, "https://… or data:image/png|jpeg|gif|webp;base64,…")
    return address


def _check_images(fields: Fields, design: Design) -> None:
    """Every image that a page shows must be there."""
    if not design.kind.shows_image:
        return
    every = [*design.pages, *(page for checks in design.checks.values() for page in checks.pages)]
    for image_id in dict.fromkeys(page.content["image_id"] for page in every):
        if image_id not in design.images:
            fields.wrong("images", f"no image {shown(image_id)}, which an item shows")
