"""The JSON of studies in the API."""

from __future__ import annotations

import datetime as dt
from typing import Any

from pydantic import BaseModel, Field

from sacrecap_studies.quality import Quality


class ProgressBody(BaseModel):
    """The progress of a study."""

    answers: int = Field(description="Answers to items that count.")
    wanted: int = Field(description="Answers that the study asks for.")
    at_work: int = Field(description="Questions given out and not answered yet.")
    people: int
    excluded: int = Field(description="People whose answers do not count.")
    discarded: int = Field(description="Answers to items that do not count.")


class StudyBody(BaseModel):
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
    progress: ProgressBody


class StudyEntry(BaseModel):
    """A study in a list."""

    id: int
    title: str
    kind: str
    state: str
    created: dt.datetime
    answers: int
    wanted: int
    people: int


class StudyList(BaseModel):
    """The studies that the caller may see, the newest first; 200 at most."""

    studies: list[StudyEntry]


class StateBody(BaseModel):
    """What a study should be."""

    state: str = Field(description="open, paused or closed")


class CloneBody(BaseModel):
    """The title of the new study."""

    title: str = Field(default="", max_length=120, description="The old title with “(again)”, where it is empty.")


class ChangeBody(BaseModel):
    """What to change; what is left out, or null, stays."""

    title: str | None = Field(default=None, max_length=120)
    judgments: int | None = None
    most_per_person: int | None = Field(default=None, description="0: no limit.")
    minutes: int | None = None
    instructions: str | None = None
    question: str | None = None
    consent: str | None = None
    completion_code: str | None = None
    completion_url: str | None = None


class AnswerBody(BaseModel):
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


class AnswerList(BaseModel):
    """Answers, the newest first."""

    answers: list[AnswerBody]
    count: int = Field(description="Of all pages.")
    page: int
    pages: int


class ResultsBody(BaseModel):
    """Statistics of the answers."""

    current: bool = Field(description="False where newer answers are being counted: ask again in a minute.")
    computed: dt.datetime | None
    results: Quality | None = Field(description="Null where they were never computed.")


class Deleted(BaseModel):
    """What was deleted."""

    deleted: int
    answers: int
