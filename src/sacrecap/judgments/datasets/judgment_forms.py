"""A form in which judgments come: how a file of it is recognised, and what people said in each of its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sacrecap.data import read_references
from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, UsageError, accepted_name
from sacrecap.judgments.datasets.records import Record, read_document
from sacrecap.judgments.judged_rows import Pairs, Ratings, Row


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
    judged: Callable[[Any, WhatToRead], Iterator[JudgedPair | RatedCaption]]
    """What people said in one of the records."""
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
        """The judgments of a file, or of several that are one. Raises `DataError`, and `UsageError` for what is
        `given` and does not fit this form.
        """
        to_read = self._checked(to_read)
        source = ", ".join(map(display_name, paths))
        records = [record for path in paths for record in self.records(path, to_read)]
        if self.aspect_of is not None:
            to_read = to_read._replace(rating=self.aspect_of(records[0], to_read.rating))
        notes = self.remarks(records)
        judged = [list(self.judged(record, to_read)) for record in records]
        rows, judged_captions, place = [], [], 0
        for of_record in judged:
            rows += [Row(caption.image, caption.references, place + number) for number, caption in enumerate(of_record)]
            judged_captions += of_record
            place += max(1, len(of_record))
        if to_read.captions is not None and not self.reads_captions:
            rows, taken_rows = _with_references(rows, to_read.captions, source)
            judged_captions = [
                caption._replace(reference_votes=None) if isinstance(caption, JudgedPair) else caption
                for caption in judged_captions
            ]
            except_for = f"; rows of images that it lacks keep their own: {taken_rows:,}" if taken_rows else ""
            notes.append(f"references of each image from {display_name(to_read.captions)}{except_for}")
        if to_read.categories:
            places = _of_categories(judged_captions, to_read.categories, source)
            if dropped := len(judged_captions) - len(places):
                notes.append(f"judgments of other categories, left out: {dropped:,}")
            rows, judged_captions = [rows[number] for number in places], [judged_captions[number] for number in places]
        if unjudged := judged.count([]):
            notes.append(f"{self.left_out}: {unjudged:,}")
        if not judged_captions:
            raise DataError(f"{source}: no judgment of {self.dataset} in it{'; '.join(['', *notes])}")
        columns = _columns(judged_captions)
        if isinstance(judged_captions[0], RatedCaption):
            aspect = to_read.rating or "rating"
            return Ratings(self.dataset, source, rows, in_file=place, aspect=aspect, notes=notes, **columns)
        if columns["objects"] is not None:
            columns["objects"] = dict(zip((row.image_id for row in rows), columns["objects"], strict=True))
        return Pairs(self.dataset, source, rows, in_file=place, notes=notes, **columns)

    def _checked(self, to_read: WhatToRead) -> WhatToRead:
        if to_read.rating_range is not None and self.dataset != "ratings":
            raise UsageError(f"the range of ratings is for the format ratings; {self.dataset} has its own")
        if self.aspect_of is not None:
            return to_read
        if to_read.rating is not None and len(self.aspects) == 1:
            raise UsageError(f"{self.dataset} has one kind of rating; leave the rating {to_read.rating!r} out")
        aspect = to_read.rating or self.aspects[0]
        accepted_name("rating", aspect, self.aspects)
        return to_read._replace(rating=aspect)


def _columns(judged_captions: Sequence[JudgedPair | RatedCaption]) -> dict[str, Any]:
    """Everything but images and references, column by column."""
    _, _, *columns = zip(*judged_captions, strict=True)
    named = dict(zip(judged_captions[0]._fields[2:], columns, strict=True))
    if isinstance(judged_captions[0], RatedCaption):
        del named["categories"]
    return {name: None if None in column else list(column) for name, column in named.items()}


def _with_references(rows: Sequence[Row], captions: PathLike, source: str) -> tuple[list[Row], int]:
    """The rows with the references that a file has of their images, and how many of them it lacks, which keep theirs.

    Raises `DataError` if it lacks the image of a row without references, or all of them.
    """
    described = read_references(captions)
    lacking = [row for row in rows if row.image_id not in described]
    if len(lacking) == len(rows) or not all(row.references for row in lacking):
        missing = next((row for row in lacking if not row.references), rows[0]).image_id
        raise DataError(f"{display_name(captions)}: no references of image {missing!r}, which {source} has")
    replaced = {row.image_id: described.captions(row.image_id) for row in rows if row.image_id in described}
    return [replace(row, references=replaced.get(row.image_id, row.references)) for row in rows], len(lacking)


def _of_categories(
    judged_captions: Sequence[JudgedPair | RatedCaption], categories: Sequence[str], source: str
) -> list[int]:
    """Numbers of the judgments of these categories. Raises `DataError` if there are none."""
    each_categories = [caption.categories for caption in judged_captions]
    places = [number for number, category in enumerate(each_categories) if category in categories]
    if each_categories and not places:
        held = ", ".join(sorted(set(each_categories) - {""})) or "none"
        raise DataError(f"{source}: no judgment of the categories {', '.join(categories)}; its categories: {held}")
    return places


def add_references(records: Sequence[Record], captions: PathLike, *image: str) -> None:
    """Gives records the field `references`, those of a file of references; `image` is the field of their image's id.

    Raises `DataError` if the file lacks an image.
    """
    described = read_references(captions)
    for record in records:
        name = record.name(*image)
        if name not in described:
            raise record.refuse(
                f"no references of image {name!r}, neither here nor in the file of references; add them"
            )
        record.fields["references"] = described.captions(name)
