"""JSON lines with named fields, and errors that name the line."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from sacrecap.data import fields
from sacrecap.data.cells import listed
from sacrecap.data.rows import objects_of_lines
from sacrecap.data.source import PathLike, display_name, read_bytes
from sacrecap.data.tables import is_number, table_of
from sacrecap.data.unpack import text_of
from sacrecap.errors import DataError, naming, option

READER = "sacrecap.judgments.read_judgments"
"""What has the keywords that messages name."""

KEY = "category"
"""The field of records that are in several lists of a document: the name of their list."""

T = TypeVar("T")


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
        """The value of the first of these fields that exists."""
        for name in names:
            if self.fields.get(name) is not None:
                return self.fields[name]
        lacking = f"no field {' or '.join(map(repr, names))}; it has {', '.join(self.fields) or 'none'}"
        if "references" in names:
            lacking += f": give each row its references, or a file of them by {option('captions')}"
        raise self.refuse(lacking)

    def checked(self, name: str, check: Callable[..., T], value: Any, **options: Any) -> T:
        """The value, if it passes a check of `sacrecap.data.fields`; the error calls the field by this name."""
        try:
            return check(value, **options)
        except fields.Invalid as problem:
            raise self.refuse(problem.about(name)) from None

    def number(self, name: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
        """The value, a number of these bounds, also as the text that tables have."""
        number = float(value) if isinstance(value, str) and is_number(value) else value
        return float(self.checked(name, fields.number, number, least=least, most=most))

    def name(self, *names: str) -> str:
        """An image id or the like: text or a whole number, as text."""
        return self.checked(names[0], fields.name, self.find(*names))

    def known_name(self, *names: str) -> str | None:
        """The same; None without the field."""
        return self.name(*names) if self.has(*names) else None

    def caption(self, *names: str) -> str:
        return self.checked(names[0], fields.text, self.find(*names), accepted="a caption").strip()

    def captions(self, *names: str) -> list[str]:
        """A list of at least one caption."""
        captions = self.checked(names[0], fields.texts, self.find(*names), accepted="a caption")
        return list(map(str.strip, captions))


def read_records(path: PathLike, *_: object) -> list[Record]:
    """The objects of a JSON-lines file, of which blank lines are skipped, or the rows of another table; lists that
    are text there are lists.

    Raises `DataError` for an empty or unreadable file and for a line that is not a JSON object.
    """
    source, data = display_name(path), read_bytes(path)
    if data.strip() and not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        table = table_of(source, data)
        cells = {name: [listed(cell, name) for cell in column] for name, column in table.columns.items()}
        return [
            Record(source, int(place.rpartition(" ")[2]), {name: column[row] for name, column in cells.items()})
            for row, place in enumerate(table.places)
        ]
    lines = list(_lines(data, source))
    if not lines:
        raise DataError(f"{source}: no judgment in it; expected one JSON object per line")
    with naming(f"{source}, "):
        objects = objects_of_lines(lines)
    return [Record(source, number, fields) for (number, _), fields in zip(lines, objects, strict=True)]


def read_document(path: PathLike, *_: object) -> list[Record]:
    """The objects of a JSON list, alone or as `annotations`, or of a JSON object; JSON lines; the rows of a table."""
    source, data = display_name(path), read_bytes(path)
    try:
        document = json.loads(data)
    except ValueError:
        return read_records(path)
    if isinstance(document, dict):
        document = document.get("annotations", _parts(document))
    documents = document if isinstance(document, list) else [document]
    for number, record in enumerate(documents, 1):
        if not isinstance(record, dict):
            raise DataError(f"{source}, record {number}: expected a JSON object, got {fields.quoted(record)}")
    return [Record(source, number, record) for number, record in enumerate(documents, 1)]


def _parts(document: dict[str, Any]) -> list[Any]:
    """The objects in a JSON object, or in its lists, which then have their list's name; else the object itself."""
    parts = list(document.values())
    if parts and all(isinstance(part, list) for part in parts) and any(isinstance(part, dict) for part in parts[0]):
        return [
            {**part, KEY: name} if isinstance(part, dict) else part
            for name, parts_of_name in document.items()
            for part in parts_of_name
        ]
    return parts if all(isinstance(part, dict) for part in parts) else [document]


_KINDS: dict[str, tuple[Callable[[Record], bool], str]] = {
    "forced choices": (lambda record: record.has("winner"), ".winner"),
    "ratings of caption sets": (lambda record: record.has("captions"), ".captions"),
    "ratings of captions": (lambda record: record.has("caption", "candidate"), ".caption and (.captions | not)"),
    "answers about no caption": (lambda record: record.has("answers"), ".answers and (.caption | not)"),
}
"""What a line judges, told by its fields, and the same for jq."""


