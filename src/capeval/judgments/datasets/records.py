"""JSON lines with named fields, and errors that name the line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from capeval.data.source import PathLike, display_name, read_bytes
from capeval.errors import DataError


class Record:
    """One object of a JSON-lines file."""

    def __init__(self, source: str, line: int, fields: dict[str, Any]) -> None:
        self.source = source
        self.line = line
        self.fields = fields

    def refuse(self, problem: str) -> DataError:
        """The error to raise: file, line, problem."""
        return DataError(f"{self.source}, line {self.line}: {problem}")

    def has(self, *names: str) -> bool:
        return any(self.fields.get(name) is not None for name in names)

    def find(self, *names: str) -> Any:
        """The value of the first of these fields that is there."""
        for name in names:
            if self.fields.get(name) is not None:
                return self.fields[name]
        raise self.refuse(f"no field {' or '.join(map(repr, names))}; it has {', '.join(self.fields) or 'none'}")

    def name(self, *names: str) -> str:
        """An image id or the like: text or a whole number, as text."""
        value = self.find(*names)
        if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
            raise self.refuse(f"{names[0]} must be text or a whole number, got {value!r}")
        return str(value)

    def caption(self, *names: str) -> str:
        value = self.find(*names)
        if not isinstance(value, str) or not value.strip():
            raise self.refuse(f"{names[0]} must be a caption, got {value!r}")
        return self._text(value)

    def captions(self, *names: str) -> list[str]:
        """A list of at least one caption."""
        value = self.find(*names)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) and v.strip() for v in value):
            raise self.refuse(f"{names[0]} must be a list of at least one caption, got {_shown(value)}")
        return [self._text(caption) for caption in value]

    def number(self, *names: str, least: float = -math.inf, most: float = math.inf) -> float:
        return self.as_number(names[0], self.find(*names), least, most)

    def as_number(self, name: str, value: Any, least: float, most: float) -> float:
        """The value, if it is a finite number within the range."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not least <= value <= most:
            bounds = "a finite number" if math.isinf(least) else f"a number from {least:g} to {most:g}"
            raise self.refuse(f"{name} must be {bounds}, got {_shown(value)}")
        return float(value)

    def _text(self, caption: str) -> str:
        if any("\ud800" <= character <= "\udfff" for character in caption):
            raise self.refuse(f"a lone surrogate, which is no text; remove it: {caption!a}")
        return caption.strip()


def read_records(path: PathLike) -> list[Record]:
    """The objects of a JSON-lines file; blank lines are skipped.

    Raises `DataError` for an empty or unreadable file and for a line that is no JSON object.
    """
    source = display_name(path)
    records = list(_records(source, path))
    if not records:
        raise DataError(f"{source}: no judgment in it; expected one JSON object a line")
    return records


def read_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """Numbered lines of a UTF-8 file, without their ends and without blank ones. Raises `DataError`."""
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{display_name(path)}, line {line}: not UTF-8; convert the file to UTF-8") from None
    # Not splitlines(), which also cuts at the line separators that captions hold.
    lines = enumerate(text.split("\n"), 1)
    return ((number, line.rstrip("\r")) for number, line in lines if line.strip())


def _records(source: str, path: PathLike) -> Iterator[Record]:
    for number, line in read_lines(path):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{source}, line {number}: not JSON ({error}); expected one object a line") from None
        if not isinstance(fields, dict):
            raise DataError(f"{source}, line {number}: expected a JSON object, got {_shown(fields)}")
        yield Record(source, number, fields)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
