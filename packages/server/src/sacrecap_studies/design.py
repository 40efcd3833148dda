"""The file of a study: one JSON object with everything that is asked, read as a whole before anything is made of it."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import asdict, dataclass, replace
from statistics import mean
from typing import Any

from sacrecap.data.fields import Invalid, quoted, text
from sacrecap.errors import DataError
from sacrecap_studies.checks import CheckRule, needed, remarks
from sacrecap_studies.checks import every as usual_every
from sacrecap_studies.field_reader import EnoughProblems, Fields, Problems, flag, link, mapping
from sacrecap_studies.kinds import KINDS, StudyKind
from sacrecap_studies.questions import ASKED, Content, images_of, read_questions

MOST_PAGES = 300_000
MOST_IMAGE_BYTES = 4 * 2**20
POLICIES = ("note", "warn", "exclude")
"""Consequences: the owner sees it; the person is told too; the person's answers no longer count."""
PARTIAL = "partial"
"""A consequence of speed: the person is told, and if they go on so, ends with what they have."""
ROLES = ("gold", "attention")

DIRECTIONS = ("ltr", "rtl")

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_DATA_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})")
_WEB_IMAGE = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?/[^\s\"'<>\\]*")


@dataclass(frozen=True)
class StudyPage:
    """The content of one page, of the file's item `group`."""

    group: int
    content: Content
    answer: Any = None
    """The known answer, on checks and practice questions."""
    because: str = ""
    """What practice says about the answer."""


@dataclass(frozen=True)
class Limit:
    """How many of a person's answers may have a fault, and what follows where more have it."""

    policy: str = "note"
    share: float = 0.3
    """More than this share ..."""
    after: int = 5
    """... once so many are answered."""
    least: float = 0.0
    """Seconds, where the fault is to answer in less."""

    def fails(self, faults: int, answered: int) -> bool:
        """Whether these answers have the fault too often."""
        return answered >= self.after and faults > self.share * answered


@dataclass(frozen=True)
class StudyDesign:
    """A study as its file describes it."""

    kind: StudyKind
    title: str
    judgments: int
    most_per_person: int | None
    minutes: int
    """Minutes after which an unanswered item goes to somebody else."""
    images: dict[str, str]
    """Web address or `data:` URL of each image."""
    pages: list[StudyPage]
    """Of the items."""
    known: dict[str, list[StudyPage]]
    """Questions with known answers by role: gold, attention and practice, as far as there are some."""
    settings: dict[str, Any]
    """Everything else, as a study keeps it: see `_design`."""

    @property
    def remarks(self) -> list[str]:
        """What the owner should know of the checks before the start: see `remarks`."""
        checks = {role: len(pages) for role, pages in self.known.items()}
        return remarks(self.settings, checks, min(len(self.pages), self.most_per_person or len(self.pages)))


def read_design(data: bytes, source: str = "study") -> StudyDesign:
    """The study in a file's bytes. Raises `StudyFileError`, which lists everything that is wrong with it."""
    problems = Problems()
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise StudyFileError(source, ["not UTF-8; save the file as UTF-8"]) from None
    except (ValueError, RecursionError) as error:
        raise StudyFileError(source, [f"not JSON ({error})"]) from None
    with contextlib.suppress(EnoughProblems):
        design = _design(Fields(value, "", problems))
    if problems.count:
        raise StudyFileError(source, problems.all())
    return design


class StudyFileError(DataError):
    """Everything that is wrong with a study's file."""

    def __init__(self, source: str, problems: list[str]) -> None:
        self.problems = problems
        several = f"{len(problems)} problems: " if len(problems) > 1 else ""
        super().__init__(f"{source}: {several}" + "; ".join(problems))


