"""Questions in a study's file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sacrecap.data.fields import Invalid, listed, text
from sacrecap_studies.field_reader import LONGEST_NAME, Fields, flag
from sacrecap_studies.questions import BestWorst, Choice, ImageSentence, Options, PageQuestion, Scale, Text, Words

ASKED = ("questions", "before", "after")
"""Fields with questions: of the items; and of everybody, once before the first item and once after the last."""
MOST_QUESTIONS = 20
MOST_OPTIONS = 20
MOST_POINTS = 21
TYPES = ("choice", "scale", "best-worst", "words", "text", "sentence")
_NAME = re.compile(r"[a-z][a-z_]{0,29}")
_RESERVED = ("csrf", "assignment", "active", "pasted", "away")


def read_questions(fields: Fields, name: str) -> tuple[PageQuestion, ...]:
    """The questions in a field of a study's file."""
    questions = tuple(fields.entries(name, lambda entry, _: _question(entry, is_of_items=name == "questions")))
    if len(questions) > MOST_QUESTIONS or len({question.name for question in questions}) < len(questions):
        fields.wrong(name, f"at most {MOST_QUESTIONS} questions, each with a name of its own")
    return questions


def _question(fields: Fields, *, is_of_items: bool) -> PageQuestion:
    kind = fields.one_of("type", TYPES if is_of_items else ("choice", "scale", "text"))
    common: dict[str, Any] = {
        "name": fields.read("name", _question_name, "a"),
        "text": fields.text("text", "", most=500),
        "optional": fields.optional("optional", flag, default=False),
    }
    if kind == "choice" and (fields.has("options") or not is_of_items):
        harmless: tuple[str, ...] = ("-", "-")
        return Options(**common, labels=fields.read("options", _texts, harmless, most=MOST_OPTIONS))
    if kind == "choice":
        choices = {"tie": fields.text("equal", "", most=200), "unsure": fields.text("unsure", "", most=200)}
        return Choice(**common, extra_choices={name: label for name, label in choices.items() if label})
    if kind == "scale":
        return _scale(fields, common)
    plain: dict[str, Callable[..., PageQuestion]] = {
        kind.type: kind for kind in (BestWorst, Words, Text, ImageSentence)
    }
    return plain[kind](**common)


def _scale(fields: Fields, common: dict[str, Any]) -> Scale:
    none: tuple[str, ...] = ()
    labels = fields.optional("labels", _texts, none, most=MOST_POINTS)
    least = fields.number("least", 1, -1000, 1000)
    step = fields.number("step", 1, 0.001, 1000)
    most = fields.number("most", least + step * max(len(labels) - 1, 1), -1000, 1000)
    count = round((most - least) / step) + 1
    if not 2 <= count <= MOST_POINTS or len(labels) not in (0, 2, count):
        fields.wrong("labels", f"{count} points; a scale has 2 to {MOST_POINTS}, and labels of all or of both ends")
        count = 2
    return Scale(**common, labels=labels, points=tuple(round(least + step * place, 6) for place in range(count)))


def _question_name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or value in _RESERVED:
        raise Invalid.of(value, f"up to 30 small letters and _, and none of {', '.join(_RESERVED)}")
    return value


def _texts(value: object, most: int) -> tuple[str, ...]:
    texts = tuple(text(text_of, most=LONGEST_NAME).strip() for text_of in listed(value, least=2))
    if len(texts) > most or len(set(texts)) < len(texts):
        raise Invalid(f"must be at most {most} different texts")
    return texts
