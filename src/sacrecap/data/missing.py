"""Missing captions, by one rule for every shape, format and engine.

- Where a format has a null, only null is missing (NaN and pandas' NA, too, in Python). A text table has none: there, an
  empty cell is missing, and a word that programs write for one.
- A missing caption is an empty one, also in a list. Only of several columns does each row fill as many as it has.
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


def is_missing(value: Any, *, words: bool = False) -> bool:
    """Whether a value stands for no caption: it is None, NaN or pandas' NA; in a text table, also one of `WORDS`."""
    is_nan = isinstance(value, Real) and value != value  # noqa: PLR0124
    is_word = words and isinstance(value, str) and value.strip().lower() in WORDS
    return value is None or is_nan or is_word or type(value).__name__ == "NAType"


def with_empty(captions: Captions) -> Captions:
    """The captions of a text table, in which a word such as `nan` is a missing one."""
    if not captions.that_are(WORDS[1:]):
        return captions
    filled = {
        image: ["" if is_missing(text, words=True) else text for text in texts]
        for image, texts in captions.to_dict().items()
    }
    return Captions.from_dict(filled)


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
