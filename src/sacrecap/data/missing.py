"""Missing captions: empty cells of a table, and the words that pandas and Python write for a missing value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from capeval._core import Captions
from capeval.errors import DataWarning, warn

_WORDS = {"", "nan", "none", "null", "<na>"}
_LONGEST = 8
"""Most characters of such a word with blanks around it."""
_SHOWN = 5


def is_missing(value: Any) -> bool:
    """Whether a cell holds no caption: it is empty, NaN, blank, or a word for a missing value."""
    if isinstance(value, str):
        return len(value) <= _LONGEST and value.strip().lower() in _WORDS
    return value is None or value != value  # noqa: PLR0124 - NaN


def without_missing(captions: Captions, name: str, *, keep: bool) -> Captions:
    """The captions of a text table, in which a word such as `nan` means a missing value; see `told`."""
    given = captions.to_dict()
    if min(map(len, chain.from_iterable(given.values())), default=0) > _LONGEST:
        return captions
    missing = [image for image, texts in given.items() for text in texts if is_missing(text)]
    if not missing:
        return captions
    told(name, [f"image {image}" for image in missing], keep=keep)
    cleaned = {
        image: [("" if is_missing(text) else text) for text in texts if keep or not is_missing(text)]
        for image, texts in given.items()
    }
    return Captions.from_dict(cleaned)


def told(name: str, places: Sequence[str], *, keep: bool) -> None:
    """Warns of captions that are missing in a file.

    Args:
        name: of the file.
        places: where they are: rows or images.
        keep: whether they count as empty captions (those of a system), or are left out (references).
    """
    many = f"{len(places):,} captions are" if len(places) > 1 else "1 caption is"
    shown = ", ".join(places[:_SHOWN]) + (", …" if len(places) > _SHOWN else "")
    what = "counted as empty" if keep else "left out"
    warn(f"{name}: {many} empty, NaN or None ({shown}); {what}", DataWarning)
