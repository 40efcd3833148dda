"""The shapes of caption files, by the columns of their rows: one table for all readers and all engines.

To add a shape, add a row to `_ROWS`, an example to `tests/data/test_shapes.py`, and a line to
`docs/reference/files.md`. Where rows must first be made from a JSON document, write the function in `documents`.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING, Any

from sacrecap._core import Captions, CaptionsBuilder
from sacrecap.data.missing import is_missing
from sacrecap.errors import DataError, UsageError, option

if TYPE_CHECKING:
    from sacrecap.data.rows import Rows

Names = str | Iterable[str] | None
"""A column, several of them, or none. A column may be a pattern, such as `caption_*`."""

_LONGEST_SHOWN = 60
"""Characters of a column's name in a message."""
_SHOWN = 20
"""Columns that a message names; the others are left out."""
_PATTERN = frozenset("*?[")
"""A name with none of these is no pattern: most are not, and to match one costs more than to compare."""


@dataclass(frozen=True)
class Shape:
    """Which columns of a file hold image ids and captions.

    Names of columns may be patterns, such as `caption_*`. A column inside an object is named by a path: `doc.image_id`.
    """

    name: str
    summary: str
    """An example of the shape, in a few characters."""
    ids: tuple[str, ...]
    """The column of the image ids: the first of these that exists."""
    captions: tuple[str, ...] = ()
    """Columns of a system's captions: the first of these that exists, or all columns that match it."""
    references: tuple[str, ...] = ()
    """Columns of references, likewise. If one of `captions` and `references` is empty, the other serves for both."""
    also: tuple[str, ...] = ()
    """Columns without which a file is not recognised as this shape."""
    one_of: tuple[str, ...] = ()
    """Columns of which a file must have one to be recognised as this shape."""
    split: str | None = None
    """The column that says which split an image is in."""
    lists_in_text: bool = False
    """Whether one text may hold several captions, as a list in JSON or Python syntax."""
    every: bool = False
    """Whether all columns of captions are used, instead of those of the first name."""
    any_case: bool = False
    """Whether `Image_ID` and `imageId` count as `image_id`."""
    only_by_name: bool = False
    """Whether a file is read so only on request: any file would fit."""
    unpack: str | None = None
    """The function in `documents` that makes rows from a JSON document; it gives None if that has another form."""

    def image(self, names: Sequence[str]) -> str | None:
        """The column of the image ids among these."""
        return next((name for one in self.ids for name in self._called(one, names)), None)

    def columns(self, names: Sequence[str], part: str) -> tuple[str, list[str]] | None:
        """The column of image ids and those of the part's captions among these; None if they do not exist."""
        image, found = self.image(names), self.of_part(names, part)
        return (image, found) if image is not None and found else None

    def of_part(self, names: Sequence[str], part: str) -> list[str]:
        """The columns of the part's captions among these."""
        image = self.image(names)
        found = [[name for name in self._called(one, names) if name != image] for one in self.wanted(part)]
        chosen = chain.from_iterable(found) if self.every else next(filter(None, found), [])
        return list(dict.fromkeys(chosen))

    def wanted(self, part: str) -> tuple[str, ...]:
        """The columns of the part's captions, patterns among them."""
        return self.references or self.captions if part == "references" else self.captions or self.references

    def _called(self, pattern: str, names: Sequence[str]) -> list[str]:
        """The columns that match a pattern."""
        found = [name for name in names if name == pattern]
        if not _PATTERN.isdisjoint(pattern):
            found = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if found or not self.any_case:
            return found
        wanted = _plain(pattern)
        return [name for name in names if _plain(name) == wanted]

    def fits(self, names: Sequence[str]) -> bool:
        """Whether rows with these columns are recognised as this shape."""
        return (
            not self.only_by_name
            and all(name in names for name in self.also)
            and (not self.one_of or any(name in names for name in self.one_of))
            and (self.columns(names, "references") is not None or self.columns(names, "candidates") is not None)
        )

    def holds_both(self, names: Sequence[str]) -> bool:
        """Whether there are references and a system's captions, in different columns."""
        both = [self.columns(names, part) for part in ("references", "candidates")]
        return all(both) and both[0] != both[1]

    def completed(self, known: Shape, names: Sequence[str]) -> Shape:
        """These columns, and for what is not named those of the known shape of the file."""
        named = self if self.ids else replace(self, ids=known.ids, any_case=known.any_case)
        if not (named.captions or named.references):
            return replace(named, captions=known.captions, references=known.references, every=False)
        if not named.captions:
            captions = known.columns(names, "candidates")
            named = replace(named, captions=tuple(captions[1]) if captions else ())
        return named

    def read(self, rows: Rows, part: str, split: str | None = None) -> Captions:
        """The captions of the rows; missing ones are empty.

        Args:
            rows: the rows of the file.
            part: `references`, `candidates` or `sets`.
            split: keep only the images of this split.

        Raises:
            DataError: a column is missing, or does not hold captions; the message does not name the file.
            UsageError: no such split, or the shape has none.
        """
        columns = self.columns(rows.names, part)
        if columns is None:
            raise DataError(f"{self._lacking(rows, part)}; it has {', '.join(rows.names) or 'none'}")
        if split is not None and (self.split is None or self.split not in rows.names):
            raise UsageError(f"this is a file of format {self.name}, which has no splits; leave the split out")
        builder, seen = CaptionsBuilder(), 0
        splits: set[str] = set()
        image, found = columns
        for batch in rows.batches([image, *found, *([] if split is None else [self.split or ""])]):
            ids, values = whole_numbers(batch[0]), self._values(batch[1 : 1 + len(found)], seen, words=rows.is_text)
            if split is not None:
                splits.update(map(str, batch[-1]))
            chosen = range(len(ids)) if split is None else [n for n, one in enumerate(batch[-1]) if one == split]
            builder.extend([ids[n] for n in chosen], [values[n] for n in chosen])
            seen += len(ids)
        if split is not None and split not in splits:
            raise UsageError(f"no image is in the split {split!r}; the splits are {', '.join(sorted(splits))}")
        return builder.finish()

    def _values(self, columns: Sequence[list[Any]], seen: int, *, words: bool) -> list[Any]:
        """The content of each row: a caption, or a list of captions from several columns or one cell.

        Of several columns, a row has the captions that are not missing, or an empty one if all are.
        """

        def is_absent(cell: Any) -> bool:
            return is_missing(cell, words=words)

        if self.lists_in_text:
            columns = [[_listed(cell, seen + n + 1) for n, cell in enumerate(column)] for column in columns]
        if len(columns) == 1:
            return ["" if is_absent(cell) else cell for cell in columns[0]]
        rows = zip(*columns, strict=True)
        return [[cell for cell in _flat(cells) if not is_absent(cell)] or [""] for cells in rows]

    def _lacking(self, rows: Rows, part: str) -> str:
        if not any(name in rows.names for name in self.ids):
            return f"format {self.name} has the image id in {' or '.join(self.ids)}, which this file lacks"
        wanted = self.wanted(part)
        return f"format {self.name} has {part} in {' or '.join(wanted)}, which this file lacks"


