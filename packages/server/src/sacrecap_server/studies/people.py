"""The people of a study, as its owner looks at them: what is odd, whom to approve and to pay.

Nothing follows from a remark: each may be harmless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from sacrecap_server.store.models import Annotator
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
    places = Counter(one.place for one in there if one.place)
    found: dict[int, list[str]] = {}
    for one in there:
        spread, together = spreads.get(one.id), places[one.place or ""]
        remarks = {
            Message("pasted into %(number)s of %(all)s answers", number=one.pasted, all=one.pages): one.pasted
            > _PASTED * one.pages,
            Message("in another window during %(number)s of %(all)s", number=one.away, all=one.pages): one.away
            > _AWAY * one.pages,
            Message("answers at an even pace"): spread is not None and spread < EVEN,
            Message("%(number)s people at one address", number=together): together >= _TOGETHER,
        }
        found[one.id] = [remark for remark, holds in remarks.items() if holds]
    return found


PARTS = ("partial", "stopped", "too-fast")
"""How people ended who did a part of the work,"""
DONE = ("complete", *PARTS)
"""or all of it."""
Rows = list[tuple[str, ...]]


def approvals(people: Iterable[Annotator], platform: str) -> Rows:
    """Rows of a file; those who are excluded are in Mechanical Turk's with the reason, and in no other.

    Prolific takes a list of ids, and pays each the whole reward: it has those who are complete.
    """
    named = [one for one in people if one.worker]
    if platform != "mturk":
        return [(str(one.worker),) for one in named if state_of(one) == "complete"]
    rows: Rows = [("HITId", "AssignmentId", "WorkerId", "Approve", "Reject")]
    for one in named:
        is_done = state_of(one) in DONE
        reason = "" if one.excluded is None else f"Excluded: {one.excluded}."
        if is_done or reason:
            rows.append((one.platform_study, one.platform_session, str(one.worker), "x" if is_done else "", reason))
    return rows


def bonuses(people: Iterable[Annotator], platform: str, per_answer: Decimal) -> Rows:
    """Pay by answer, for those who did a part; on Mechanical Turk, which pays all approved work alike, for all."""
    is_turk = platform == "mturk"
    rows: Rows = [("WorkerId", "AssignmentId", "BonusAmount", "Reason")] if is_turk else []
    for one in people:
        if one.worker and one.items and state_of(one) in (DONE if is_turk else PARTS):
            amount = str((per_answer * one.items).quantize(Decimal("0.01"), ROUND_HALF_UP))
            more = (one.platform_session, amount, f"{one.items} answers") if is_turk else (amount,)
            rows.append((one.worker, *more))
    return rows