def _design(fields: Fields) -> StudyDesign:
    kind = KINDS[fields.one_of("study", list(KINDS))]
    settings: dict[str, Any] = {"asked": _question_settings(fields, kind)}
    kind = kind.asking(settings["asked"])
    completion = Fields(fields.take("completion") or {}, "completion", fields.problems)
    groups = enumerate(fields.entries("items", lambda item, _: kind.contents(item)))
    pages = [StudyPage(group, content) for group, contents in groups for content in contents]
    if len(pages) > MOST_PAGES:
        fields.wrong("items", f"{len(pages):,} pages, of which there may be {MOST_PAGES:,}; make several studies")
    settings |= {**_crowd(fields, completion), "size": len(pages)}
    is_paid = bool(settings["platform"])
    most_per_person = fields.whole("most_per_person", 0, 1, 100_000) or None
    items = min(len(pages), most_per_person or len(pages))
    every, known = {}, {}
    for role in ROLES:
        if fields.has(role):
            with fields.inside(role) as section:
                known[role] = section.entries("items", lambda item, number: StudyPage(number, *kind.check(item)))
                every[role] = section.whole("every", 0, 1, 10_000)
        fields.take(role)
    # The share of the checks that somebody gets right who answers at random.
    chances = [kind.luck(page.content, page.answer) for pages in known.values() for page in pages]
    luck = round(mean(chances), 3) if chances else 0.5
    usual = usual_every(items, [len(checks) for checks in known.values()], CheckRule(luck=luck).needed)
    # Items for one check of each role.
    settings["checks"] = {role: length or usual for role, length in every.items()}
    number = needed(settings["checks"], items)
    title = fields.text("title", kind.title, most=120)
    settings |= {
        "instructions": fields.text("instructions", kind.instructions, most=5000),
        "consent": fields.text("consent", "", most=20_000),
    }
    judgments = fields.whole("judgments", kind.judgments, 1, 1000)
    minutes = fields.whole("minutes", 15, 1, 1440)
    settings["workers_only"] = fields.optional("workers_only", flag, default=False)
    settings["completion_code"] = completion.text("code", "", most=60)
    settings["completion_url"] = completion.optional("url", link, "")
    images: dict[str, str] = fields.optional("images", mapping, {}, accepted="{image_id: address}")
    for image_id, address in images.items():
        fields.check(f"images[{image_id[:60]!r}]", _address, address, "")
    # What follows from failing checks of all roles.
    rule = _rule(fields, luck, number if items else None, "exclude" if is_paid else "warn")
    settings["rule"] = asdict(rule)
    settings |= {
        "question": fields.text("question", kind.question, most=500),
        "language": fields.optional("language", read_language, "en"),
        "direction": fields.one_of("direction", DIRECTIONS, ""),  # empty for that of the language
        "texts": fields.optional("texts", read_texts, dict[str, str]()),
        "practice": None,
        "examples": [],
    }
    if fields.has("practice"):
        settings["practice"], known["practice"] = _practice(fields, kind)
    # Answers that were too fast, and sentences that somebody else has written too.
    settings["speed"] = asdict(_limit(fields, "speed", kind, items + number, PARTIAL if is_paid else "note"))
    settings["repeats"] = asdict(_limit(fields, "repeats", kind, items + number, "note"))
    # Items that each person gets a second time, at the end, to see whether they say the same.
    settings["again"] = fields.whole("again", 0, 0, 1000)
    # What people are shown before they begin.
    if fields.has("examples"):
        settings["examples"] = fields.entries(
            "examples",
            lambda example, _: {
                "text": example.text("text"),
                "good": example.read("good", flag, harmless=True),
                "because": example.text("because", "", most=500),
            },
        )
    for name in ("practice", "examples"):
        fields.take(name)
    completion.end()
    fields.end()
    if kind.shows_image:
        shown_pages = [page for role in (pages, *known.values()) for page in role]
        for image_id in dict.fromkeys(image_id for page in shown_pages for image_id in images_of(page.content)):
            if image_id not in images:
                fields.wrong("images", f"no image {quoted(image_id)}, which an item shows")
    return StudyDesign(kind, title, judgments, most_per_person, minutes, images, pages, known, settings)


def _question_settings(fields: Fields, kind: StudyKind) -> dict[str, Any]:
    """What the file asks and shows besides what its kind does, as the file says it; empty if something is wrong.

    See `StudyKind.asking`.
    """
    is_general = kind.name == "questions"
    names = [name for name in ASKED if fields.has(name) or (is_general and name == "questions")]
    names = [name for name in names if is_general or name != "questions"]
    before = fields.problems.count
    for name in names:
        read_questions(fields, name)
    settings = {name: fields.take(name) for name in names} if fields.problems.count == before else {}
    if is_general:
        items = fields.take("items")
        has_pairs = isinstance(items, list) and all(isinstance(item, dict) and "b" in item for item in items)
        settings |= {"shows_image": fields.has("images"), "has_pairs": has_pairs}
    return settings