Words = str | tuple[str, ...]

IDS = ("image_id", "id", "image", "video_id", "file_name", "filename")
"""What a column of image ids is called where nothing else tells what the file is: the first that there is."""
CANDIDATES = ("candidate", "prediction")
"""What a column of a system's captions is called."""
REFERENCES = ("references", "reference")
"""What a column of references is called."""
CAPTIONS = ("caption", "captions")
"""What a column is called that may be either."""


def _row(summary: str, ids: Words, captions: Words, references: Words = (), **more: Any) -> dict[str, Any]:
    """Arguments of `Shape`; names of columns may be words of a text."""
    columns = {"ids": ids, "captions": captions, "references": references, **more}
    lists = {"ids", "captions", "references", "also", "one_of"}
    words = {
        name: tuple(own.split() if isinstance(own, str) else own) for name, own in columns.items() if name in lists
    }
    return {"summary": summary, **more, **words}


_ROWS: dict[str, dict[str, Any]] = {
    "gts": _row('{id: [{"caption"}, …], …}', "id", "caption", unpack="gts"),
    "msrvtt": _row(
        '{"videos": [{"video_id", "split"}, …], "sentences": [{"video_id", "caption"}, …]}',
        "video_id",
        "caption",
        split="split",
        unpack="msrvtt",
    ),
    "activitynet": _row(
        '{video id: {"timestamps", "sentences": […]}, …}; a paragraph per video',
        "video_id",
        "caption",
        unpack="activitynet",
    ),
    "lmms-eval": _row(
        'samples as lines of {"doc_id", "target", "filtered_resps"}',
        "id",
        "prediction",
        "references",
        lists_in_text=True,
        unpack="lmms_eval",
    ),
    "lists": _row("[caption or [caption, …], …]", "line", "caption", unpack="lists"),
    "textcaps": _row(
        '{"data": [{"image_id", "caption_str", "reference_strs"}, …]}',
        "image_id",
        "caption_str",
        also="image_id caption_str",
    ),
    "vlmevalkit": _row(
        "a table or Excel file with index, prediction and answer", "index", "prediction", "answer", lists_in_text=True
    ),
    "predictions": _row(
        "rows of id, prediction and references",
        IDS,
        (*CANDIDATES, *CAPTIONS),
        (*REFERENCES, *CAPTIONS),
        one_of=(*CANDIDATES, *REFERENCES),
    ),
    "rows": _row(
        "a table, spreadsheet or wrapped list with image_id, and caption or captions",
        "image_id",
        CAPTIONS,
        any_case=True,
    ),
    "vatex": _row('[{"videoID", "enCap": […]}, …]', "videoID", "enCap"),
    "dcase": _row(
        "a table with file_name and caption_predicted; references in caption_reference_01, …",
        "file_name",
        "caption_predicted",
        "caption_reference_*",
    ),
    "clotho": _row("a table with file_name and caption_1, …, caption_5", "file_name", "caption_[0-9]*"),
    "audiocaps": _row("a table with youtube_id, start_time and caption", "youtube_id", "caption", also="start_time"),
    "llava": _row('lines of {"question_id", "text"}', "question_id", "text"),
    "coco-hub": _row(
        "rows of question_id and answer, a list, such as lmms-lab's COCO-Caption", "question_id", "answer"
    ),
    "imagefolder": _row(
        "metadata.csv, .jsonl or .parquet with file_name, and text or caption; or the folder of it",
        "file_name",
        "text caption",
    ),
    "flickr-hub": _row(
        "rows of filename and caption, a list, or raw, a list as text; a column split",
        "filename",
        "raw caption",
        split="split",
        lists_in_text=True,
    ),
    "hub": _row(
        "Parquet with an image (its path is the id), and caption or text",
        "image.path",
        "caption captions text",
        split="split",
    ),
    "lavis": _row(
        '[{"image", "caption": caption or […]}, …], the form of LAVIS for COCO, Flickr30k and nocaps',
        "image",
        "caption",
    ),
    "flickr-csv": _row(
        "a table with image and caption, or image_name and comment, with bars or commas between",
        "image image_name",
        "caption comment",
    ),
    "ids": _row("rows of id, image, video_id, file_name or filename, and caption or captions", IDS, CAPTIONS),
    "text": _row("a line per image; tabs between several captions", "line", "caption", only_by_name=True),
}
"""Arguments of `Shape` by its name."""

