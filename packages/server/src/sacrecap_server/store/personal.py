"""Which columns hold something about a person, in plain words: the page /privacy is made from this.

A test knows all other columns, so that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sacrecap_server.store.schema import Base

PERSONAL = {
    "signed_in.token_hash": "hash of the cookie",
    "signed_in.created": "when the person signed in",
    "signed_in.expires": "when the sign-in ends",
    "annotator.cookie_hash": "hash of the browser's cookie",
    "annotator.worker": "what the crowd platform calls the person",
    "annotator.platform_study": "the platform's number of its study",
    "annotator.platform_session": "the platform's number of the session",
    "annotator.platform_return": "the platform's address for the end of the work",
    "annotator.completion": "the code that shows that the person was there",
    "annotator.started": "when the person began",
    "annotator.items": "how many questions the person answered",
    "annotator.warned": "whether the person was warned",
    "annotator.excluded": "why the answers do not count",
    "annotator.ended": "how the person's part ended",
    "annotator.ended_at": "when it ended",
    "annotator.pages": "how many pages the person answered",
    "annotator.checks": "how many checks the person was given",
    "annotator.fast": "how many answers were too fast",
    "annotator.repeats": "how many answers repeat somebody's words",
    "annotator.cautions": "what the person was asked to mind",
    "annotator.pasted": "into how many answers something was pasted",
    "annotator.away": "during how many another window was in front",
    "annotator.place": "a hash of the internet address, to find those who began at the same one",
    "annotator.feedback": "how the last practice question was answered",
    "assignment.annotator_id": "person",
    "assignment.given": "when the question was shown",
    "assignment.answered": "when it was answered",
    "assignment.active_ms": "how long the page was in sight",
    "assignment.answer": "the answer",
    "assignment.correct": "whether it was right, on checks",
    "assignment.shown_order": "in which order the options stood",
    "assignment.too_fast": "whether it came sooner than the page can be read",
    "assignment.repeated": "whether somebody else had written the same",
    "assignment.fingerprint": "a hash of the sentence, to find repeated ones",
    "assignment.reason": "why the study's owner rejected it",
    "study_findings.body": "statistics of the answers, for each person too",
}
"""By `table.column`."""

KINDS = {
    "signed_in": ("Sign-ins of the owner", "Until they sign out, at most 14 days."),
    "annotator": (
        "People who answer studies",
        "Until the study's owner deletes the person or the study; ask whoever invited you.",
    ),
    "assignment": ("Answers to studies", "As long as the person who gave them."),
    "study_findings": (
        "Statistics of a study's answers",
        "Until they are computed again after a change, or the study is deleted.",
    ),
}
"""Tables with something about people: what people call their rows, and how long those are kept."""


@dataclass(frozen=True)
class Stored:
    """What one table holds about people."""

    title: str
    columns: list[str]
    """In words."""
    until: str


def stored() -> Iterator[Stored]:
    """Everything about people that the tables of this server hold, in the order of `KINDS`."""
    for name, (title, until) in KINDS.items():
        columns = [f"{name}.{column.name}" for column in Base.metadata.tables[name].c]
        yield Stored(title, [PERSONAL[column] for column in columns if column in PERSONAL], until)
