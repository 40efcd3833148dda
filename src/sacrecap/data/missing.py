"""Missing captions, by one rule for every shape, format and engine.

- Where a format has a null, only null is missing (NaN and pandas' NA, too, in Python). A text table has none: there, an
  empty cell is missing, and a word that programs write for one.
- A missing caption is an empty one.
- An empty candidate counts as what it is. An empty reference says nothing of the image, and is left out with a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

from sacrecap._core import Captions
from sacrecap.errors import DataWarning, warn

WORDS = ("", "nan", "none", "null", "<na>")
"""Texts of a text table that stand for no caption, in small letters and without blanks around."""
EMPTY = ("",)
"""Those of any other format."""
_SHOWN = 5


def is_missing(value: Any) -> bool:
    """Whether a value stands for no caption: it is None, NaN or pandas' NA."""
    is_nan = isinstance(value, Real) and value != value  # noqa: PLR0124
    return value is None or is_nan or type(value).__name__ == "NAType"


def filled(cells: Sequence[Any], *, words: bool = False, sets: bool = False) -> list[Any]:
    """The cells, each a caption or a list of them, with empty captions for those that are missing.

    Args:
        cells: of one column.
        words: whether they are of a text table.
        sets: whether a list holds a system's captions: then it only has fewer where some are missing.
    """

    def is_none(value: Any) -> bool:
        return is_missing(value) or (words and isinstance(value, str) and value.strip().lower() in WORDS)

    def of(cell: Any) -> Any:
        if not isinstance(cell, list):
            return "" if is_none(cell) else cell
        present = [one for one in cell if not is_none(one)]
        if sets:
            return present if present or not cell else ""
        return present + [""] * (len(cell) - len(present))

    return [of(cell) for cell in cells]


def with_empty(captions: Captions) -> Captions:
    """The captions of a text table, in which a word such as `nan` is a missing one."""
    if not captions.that_are(WORDS[1:]):
        return captions
    return Captions.from_dict({image: filled(texts, words=True) for image, texts in captions.to_dict().items()})


def without_empty(captions: Captions, name: str) -> Captions:
    """References without empty ones, of which it warns; an image may have none left."""
    empty = captions.that_are(EMPTY)
    if not empty:
        return captions
    told(name, "image", empty)
    kept = {image: [text for text in texts if text.strip()] for image, texts in captions.to_dict().items()}
    found = Captions.from_dict(kept)
    return found if captions.source is None else found.named(captions.source)


def told(name: str, kind: str, places: Sequence[object]) -> None:
    """Warns of references that are empty, and left out.

    Args:
        name: of the file, or what the captions are.
        kind: `row` or `image`.
        places: which of those.
    """
    many = f"{len(places):,} references are" if len(places) > 1 else "1 reference is"
    several = f"{kind}s" if len(places) > 1 else kind
    shown = f"{several} {', '.join(map(str, places[:_SHOWN]))}" + (", …" if len(places) > _SHOWN else "")
    warn(f"{name}: {many} empty or missing ({shown}); left out", DataWarning)