def _rule(fields: Fields, luck: float, number: int | None, policy: str) -> CheckRule:
    """The rule of all checks, of which a person gets this number; None where there are no items either.

    A policy that the file names must be able to act; ours is as strict as can be.
    """
    with fields.inside("checks", optional=True) as section:
        rule = CheckRule(
            policy=section.one_of("policy", POLICIES, policy),
            honest=section.number("honest", 0.9, 0.5, 0.99),
            mistaken=section.number("mistaken", 0.02, 0.0001, 0.2),
            luck=luck,
        )
        problem = rule.problem(number) if rule.policy != "note" and number is not None else ""
        if problem and section.has("policy"):
            section.wrong("policy", f"{problem}: add checks, set every to less, or the policy to 'note'")
    return replace(rule, policy="note") if problem else rule


def _practice(fields: Fields, kind: StudyKind) -> tuple[dict[str, float | None], list[StudyPage]]:
    """The share that must be right to go on (None if everybody goes on), and the questions."""

    def page(item: Fields, number: int) -> StudyPage:
        because = item.text("because", "")
        return StudyPage(number, *kind.check(item), because)

    with fields.inside("practice") as practice:
        pages = practice.entries("items", page)
        least = practice.number("least", -1, 0, 1)
    return {"least": None if least < 0 else least}, pages


def _limit(fields: Fields, name: str, kind: StudyKind, answers: int, policy: str) -> Limit:
    """The limit of a fault; `answers` are those that a person gives who does all."""
    policies = (*POLICIES[:2], PARTIAL, POLICIES[2]) if name == "speed" else POLICIES
    with fields.inside(name, optional=True) as limit:
        read = Limit(
            policy=limit.one_of("policy", policies, policy),
            share=limit.number("share", 0.3, 0, 1),
            after=limit.whole("after", min(5, max(3, answers // 2)), 1, 1000),
            least=limit.number("least", kind.seconds, 0, 3600) if name == "speed" else 0.0,
        )
        least = read.after * (2 if read.policy == PARTIAL else 1)
        if (limit.has("policy") or limit.has("after")) and read.policy != "note" and 0 < answers < least:
            limit.wrong("after", f"{read.policy!r} acts after {least} answers, but a person gives {answers}")
    return read


def read_language(value: object) -> str:
    """A language tag; the check of a field."""
    if not _LANGUAGE.fullmatch(text(value, most=35)):
        raise Invalid.of(value, "a language as BCP 47 writes it, such as en, de or pt-BR")
    return str(value)


def read_texts(value: object) -> dict[str, str]:
    """The owner's words; the check of a field."""
    texts = mapping(value, "{our text: your text} with at most 100 texts", most=100)
    return {text(ours, most=500): text(theirs, most=500).strip() for ours, theirs in texts.items()}


def _address(value: object) -> str:
    address = value if isinstance(value, str) else ""
    if len(address) > MOST_IMAGE_BYTES * 4 // 3:
        raise Invalid(f"must have at most {MOST_IMAGE_BYTES // 2**20} MiB, got {len(address) * 3 / 2**22:.1f}")
    if not _DATA_IMAGE.fullmatch(address) and not _WEB_IMAGE.fullmatch(address):
        raise Invalid.of(value, "https://… or data:image/png|jpeg|gif|webp;base64,…")
    return address


PLATFORMS = ("prolific", "mturk")
ENDINGS = ("screened_out", "no_consent", "partial")
"""Ways to leave besides completion, each with a code and an address of its own."""


def _crowd(fields: Fields, completion: Fields) -> dict[str, Any]:
    """The settings of a crowd platform; `completion` is the field of that name, of which this reads the endings."""
    platform = fields.one_of("platform", PLATFORMS, "")
    signed = fields.optional("signed_links", flag, default=False)
    if signed and platform != "prolific":
        fields.wrong("signed_links", "only Prolific signs its links; set platform to 'prolific', or use personal_links")
    endings = {}
    for name in ENDINGS:
        with completion.inside(name, optional=True) as ending:
            endings[name] = {"code": ending.text("code", "", most=60), "url": ending.optional("url", link, "")}
    return {
        "platform": platform,
        "signed_links": signed,
        "personal_links": fields.optional("personal_links", flag, default=False),
        "contact": fields.text("contact", "", most=300),
        "endings": endings,
    }
