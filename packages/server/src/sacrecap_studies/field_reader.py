"""Reads a JSON object field by field, and lists all problems, each with its place.

`sacrecap.data.fields` checks the values; this module continues after a problem, so that whoever made the
file sees all of them at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sacrecap.data import fields
from sacrecap.data.fields import Invalid

T = TypeVar("T")

_ADDRESS = re.compile(r"https://[^\s\"'<>\\]+")

LONGEST = 2000
"""Characters of a caption."""
LONGEST_NAME = 200
"""Characters of an image id."""
MOST_PROBLEMS = 50
"""Problems that are listed; the others are only counted."""
_ENOUGH = 1000
"""Problems at which reading ends: a file that is wrong in each of a million places is refused at once."""


class EnoughProblems(Exception):  # noqa: N818
    """There are so many that the rest of the file need not be read."""


class Problems:
    """The problems of a file."""

    def __init__(self) -> None:
        self.listed: list[str] = []
        self.count = 0

    def add(self, problem: str) -> None:
        """Raises `EnoughProblems` with the thousandth."""
        self.count += 1
        if len(self.listed) < MOST_PROBLEMS:
            self.listed.append(problem)
        elif self.count >= _ENOUGH:
            raise EnoughProblems

    def all(self) -> list[str]:
        """The problems listed, and how many more there are."""
        more = self.count - len(self.listed)
        least = "at least " if self.count >= _ENOUGH else ""
        return [*self.listed, f"and {least}{more:,} more"] if more else self.listed


class Fields:
    """One object. A missing or wrong field adds a problem and reads as a harmless value."""

    __slots__ = ("_is_object", "_names_read", "_values", "place", "problems")

    def __init__(self, value: Any, place: str, problems: Problems) -> None:
        self.place = place
        self.problems = problems
        self._is_object = isinstance(value, dict)
        self._values: dict[str, Any] = value if self._is_object else {}
        self._names_read: list[str] = []
        if not self._is_object:
            problems.add(Invalid.of(value, "an object").about(place or "the file"))

    def has(self, name: str) -> bool:
        return self._values.get(name) is not None

    def take(self, name: str) -> Any:
        """The value as it is; None if it is missing."""
        self._names_read.append(name)
        return self._values.get(name)

    def wrong(self, name: str, problem: str) -> None:
        """Adds a problem of a field: a sentence of its own."""
        if self._is_object:
            self.problems.add(f"{self._path(name)}: {problem}")

    def _path(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def read(self, name: str, check: Callable[..., T], harmless: T, **options: Any) -> T:
        """The value, checked as by the functions of `sacrecap.data.fields`; what is harmless where the check fails."""
        return self.check(name, check, self.take(name), harmless, **options)

    def optional(self, name: str, check: Callable[..., T], default: T, **options: Any) -> T:
        """The same of a field that may be missing."""
        value = self.take(name)
        return default if value is None else self.check(name, check, value, default, **options)

    def check(self, name: str, check: Callable[..., T], value: Any, harmless: T, **options: Any) -> T:
        """The same of a value that was taken before, or of a part of one."""
        try:
            return check(value, **options)
        except Invalid as problem:
            if self._is_object:
                self.problems.add(problem.about(self._path(name)))
            return harmless

    def text(self, name: str, default: str | None = None, *, most: int = LONGEST) -> str:
        """A text that is not blank; a missing one is a problem unless there is a default."""
        value = self.take(name)
        if value is None and default is not None:
            return default.strip()
        return self.check(name, fields.text, value, default or "-", most=most).strip()

    def name(self, name: str) -> str:
        """An image id or the like: text or a whole number, as text."""
        return self.read(name, fields.name, "-", most=LONGEST_NAME)

    def texts(self, name: str, *, least: int = 1, optional: bool = False) -> list[str]:
        """A list of at least so many texts."""
        value = self.take(name)
        if value is None and optional:
            return []
        values = self.check(name, fields.listed, value, ["-"] * least, least=least)
        return [
            self.check(f"{name}[{number}]", fields.text, value, "-", most=LONGEST).strip()
            for number, value in enumerate(values)
        ]

    def number(self, name: str, default: float, least: float, most: float) -> float:
        return self.optional(name, fields.number, default, least=least, most=most)

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        return self.optional(name, fields.whole, default, least=least, most=most)

    def one_of(self, name: str, accepted: Sequence[str], default: str | None = None) -> str:
        if default is None:
            return self.read(name, fields.one_of, next(iter(accepted), ""), accepted=accepted)
        return self.optional(name, fields.one_of, default, accepted=accepted)

    @contextmanager
    def inside(self, name: str, *, optional: bool = False) -> Iterator[Fields]:
        """The object in a field, to be read in the block; where it may be missing, an empty one."""
        value = self.take(name)
        section = Fields(value or {} if optional else value, self._path(name), self.problems)
        yield section
        section.end()

    def entries(self, name: str, read: Callable[[Fields, int], T], *, least: int = 1) -> list[T]:
        """Reads every object of a list."""
        values: list[Any] = self.read(name, fields.listed, [], least=least)
        names = []
        for number, value in enumerate(values):
            item = Fields(value, f"{self._path(name)}[{number}]", self.problems)
            names.append(read(item, number))
            item.end()
        return names

    def end(self) -> None:
        """Says which fields are not known."""
        for name in self._values:
            if name not in self._names_read:
                self.wrong(str(name)[:60], f"no such field; there are {', '.join(self._names_read)}")


def mapping(value: object, accepted: str, *, least: int = 0, most: float = math.inf) -> dict[str, Any]:
    """An object with so many names, which are not known; the check of a field."""
    if not isinstance(value, dict) or not least <= len(value) <= most:
        raise Invalid.of(value, accepted)
    return value


def flag(value: object) -> bool:
    """True or false; the check of a field."""
    if not isinstance(value, bool):
        raise Invalid.of(value, "true or false")
    return value


def link(value: object) -> str:
    """An address of a page elsewhere, by HTTPS; the check of a field."""
    if not _ADDRESS.fullmatch(fields.text(value, most=500)):
        raise Invalid.of(value, "an address that begins with https://")
    return str(value)
