"""A form in which judgments come: how a file of it is recognised, and what people said in each of its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    """The same with the references that a file has of their images, and a note; those of images that it lacks keep
    theirs. Raises `DataError` if it lacks the image of one without references, or all of them.
    """
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