SHAPES = {name: Shape(name, **row) for name, row in _ROWS.items()}
"""The shapes by name, which options such as ``--reference-format`` take. A file is of the first shape that fits it."""

TABLE_FORMATS = ("parquet", "arrow")
"""Names of the formats that are read through pyarrow."""


def shape_of_columns(names: Sequence[str]) -> Shape | None:
    """The first shape whose rows have these columns, if there is one."""
    return next((shape for shape in SHAPES.values() if shape.unpack is None and shape.fits(names)), None)


def columns_named(ids: Names, captions: Names = None, references: Names = None) -> Shape | None:
    """The shape of files with these columns; None if no column is named."""
    named = [_names(ids), _names(captions), _names(references)]
    if not any(named):
        return None
    ids_, captions_, references_ = named
    return Shape("columns", "", ids_, captions_, references_, every=True, split="split", lists_in_text=True)


def some_columns(names: Sequence[str]) -> str:
    """The first columns, for a message."""
    first = [name if len(name) <= _LONGEST_SHOWN else f"{name[: _LONGEST_SHOWN - 3]}…" for name in names[:_SHOWN]]
    return ", ".join(first) + (", …" if len(names) > _SHOWN else "") if names else "none"


def name_columns() -> str:
    """What to do about columns that no shape has."""
    captions = option("caption_column", of="the readers in sacrecap.data")
    return f"name the column of the image ids by {option('id_column')} and those of the captions by {captions}"


def whole_numbers(values: Iterable[Any]) -> list[Any]:
    """Image ids as whole numbers again, if a table made floats of them because one is missing."""
    return [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]


def _names(given: Names) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace(" ", "")


def _flat(cells: Sequence[Any]) -> Iterator[Any]:
    for cell in cells:
        if isinstance(cell, list):
            yield from cell
        else:
            yield cell


def _listed(cell: Any, row: int) -> Any:
    """The captions of a cell that holds a list as text; any other cell unchanged."""
    if not isinstance(cell, str) or not cell.lstrip().startswith(("['", '["', "[]")):
        return cell
    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(cell.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, list):
            return found
    raise DataError(
        f"row {row} has a text that begins like a list of captions, but is not one or ends early: {cell[:40]!r}"
    )
