"""The people of a study, as its owner looks at them: what is odd, whom to approve and to pay.

Nothing follows from a remark: each may be harmless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from sacrecap_server.store.schema import Annotator
from sacrecap_server.studies.endings import state_of
from sacrecap_studies.messages import Message

EVEN = 0.1
"""Times that differ less than this from each other, by their mean, are rarely a person's."""
_AWAY = 0.5
_PASTED = 0.1
_TOGETHER = 3
"""People at one address from which this is said: a household has two."""


def flags_of(people: Iterable[Annotator], spreads: dict[int, float | None]) -> dict[int, list[str]]:
    """Remarks by person; none for most.

    Args:
        people: all of a study.
        spreads: of each person's times, as `sacrecap_studies.quality` has them.
    """
    there = list(people)
    places = Counter(person.place for person in there if person.place)
    sharing: dict[int, list[str]] = {}
    for person in there:
        spread, together = spreads.get(person.id), places[person.place or ""]
        remarks = {
            Message("pasted into %(number)s of %(all)s answers", number=person.pasted, all=person.pages): person.pasted
            > _PASTED * person.pages,
            Message("in another window during %(number)s of %(all)s", number=person.away, all=person.pages): person.away
            > _AWAY * person.pages,
            Message("answers at an even pace"): spread is not None and spread < EVEN,
            Message("%(number)s people at one address", number=together): together >= _TOGETHER,
        }
        sharing[person.id] = [remark for remark, holds in remarks.items() if holds]
    return sharing


PARTS = ("partial", "stopped", "too-fast")
"""How people ended who did a part of the work,"""
DONE = ("complete", *PARTS)
"""or all of it."""
Rows = list[tuple[str, ...]]


def approvals(people: Iterable[Annotator], platform: str) -> Rows:
    """Rows of a file; those who are excluded are in Mechanical Turk's with the reason, and in no other.

    Prolific takes a list of ids, and pays each the whole reward: it has those who are complete.
    """
    named = [person for person in people if person.worker]
    if platform != "mturk":
        return [(str(person.worker),) for person in named if state_of(person) == "complete"]
    rows: Rows = [("HITId", "AssignmentId", "WorkerId", "Approve", "Reject")]
    for person in named:
        is_done = state_of(person) in DONE
        reason = "" if person.excluded is None else f"Excluded: {person.excluded}."
        if is_done or reason:
            rows.append(
                (person.platform_study, person.platform_session, str(person.worker), "x" if is_done else "", reason)
            )
    return rows


def bonuses(people: Iterable[Annotator], platform: str, per_answer: Decimal) -> Rows:
    """Pay by answer, for those who did a part; on Mechanical Turk, which pays all approved work alike, for all."""
    is_turk = platform == "mturk"
    rows: Rows = [("WorkerId", "AssignmentId", "BonusAmount", "Reason")] if is_turk else []
    for person in people:
        if person.worker and person.items and state_of(person) in (DONE if is_turk else PARTS):
            amount = str((per_answer * person.items).quantize(Decimal("0.01"), ROUND_HALF_UP))
            more = (person.platform_session, amount, f"{person.items} answers") if is_turk else (amount,)
            rows.append((person.worker, *more))
    return rows