def read_one_kind(path: PathLike, *_: object) -> list[Record]:
    """As `read_records`. Raises `DataError` for lines of several kinds, such as those of a study that asks several
    questions.
    """
    records = read_records(path)
    first: dict[str, int] = {}
    for record in records:
        first.setdefault(next((kind for kind, (fits, _) in _KINDS.items() if fits(record)), ""), record.line)
    first.pop("", None)  # its reader says what is missing
    if len(first) > 1:
        held = ", ".join(f"{kind} (from line {line})" for kind, line in first.items())
        ways = " or ".join(f"jq -c 'select({_KINDS[kind][1]})' {records[0].source}" for kind in first)
        raise DataError(
            f"{records[0].source} has {held}; agreement is measured of one kind at a time: take the lines of one, with "
            f"{ways}"
        )
    return records


def read_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """Numbered lines of a UTF-8 file, without their ends and without blank ones. Raises `DataError`."""
    return _lines(read_bytes(path), display_name(path))


def _lines(data: bytes, source: str) -> Iterator[tuple[int, str]]:
    text = text_of(data, f"{source}, ")
    # Not splitlines(), which also cuts at the line separators that captions hold.
    lines = enumerate(text.split("\n"), 1)
    return ((number, line.rstrip("\r")) for number, line in lines if line.strip())


RATERS = frozenset(
    "rater rater_id worker worker_id workerid annotator annotator_id completed_by participant participant_id "
    "prolific_pid prolific_id user user_id coder evaluator assessor subject".split()
)
"""Columns that name who rated: the file has a row per rater."""
NUMBERED = re.compile(r"(rater|annotator|worker|participant|coder|evaluator|assessor|judge|rating|r|a)[ _-]?\d+", re.I)
"""Columns of one rater each."""


def plain(name: str) -> str:
    """The name of a column without what tools put around it: `Input.image_id`, `Answer.rating`, `Image ID`."""
    return re.sub(r"^(input|answer)\.", "", name.strip(), flags=re.I).lower().replace(" ", "_")


def rater_columns(names: Iterable[str], pattern: str | None = None) -> list[str]:
    """The columns of one rater each: those that fit the pattern, or two or more that are numbered."""
    matching = [name for name in names if (fnmatchcase(name, pattern) if pattern else NUMBERED.fullmatch(name.strip()))]
    return matching if pattern or len(matching) > 1 else []


def in_one_form(
    records: list[Record], known: frozenset[str], rating: Sequence[str], pattern: str | None, words: Mapping[str, str]
) -> list[Record]:
    """One record per caption, whose rating is a list where several people rated it; others are as they are.

    Fields that are `known` get their plain names; `pattern` is of the columns of one rater each, such as `R*`. Raises
    `DataError` where no column fits it.
    """
    for record in records:
        for name in [*record.fields]:
            if (spelled := plain(name)) != name and spelled in known | RATERS and spelled not in record.fields:
                record.fields[spelled] = record.fields.pop(name)
    first = records[0]
    columns = rater_columns(first.fields, pattern)
    if pattern and not columns:
        raise DataError(f"{first.source}: no column fits {pattern!r}; its columns: {', '.join(first.fields)}")
    if columns and (pattern or not first.has(*rating)):
        for record in records:
            record.fields[rating[0]] = [record.fields.pop(name, None) for name in columns]
    translate(records, words, *rating, "winner")
    if rater := next((name for name in first.fields if name in RATERS and first.has(*rating)), None):
        return _by_caption(records, rater, next(name for name in rating if first.has(name)))
    return records


def translate(records: Iterable[Record], words: Mapping[str, str], *names: str) -> None:
    """Replaces words in these fields, and in lists and objects there, by what they stand for."""
    meanings = {word.strip().lower(): meaning for word, meaning in words.items()}

    def translated(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(translated, value))
        if isinstance(value, dict):
            return {name: translated(part) for name, part in value.items()}
        return meanings.get(str(value).lower(), value)

    for record in records:
        record.fields |= {name: translated(record.fields[name]) for name in names if name in record.fields}


def _by_caption(records: Sequence[Record], rater: str, rating: str) -> list[Record]:
    """Rows of one rater each, put together; what a rater rates twice are two captions that say the same."""
    names = ("image_id", "image", "imgid", "img", "system", "caption", "candidate", "captions")
    times: Counter[str] = Counter()
    merged: dict[str, Record] = {}
    columns: dict[str, list[Any]] = {}
    for record in records:
        key = repr([record.fields.get(name) for name in names])
        who = f"{key} {record.fields.get(rater)}"
        key, times[who] = f"{key} {times[who]}", times[who] + 1
        merged.setdefault(key, record)
        value = record.fields.get(rating)
        columns.setdefault(key, []).extend(value if isinstance(value, list) else [value])
    for key, record in merged.items():
        values = columns[key]
        if any(isinstance(value, dict) for value in values):
            aspects = dict.fromkeys(name for value in values if isinstance(value, dict) for name in value)
            record.fields[rating] = {name: [(value or {}).get(name) for value in values] for name in aspects}
        else:
            record.fields[rating] = values
    return [*merged.values()]
