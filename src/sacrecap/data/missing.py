"""Missing captions: empty cells of a table, and the words that pandas and Python write for a missing value."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

from sacrecap._core import Captions
from sacrecap.errors import DataWarning, warn

WORDS = ("", "nan", "none", "null", "<na>")
"""Texts of a table that stand for no caption, in small letters and without blanks around."""
LONGEST = 8
"""Most characters of such a word with blanks around it."""
_SHOWN = 5


def is_missing(value: Any) -> bool:
    """Whether a cell holds no caption: it is empty, NaN, blank, or a word for a missing value."""
    if isinstance(value, str):
        return len(value) <= LONGEST and value.strip().lower() in WORDS
    is_nan = isinstance(value, Real) and value != value  # noqa: PLR0124
    return value is None or is_nan or type(value).__name__ == "NAType"  # the last is pandas'


def without_missing(captions: Captions, name: str, *, keep: bool) -> Captions:
    """The captions of a text table, in which a word such as `nan` means a missing value; see `told`."""
    if captions.shortest() > LONGEST:
        return captions
    given = captions.to_dict()
    missing = [image for image, texts in given.items() for text in texts if is_missing(text)]
    if not missing:
        return captions
    told(name, "image", missing, keep=keep)
    cleaned = {
        image: [("" if is_missing(text) else text) for text in texts if keep or not is_missing(text)]
        for image, texts in given.items()
    }
    return Captions.from_dict(cleaned)


def fill(cells: list[Any], *, keep: bool) -> list[int]:
    """Makes missing captions empty ones if they count, and leaves them out if they do not; the places of such cells.

    A cell has a caption, or a list of them.
    """
    places = []
    for place, cell in enumerate(cells):
        given = cell if isinstance(cell, list) else [cell]
        present = [one for one in given if not is_missing(one)]
        if len(present) < len(given):
            places.append(place)
            cells[place] = present if present or not keep else ""
    return places


def told(name: str, kind: str, places: Sequence[object], *, keep: bool) -> None:
    """Warns of captions that are missing in a file.

    Args:
        name: of the file, or what the captions are.
        kind: `row` or `image`.
        places: which of those.
        keep: whether they count as empty captions (those of a system), or are left out (references).
    """
    many = f"{len(places):,} captions are" if len(places) > 1 else "1 caption is"
    several = f"{kind}s" if len(places) > 1 else kind
    shown = f"{several} {', '.join(map(str, places[:_SHOWN]))}" + (", …" if len(places) > _SHOWN else "")
    what = "counted as empty" if keep else "left out"
    warn(f"{name}: {many} empty, NaN or None ({shown}); {what}", DataWarning)
