"""Records of files of judgments, and their forms: how a file is recognised, and what people said in its records.

A record is an object with named fields: a line of JSON, or a row of a table; errors name the line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from sacrecap.data import fields, read_references
from sacrecap.data.cells import listed
from sacrecap.data.rows import objects_of_lines
from sacrecap.data.source import PathLike, display_name, read_bytes
from sacrecap.data.tables import is_number, table_of
from sacrecap.data.unpack import text_of
from sacrecap.errors import DataError, UsageError, accepted_name, naming, option
from sacrecap.judgments.judged_rows import Pairs, Ratings, Row

KEY = "category"
"""The field of records that are in several lists of a document: the name of their list."""

T = TypeVar("T")


@dataclass(eq=False)
class Record:
    """One object of a JSON-lines file."""

    source: str
    line: int
    fields: dict[str, Any]

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
        with naming(f"{self.source}, line {self.line}: "):
            return fields.checked(name, check, value, **options)

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

    def votes(self) -> list[int]:
        """The field `votes`: a list of 1 and −1."""
        votes = self.find("votes")
        if not isinstance(votes, list) or not votes or any(isinstance(v, bool) or v not in (1, -1) for v in votes):
            raise self.refuse(f"votes must be a list of 1 (for b) and -1 (for c), got {votes!r}")
        return votes


def read_records(path: PathLike, *_: object) -> list[Record]:
    """The objects of a JSON-lines file, without blank lines, or the rows of another table, in which lists that are text
    are lists. Raises `DataError` for an empty or unreadable file and for a line that is not a JSON object.
    """
    source, data = display_name(path), read_bytes(path)
    if data.strip() and not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        table = table_of(source, data)
        if not table.places:
            raise DataError(f"{source}: no judgment in it")
        cells = {name: [listed(cell, name) for cell in column] for name, column in table.columns.items()}
        return [
            Record(source, int(place.rpartition(" ")[2]), {name: column[row] for name, column in cells.items()})
            for row, place in enumerate(table.places)
        ]
    lines = list(read_lines(path, data))
    if not lines:
        raise DataError(f"{source}: no judgment in it; expected one JSON object per line")
    with naming(f"{source}, "):
        objects = objects_of_lines(lines)
    return [Record(source, number, fields) for (number, _), fields in zip(lines, objects, strict=True)]


def read_document(path: PathLike, *_: object) -> list[Record]:
    """The objects of a JSON list, alone or as `annotations`, or of a JSON object, or of its lists, which then have
    their list's name; the JSON object itself; JSON lines; the rows of a table.
    """
    source, data = display_name(path), read_bytes(path)
    try:
        document = json.loads(data)
    except ValueError:
        return read_records(path)
    if isinstance(document, dict) and "annotations" in document:
        document = document["annotations"]
    elif isinstance(document, dict):
        parts = list(document.values())
        if parts and all(isinstance(part, list) for part in parts) and any(isinstance(part, dict) for part in parts[0]):
            document = [
                {**part, KEY: name} if isinstance(part, dict) else part
                for name, parts_of_name in document.items()
                for part in parts_of_name
            ]
        elif all(isinstance(part, dict) for part in parts):
            document = parts
    documents = document if isinstance(document, list) else [document]
    for number, record in enumerate(documents, 1):
        if not isinstance(record, dict):
            raise DataError(f"{source}, record {number}: expected a JSON object, got {fields.quoted(record)}")
    return [Record(source, number, record) for number, record in enumerate(documents, 1)]


def read_lines(path: PathLike, data: bytes | None = None) -> Iterator[tuple[int, str]]:
    """Numbered lines of a UTF-8 file, without their ends and without blank ones. Raises `DataError`."""
    text = text_of(read_bytes(path) if data is None else data, f"{display_name(path)}, ")
    # Not splitlines(), which also cuts at the line separators that captions hold.
    lines = enumerate(text.split("\n"), 1)
    return ((number, line.rstrip("\r")) for number, line in lines if line.strip())


class WhatToRead(NamedTuple):
    """What a call says of a file: see `read_judgments`."""

    captions: PathLike | None = None
    rating: str | None = None
    rating_range: tuple[float, float] | None = None
    categories: Sequence[str] | None = None
    raters: str | None = None
    words: Mapping[str, str] = {}


class JudgedPair(NamedTuple):
    """A pair; after the references, what it has in the column of `Pairs` that is called so."""

    image: str
    references: Sequence[str]
    b: str
    c: str
    preferred: int
    categories: str = ""
    votes: list[int] | None = None
    reference_votes: list[int] | None = None
    direct: list[int] | None = None
    b_system: str | None = None
    c_system: str | None = None
    objects: list[str] | None = None


class RatedCaption(NamedTuple):
    """A caption, or a caption set; after the references, what it has in the column of `Ratings` that is called so."""

    image: str
    references: Sequence[str]
    captions: str
    ratings: tuple[float, ...]
    system: str | None = None
    votes: tuple[int, int] | None = None
    sets: list[str] | None = None
    categories: str = ""


@dataclass(frozen=True)
class JudgmentForm:
    """How files of a form are read; a column of which a judgment lacks its part is left out."""

    dataset: str
    fields: tuple[str, ...]
    """A file with all of these is of this form: names of fields, columns or variables."""
    judged: Callable[[Any, WhatToRead], Iterator[JudgedPair | RatedCaption]] = lambda judged, _: iter((judged,))
    """What people said in one of the records, which may be that already."""
    records: Callable[[PathLike, WhatToRead], Sequence[Any]] = read_document
    aspects: tuple[str, ...] = ("rating",)
    """What people judged; the first is read unless another one is named."""
    aspect_of: Callable[[Any, str | None], str | None] | None = None
    """The aspect that is read, by the first record and the name that is given, where records name their aspects."""
    left_out: str = "records without a judgment, left out"
    """What the note says of them."""
    remarks: Callable[[Sequence[Any]], list[str]] = lambda _: []
    """Notes on all records. Raises `DataError` for records that do not fit together."""
    is_matlab: bool = False
    reads_captions: bool = False
    """Whether the file of captions has more than references by image, or those of some records; `records` reads it."""

    def read(self, paths: Sequence[PathLike], to_read: WhatToRead) -> Ratings | Pairs:
        """The judgments of a file, or of several that are one. Raises `DataError`, and `UsageError` for what a call
        says that does not fit this form.
        """
        source = ", ".join(map(display_name, paths))
        records = [record for path in paths for record in self.records(path, to_read)]
        to_read = to_read._replace(rating=self._aspect(to_read, records))
        notes = self.remarks(records)
        captions: list[JudgedPair | RatedCaption] = []
        places: list[int] = []
        in_file = unjudged = 0
        for record in records:
            of_record = list(self.judged(record, to_read))
            captions += of_record
            places += range(in_file, in_file + len(of_record))
            in_file += max(1, len(of_record))
            unjudged += not of_record
        if to_read.captions is not None and not self.reads_captions:
            captions, note = _with_references(captions, to_read.captions, source)
            notes.append(note)
        if to_read.categories and captions:
            chosen = [number for number, caption in enumerate(captions) if caption.categories in to_read.categories]
            if not chosen:
                held = ", ".join(sorted({caption.categories for caption in captions} - {""})) or "none"
                named = ", ".join(to_read.categories)
                raise DataError(f"{source}: no judgment of the categories {named}; its categories: {held}")
            if dropped := len(captions) - len(chosen):
                notes.append(f"judgments of other categories, left out: {dropped:,}")
            captions, places = [captions[number] for number in chosen], [places[number] for number in chosen]
        if unjudged:
            notes.append(f"{self.left_out}: {unjudged:,}")
        if not captions:
            raise DataError(f"{source}: no judgment of {self.dataset} in it{'; '.join(['', *notes])}")
        rows = [Row(caption.image, caption.references, place) for caption, place in zip(captions, places, strict=True)]
        columns: dict[str, Any] = {
            name: None if None in column else list(column)
            for name, *column in zip(captions[0]._fields[2:], *(caption[2:] for caption in captions), strict=True)
        }
        if isinstance(captions[0], RatedCaption):
            del columns["categories"]
            aspect = to_read.rating or "rating"
            return Ratings(self.dataset, source, rows, in_file=in_file, aspect=aspect, notes=notes, **columns)
        if columns["objects"] is not None:
            columns["objects"] = dict(zip((row.image_id for row in rows), columns["objects"], strict=True))
        return Pairs(self.dataset, source, rows, in_file=in_file, notes=notes, **columns)

    def _aspect(self, to_read: WhatToRead, records: Sequence[Any]) -> str | None:
        if to_read.rating_range is not None and self.dataset != "ratings":
            raise UsageError(f"the range of ratings is for the format ratings; {self.dataset} has its own")
        if self.aspect_of is not None:
            return self.aspect_of(records[0], to_read.rating)
        if to_read.rating is not None and len(self.aspects) == 1:
            raise UsageError(f"{self.dataset} has one kind of rating; leave the rating {to_read.rating!r} out")
        aspect = to_read.rating or self.aspects[0]
        accepted_name("rating", aspect, self.aspects)
        return aspect


def _with_references(
    judged: Sequence[JudgedPair | RatedCaption], file: PathLike, source: str
) -> tuple[list[JudgedPair | RatedCaption], str]:
    """The same with the references of their images in a file, and a note; those of images that it lacks keep theirs."""
    described, name = read_references(file), display_name(file)
    lacking = [caption for caption in judged if caption.image not in described]
    if len(lacking) == len(judged) or not all(caption.references for caption in lacking):
        missing = next((caption for caption in lacking if not caption.references), judged[0]).image
        raise DataError(f"{name}: no references of image {missing!r}, which {source} has")
    sentences = {c.image: described.captions(c.image) for c in judged if c.image in described}
    changed = [caption._replace(references=sentences.get(caption.image, caption.references)) for caption in judged]
    except_for = f"; rows of images that it lacks keep their own: {len(lacking):,}" if lacking else ""
    return [
        caption._replace(reference_votes=None) if isinstance(caption, JudgedPair) else caption for caption in changed
    ], f"references of each image from {name}{except_for}"


def add_references(records: Sequence[Record], references: Mapping[str, Sequence[str]], *image: str) -> None:
    """Gives records the references of their image, by the first of these fields. Raises `DataError` for one without."""
    for record in records:
        name = record.name(*image)
        if name not in references:
            raise record.refuse(
                f"no references of image {name!r}, neither here nor in the file of references; add them"
            )
        record.fields["references"] = references[name]
