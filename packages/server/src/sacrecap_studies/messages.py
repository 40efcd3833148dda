"""English texts that pages can say in other languages."""

from __future__ import annotations


class Message(str):
    """A text whose places, as in `%(least)d words`, are filled in; it keeps what translations are made of."""

    pattern: str
    values: dict[str, object]

    def __new__(cls, pattern: str, /, **values: object) -> Message:
        text = super().__new__(cls, pattern % values if values else pattern)
        text.pattern, text.values = pattern, values
        return text
