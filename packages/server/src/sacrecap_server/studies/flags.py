"""What the owner of a study should look at in its people. Nothing follows from it: each may be harmless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sacrecap_server.store.models import Annotator

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
            f"pasted into {one.pasted} of {one.pages} answers": one.pasted > _PASTED * one.pages,
            f"in another window during {one.away} of {one.pages}": one.away > _AWAY * one.pages,
            "answers at an even pace": spread is not None and spread < EVEN,
            f"{together} people at one address": together >= _TOGETHER,
        }
        found[one.id] = [remark for remark, holds in remarks.items() if holds]
    return found
