"""What a judge is asked: texts with places for captions and references, ours by version, or a user's own file."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from sacrecap.data.source import reading
from sacrecap.errors import UsageError

Asked: TypeAlias = Literal["rating", "image", "pairwise", "pairwise-image", "rubric", "rubric-rest"]
ASKED: tuple[Asked, ...] = get_args(Asked)
"""What a judge can be asked."""
_PLACES: dict[Asked, tuple[str, ...]] = {
    "rating": ("caption", "references"),
    "image": ("caption",),
    "pairwise": ("first", "second", "references"),
    "pairwise-image": ("first", "second"),
    "rubric": ("caption", "items"),
    "rubric-rest": ("caption", "items"),
}
"""The places of each prompt."""
_VERSION = 1


class Prompt(NamedTuple):
    """A text with places, such as `{caption}`."""

    text: str
    name: str
    """Its name in signatures: `rating-1`, or the file's name; then a checksum of the text."""

    def filled(self, **values: str | Sequence[str]) -> str:
        """The text that the model reads: each place is filled with JSON, which no caption can end.

        A caption that holds the name of a place stays as it is.
        """
        return re.sub(
            rf"\{{({'|'.join(values)})\}}", lambda place: json.dumps(values[place[1]], ensure_ascii=False), self.text
        )


def prompt(question: Asked, file: str) -> Prompt:
    """The prompt in that file; `default` is ours.

    Raises `UsageError` for a text without a place that it needs, `DataError` for a file that cannot be read.
    """
    if file == "default":
        name = f"{question.removesuffix('-rest')}-{_VERSION}"
        text = files("sacrecap.resources").joinpath(f"judge/{name}.txt").read_text("utf-8")
    else:
        with reading(file):
            text = Path(file).read_text("utf-8")
        name = Path(file).name
        lacking = [place for place in _PLACES[question] if f"{{{place}}}" not in text]
        if lacking:
            raise UsageError(
                f"{file}: a prompt for judge({question}) has a place for each of "
                f"{', '.join(f'{{{place}}}' for place in _PLACES[question])}; it lacks {{{lacking[0]}}} "
                f"(sacrecap metrics judge --prompt {question} prints ours)"
            )
    return Prompt(text, f"{name}@{zlib.crc32(text.encode()):08x}")
