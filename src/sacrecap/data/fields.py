"""Checks of JSON values, and the messages about invalid ones: one module for all readers.

A check returns its value, or raises `Invalid`. The text of `Invalid` follows the name of a field: `rating` + `must be a
number from 1 to 5, got 6`. The reader adds file, line, image or place in the document. (pydantic would take 200 ms of
start-up, and says this in six lines.)
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sacrecap.errors import DataError, cut_off

T = TypeVar("T")

_LONGEST_SHOWN = 60


class Invalid(ValueError):  # noqa: N818
    """A value that is not accepted. The text is a sentence without its subject: `must be …, got …`."""

    def __init__(self, problem: str, place: str = "") -> None:
        super().__init__(problem)
        self.place = place
        """Position inside the value, such as `[2]`; empty for the value itself."""

    @classmethod
    def of(cls, value: object, accepted: str) -> Invalid:
        """Says what is accepted, and what was given."""
        return cls(f"must be {accepted}, got {quoted(value)}")

    def about(self, subject: str) -> str:
        """The whole sentence."""
        return f"{subject}{self.place} {self}"


def quoted(value: object) -> str:
    """The value, short enough for a message."""
    if value is None:
        return "nothing"
    return cut_off(repr(value))


def json_type(value: object) -> str:
    """The JSON type of a value, for messages about documents and rows that are too long to show."""
    match value:
        case None:
            return "missing or null"
        case bool():
            return "true or false"
        case int() | float():
            return f"the number {value!r}"
        case str():
            return "a string"
        case dict():
            return "an object"
        case _:
            return "a list"


def text(value: object, accepted: str = "text", *, most: int | None = None) -> str:
    """A string that is not blank, of at most `most` characters.

    Half a surrogate pair can be escaped in JSON, but not written to a file; a zero character ends a text for many
    programs.
    """
    if not isinstance(value, str) or not value.strip():
        raise Invalid.of(value, accepted)
    if most is not None and len(value) > most:
        raise Invalid(f"must be {accepted} of at most {most:,} characters, got {len(value):,}")
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Invalid(f"must be {accepted}, got half a surrogate pair in {value[:_LONGEST_SHOWN]!a}; correct the text")
    if "\0" in value:
        raise Invalid(f"must be {accepted}, got a zero character in {value[:_LONGEST_SHOWN]!a}; remove it")
    return value


def listed(value: object, *, least: int = 1, each: str = "") -> list[Any]:
    """A list of at least `least` values of any kind; `each` tells the message what they should be."""
    if not isinstance(value, list) or len(value) < least:
        raise Invalid.of(value, f"a list of at least {least}{each and f', each {each}'}")
    return value


def texts(value: object, accepted: str = "text") -> list[str]:
    """A list of at least one text."""
    for number, item in enumerate(listed(value, each=accepted)):
        try:
            text(item, accepted)
        except Invalid as problem:
            raise Invalid(str(problem), f"[{number}]") from None
    return value  # type: ignore[return-value]


def name(value: object, *, most: int | None = None) -> str:
    """An image id or the like: text or a whole number, as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value, "text or a whole number", most=most)


def number(value: object, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number within the bounds."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not least <= value <= most:  # type: ignore[operator]
        raise Invalid.of(value, f"a {'finite ' if math.isinf(least) else ''}number{_within(least, most)}")
    return float(value)  # type: ignore[arg-type]


def whole(value: object, least: float = -math.inf, most: float = math.inf) -> int:
    """A whole number within the bounds; 2.0 counts as 2."""
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if not is_whole or isinstance(value, bool) or not least <= value <= most:  # type: ignore[operator]
        raise Invalid.of(value, f"a whole number{_within(least, most)}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def one_of(value: object, accepted: Sequence[str]) -> str:
    """One of the names."""
    if not isinstance(value, str) or value not in accepted:
        raise Invalid.of(value, f"one of {', '.join(accepted)}")
    return value


def checked(subject: str, check: Callable[..., T], value: Any, *bounds: Any, **options: Any) -> T:
    """Returns the checked value. Raises `DataError`: `subject` and the problem."""
    try:
        return check(value, *bounds, **options)
    except Invalid as problem:
        raise DataError(problem.about(subject)) from None


def _within(least: float, most: float) -> str:
    if math.isinf(most):
        return "" if math.isinf(least) else f" of at least {least:,g}"
    return f" from {least:,g} to {most:,g}"


def toml_document(text: str) -> dict[str, Any]:
    """The document of a text in TOML. Raises `ValueError` for other text."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    document: dict[str, Any] = tomllib.loads(text)
    return document
