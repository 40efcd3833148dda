"""Reading an object of JSON field by field, where all problems are listed, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

LONGEST = 2000
"""Characters of a caption."""
LONGEST_NAME = 200
"""Characters of an image id."""
MOST_PROBLEMS = 50
"""Problems that are told; the others are only counted."""


class Problems:
    """What is wrong with a file."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.count = 0

    def add(self, place: str, problem: str) -> None:
        self.count += 1
        if len(self.told) < MOST_PROBLEMS:
            self.told.append(f"{place}: {problem}" if place else problem)

    def all(self) -> list[str]:
        """The problems told, and how many more there are."""
        more = self.count - len(self.told)
        return [*self.told, f"and {more:,} more"] if more else self.told


class Fields:
    """One object. A field that is missing or wrong adds a problem and reads as something harmless."""

    def __init__(self, value: Any, place: str, problems: Problems) -> None:
        self.place = place
        self.problems = problems
        self._left: dict[str, Any] = value if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            problems.add(place, f"expected an object, got {shown(value)}")
        self._is_object = isinstance(value, dict)
        self._known: list[str] = []

    def has(self, name: str) -> bool:
        return self._left.get(name) is not None

    def take(self, name: str) -> Any:
        """The value as it is; None where it is missing."""
        self._known.append(name)
        return self._left.get(name)

    def wrong(self, name: str, problem: str) -> None:
        if self._is_object:
            self.problems.add(f"{self.place}.{name}" if self.place else name, problem)

    def text(self, name: str, default: str | None = None, *, most: int = LONGEST) -> str:
        """A text that is not blank; a missing one is a problem unless there is a default."""
        value = self.take(name)
        if value is None and default is not None:
            return default
        if problem := text_problem(value, most):
            self.wrong(name, problem)
            return default or "-"
        return str(value).strip()

    def name(self, name: str) -> str:
        """An image id or the like: text or a whole number, as text."""
        value = self.take(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if problem := text_problem(value, LONGEST_NAME):
            self.wrong(name, problem)
            return "-"
        return str(value)

    def texts(self, name: str, *, least: int = 1, optional: bool = False) -> list[str]:
        """A list of at least so many texts."""
        value = self.take(name)
        if value is None and optional:
            return []
        if not isinstance(value, list) or len(value) < least:
            self.wrong(name, f"expected a list of at least {least}, got {shown(value)}")
            return ["-"] * least
        for number, one in enumerate(value):
            if problem := text_problem(one, LONGEST):
                self.wrong(f"{name}[{number}]", problem)
        return [str(one).strip() for one in value]

    def number(self, name: str, default: float, least: float, most: float) -> float:
        value = self.take(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            self.wrong(name, f"expected a number from {least:g} to {most:g}, got {shown(value)}")
            return default
        return float(value)

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        value = self.take(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.wrong(name, f"expected a whole number from {least:,} to {most:,}, got {shown(value)}")
            return default
        return value

    def one_of(self, name: str, accepted: Sequence[str], default: str | None = None) -> str:
        value = self.take(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or value not in accepted:
            self.wrong(name, f"expected one of {', '.join(accepted)}, got {shown(value)}")
            return accepted[0]
        return value

    def each(self, name: str, read: Callable[[Fields, int], T], *, least: int = 1) -> list[T]:
        """Reads every object of a list."""
        value = self.take(name)
        if not isinstance(value, list) or len(value) < least:
            self.wrong(name, f"expected a list of at least {least}, got {shown(value)}")
            return []
        place = f"{self.place}.{name}" if self.place else name
        found = []
        for number, one in enumerate(value):
            fields = Fields(one, f"{place}[{number}]", self.problems)
            found.append(read(fields, number))
            fields.end()
        return found

    def end(self) -> None:
        """Says which fields are not known."""
        for name in self._left:
            if name not in self._known:
                self.wrong(str(name)[:60], f"no such field; there are {', '.join(self._known)}")


def text_problem(value: Any, most: int) -> str | None:
    """Why the value is no text to show."""
    if not isinstance(value, str) or not value.strip():
        return f"expected a text, got {shown(value)}"
    if len(value) > most:
        return f"{len(value):,} characters, of which there may be {most:,}"
    if any("\ud800" <= letter <= "\udfff" or letter == "\0" for letter in value):
        return f"a lone surrogate or zero character, which is no text: {value[:60]!a}"
    return None


def shown(value: Any) -> str:
    """The value, short enough for a message."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
