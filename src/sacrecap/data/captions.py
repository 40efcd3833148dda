"""Caption files by their part: references, candidates, caption sets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap._core import CAPTION_FORMATS, Captions
from sacrecap.choices import IMAGE_IDS, ON_DUPLICATE
from sacrecap.data.cells import divided, with_lists
from sacrecap.data.shapes import (
    POSITION,
    SHAPES,
    TABLE_FORMATS,
    NamedColumns,
    Names,
    NoColumnError,
    NoIdsError,
    columns_named,
    name_columns,
    shape_of_columns,
    some_columns,
    whole_numbers,
)
from sacrecap.data.source import PathLike, Reading, display_name, names_several, read_bytes, recoded
from sacrecap.errors import DataError, DataWarning, UsageError, accepted_name, first_of, naming, option, spelled, warn

if TYPE_CHECKING:
    from sacrecap.data.recognise import Contents, Recognised
    from sacrecap.data.testsets import Progress

FORMATS = (*CAPTION_FORMATS, *TABLE_FORMATS, *SHAPES)
"""Names of the formats that can be read, for options such as ``--reference-format``."""

_TEXT_TABLES = ("csv", "tsv")
_BEGINNING = 1 << 20
"""Bytes that tell whether a text is UTF-8."""


def read_references(
    path: PathLike,
    *,
    format: str | None = None,
    split: str | None = None,
    id_column: Names = None,
    caption_column: Names = None,
    image_ids: str = "text",
    encoding: str | None = None,
    separator: str | None = None,
) -> Captions:
    """Read human captions: usually several per image, in any of `FORMATS`.

    An image without captions is kept; code that needs its references has to check.

    Args:
        path: the file, compressed or not, or its URL; a folder, or a pattern such as `data/*.parquet`; the name of a
            test set, if no file has this name; ``-`` is standard input.
        format: one of `FORMATS`; recognised from the content when not given.
        split: keep only the images of this split, such as ``"test"``, of a file or folder that has splits.
        id_column: the column, or the key of each row, that has the image ids; of several, the first that exists counts.
        caption_column: the columns of the captions; each may be a pattern, as ``"caption_*"``.
        image_ids: which part of an image id is compared, one of `IMAGE_IDS`: ``"text"``, all of it; ``"stem"``, the
            file name without folder and suffix; ``"number"``, the last number in the stem.
        encoding: of a text that is not UTF-8, such as ``"utf-16"`` or ``"cp1252"``.
        separator: what stands between several captions in one text, such as ``"|||"``; ``"none"``: each text is one
            caption. By default, a caption that holds ``|||`` is an error.

    Raises:
        DataError: the file cannot be used; the message names the file, the place and the remedy.
        UsageError: no such format, no such split, or no such way to compare ids.
        MissingDependencyError: the file needs a package that is not installed, such as pyarrow for Parquet.

    Warns:
        DataWarning: every image has exactly one caption, as in a candidate file.

    Examples:
        >>> references = sacrecap.data.read_references(sacrecap.example.references_path())
        >>> len(references), references.captions("beach-dog")[0]
        (60, 'A brown dog runs along the beach with a ball in its mouth.')
    """
    file = CaptionFile.of_references(path, Reading(format, split, encoding, separator))
    return file.references(columns=columns_named(id_column, caption_column), image_ids=image_ids)


def read_candidates(
    path: PathLike,
    *,
    format: str | None = None,
    split: str | None = None,
    id_column: Names = None,
    caption_column: Names = None,
    image_ids: str = "text",
    on_duplicate: str = "error",
    encoding: str | None = None,
    separator: str | None = None,
) -> Captions:
    """Read the captions of one system: exactly one per image. Arguments and errors are those of `read_references`.

    `on_duplicate` is one of `ON_DUPLICATE`: what several candidates of an image mean.

    Raises:
        DataError: also when an image has several candidates or none.

    Examples:
        >>> candidates = sacrecap.data.read_candidates(sacrecap.example.system_path("careful"))
        >>> candidates.captions("beach-dog")
        ['a wet brown dog carries a tennis ball along the edge of the sea']
    """
    file = CaptionFile(path, Reading(format, split, encoding, separator))
    columns = columns_named(id_column, caption_column)
    return file.candidates(columns=columns, image_ids=image_ids, on_duplicate=on_duplicate)


def read_caption_sets(
    path: PathLike,
    *,
    format: str | None = None,
    split: str | None = None,
    id_column: Names = None,
    caption_column: Names = None,
    image_ids: str = "text",
    encoding: str | None = None,
    separator: str | None = None,
) -> Captions:
    """Read several captions per image by one system. Arguments, errors and warnings as `read_references`."""
    file = CaptionFile(path, Reading(format, split, encoding, separator))
    return file.sets(columns=columns_named(id_column, caption_column), image_ids=image_ids)


def read_both(
    path: PathLike,
    *,
    format: str | None = None,
    id_column: Names = None,
    caption_column: Names = None,
    references_column: Names = None,
    image_ids: str = "text",
    on_duplicate: str = "error",
    encoding: str | None = None,
    separator: str | None = None,
) -> tuple[Captions, Captions]:
    """Read references and one system's captions from one file. Arguments and errors are those of `read_candidates`.

    `caption_column` is the column of the system's captions, `references_column` names those of the references.

    Returns:
        The references and the candidates.

    Raises:
        UsageError: also when only one of the two is recognised in the file.
    """
    file = CaptionFile(path, Reading(format, None, encoding, separator))
    columns = columns_named(id_column, caption_column, references_column)
    file.check_holds_both(columns)
    candidates = file.candidates(columns=columns, image_ids=image_ids, on_duplicate=on_duplicate)
    return file.references(columns=columns, image_ids=image_ids), candidates


def known_only(candidates: Captions, references: Captions) -> Captions:
    """The candidates of images that have references; all of them if no image has any, so that an error can say why."""
    extra = [image for image in candidates.image_ids if image not in references]
    if not extra or len(extra) == candidates.image_count:
        return candidates
    return without(candidates, extra)


def without(captions: Captions, images: Iterable[str]) -> Captions:
    """The captions of the other images. Images that it does not have are ignored."""
    left_out = {*images} & {*captions.image_ids}
    if not left_out:
        return captions
    kept = {image: texts for image, texts in captions.to_dict().items() if image not in left_out}
    return _as_before(Captions.from_dict(kept), captions)


def united(every: Sequence[Captions]) -> Captions:
    """The captions of several files: of each image those of the first file, then those of the next."""
    first, *others = every
    if not others:
        return first
    found = {image: [*texts] for image, texts in first.to_dict().items()}
    for captions in others:
        for image, texts in captions.to_dict().items():
            found.setdefault(image, []).extend(texts)
    return _as_before(Captions.from_dict(found), first)


def unknown_format(given: str) -> str:
    """What is wrong with a format that is none, and what to do."""
    return (
        f"no caption format is called {given!r}; rows of data sets and harnesses are recognised by their columns: "
        f"leave the format out, or say rows; the others are {', '.join(name for name in FORMATS if name != 'rows')}"
    )


class Looks(NamedTuple):
    """What is seen of a file."""

    format: str
    columns: tuple[str, ...]
    """Those of its rows, if it has any."""
    rows: int | None
    """How many there are; None for a file that is read without making rows of it."""
    holds_both: bool
    """Whether it has references and candidates."""


class CaptionFile:
    """A file of captions, read once: references, candidates, or both. Arguments as of `read_references`."""

    def __init__(self, path: PathLike, reading: Reading) -> None:
        if reading.format is not None and reading.format not in FORMATS:
            raise UsageError(unknown_format(reading.format))
        self.name = display_name(path)
        self.format, self.split, encoding, self.separator = reading
        self.skipped: set[str] = set()
        """Images that were left out because they have several candidates."""
        if names_several(path):
            from sacrecap.data.folder import contents_of

            self._data, self.split = contents_of(path, self.split, self.format)
        else:
            self._data = {self.name: read_bytes(path)}
        if encoding is not None:
            from sacrecap.data.recognise import is_binary

            self._data = {
                name: data if is_binary(data) else recoded(data, encoding, name) for name, data in self._data.items()
            }
        self.id_place = 0
        """Which of the columns that could be image ids is taken: see `id_columns`."""
        self._both = False
        if len(self._data) > 1 and self.format in CAPTION_FORMATS:
            raise UsageError(f"{self.name}: formats of several files are recognised; leave the format out")

    @classmethod
    def of_references(cls, path: PathLike, reading: Reading, progress: Progress | None = None) -> CaptionFile:
        """A file of references, or the test set of this name; `progress` is called while it is fetched."""
        if not isinstance(path, str) or path == "-" or os.path.exists(path):
            return cls(path, reading)
        from sacrecap.data.testsets import find, nearest

        try:
            return cls(find(path, progress) or path, reading)
        except DataError as error:
            near = nearest(path)
            if near is None or near == path:
                raise
            raise DataError(f"{error}; the test set is called {near}") from None

    def references(self, *, columns: NamedColumns | None = None, image_ids: str = "text") -> Captions:
        """The file's references."""
        captions = self.captions("references", columns=columns, image_ids=image_ids)
        _warn_if_candidates(self.name, captions, "references")
        return captions

    def candidates(
        self, *, columns: NamedColumns | None = None, image_ids: str = "text", on_duplicate: str = "error"
    ) -> Captions:
        """The file's candidates."""
        accepted_name("on_duplicate", on_duplicate, ON_DUPLICATE)
        captions = self.captions("candidates", columns=columns, image_ids=image_ids)
        counts = captions.caption_counts()
        if on_duplicate == "skip":
            several = [image for image, count in zip(captions.image_ids, counts, strict=True) if count > 1]
            self.skipped.update(several)
            captions = without(captions, several)
            counts = captions.caption_counts()
        elif on_duplicate != "error" and max(counts, default=0) > 1:
            place = 0 if on_duplicate == "first" else -1
            single = {image: [texts[place]] if texts else [] for image, texts in captions.to_dict().items()}
            captions = _as_before(Captions.from_dict(single), captions)
            counts = captions.caption_counts()
        if counts.count(1) < len(counts):
            raise DataError(f"{self.name}: {_not_one(captions, counts)}")
        return captions

    def sets(self, *, columns: NamedColumns | None = None, image_ids: str = "text") -> Captions:
        """The file's caption sets."""
        captions = self.captions("sets", columns=columns, image_ids=image_ids)
        _warn_if_candidates(self.name, captions, "caption sets")
        return captions

    def captions(self, part: str, *, columns: NamedColumns | None = None, image_ids: str = "text") -> Captions:
        """The captions of a part (`references`, `candidates`, `sets`), however many each image has."""
        accepted_name("image_ids", image_ids, IMAGE_IDS)
        try:
            found = self._captions(part) if columns is None and not self.id_place else self._of_columns(columns, part)
            found = divided(found, self.separator)
            if image_ids != "text":
                from sacrecap.data.image_ids import keyed

                found = keyed(found, image_ids)
            return found.named(self.name)
        except (DataError, UsageError) as error:
            raise type(error)(f"{self.name}: {error}{self._encoding_hint()}") from None

    def id_columns(self, columns: NamedColumns | None) -> tuple[str, ...]:
        """The columns that could be image ids, the best first; none where a format or a column of ids is named."""
        if self.format is not None or (columns is not None and columns.ids):
            return ()
        try:
            rows = self._contents.rows
        except DataError:
            return ()
        return () if rows is None else shape_of_columns(rows.names).ids

    def _encoding_hint(self) -> str:
        """What to do about a text that is not UTF-8."""
        from sacrecap.data.recognise import is_binary

        for data in self._data.values():
            try:
                data[:_BEGINNING].decode()
            except UnicodeDecodeError as error:
                if error.end < _BEGINNING and not is_binary(data):
                    python = option("encoding", "utf-16", "cp1252")
                    command = "auto(encoding=utf-16) or auto(encoding=cp1252) as its format"
                    return f", or name its encoding: {spelled(python=python, command=command)}"
        return ""

    def column(self, name: str, *, columns: NamedColumns | None = None, image_ids: str = "text") -> dict[str, Any]:
        """The first value of another column for each image, by image id; nothing if the file has no such column."""
        from sacrecap.data.cells import is_missing
        from sacrecap.data.image_ids import key

        try:
            rows = self._contents.rows_with(name)
        except DataError:
            return {}  # reading the captions reports what is wrong
        if rows is None:
            return {}
        shape = (columns or NamedColumns((), (), ())).within(rows.names)
        ids = next(iter(shape.ids[self.id_place :]), shape.image)
        values: dict[str, Any] = {}
        seen, every = 0, rows.of_any_values() if rows.of_any_values else rows
        for images, cells in every.batches([ids, name]) if ids is not None else ():
            numbers = range(seen + 1, (seen := seen + len(cells)) + 1)
            for image, cell in zip(numbers if ids == POSITION else whole_numbers(images), cells, strict=True):
                if cell != "" and not is_missing(cell, words=rows.is_text):
                    values.setdefault(key(str(image), image_ids) or str(image), cell)
        return values

    def looks(self, columns: NamedColumns | None = None) -> Looks:
        """What can be seen of the file before its captions are read. Raises `DataError` for one of no known format."""
        with naming(f"{self.name}: "):
            found = self._seen_as(columns)
            if found is None:
                layout = self._contents.layout
                names = self._contents.names if layout in ("list", "lines", "table") else ()
                return Looks(self.format or layout, tuple(names), None, holds_both=False)
            count = sum(len(batch[0]) for batch in found.rows.batches([found.rows.names[0]]))
            return Looks(found.name, tuple(found.rows.names), count, found.shape.holds_both)

    def check_holds_both(self, columns: NamedColumns | None) -> None:
        """Raises `UsageError` unless references and candidates are in different columns of the file."""
        self._both = True
        with naming(f"{self.name}: "):
            found = self._seen_as(columns)
            if found is None:
                self._captions("references")  # a broken file is told as such
        if found is None or not found.shape.holds_both:
            raise UsageError(
                f"{self.name}: is the only file, but not known to hold references and candidates both; "
                f"{self._lacks(found)}"
            )

    def _seen_as(self, columns: NamedColumns | None) -> Recognised | None:
        return self._recognised() if columns is None else self._with_columns(columns, "candidates")

    def _lacks(self, found: Recognised | None) -> str:
        """What one file of both parts lacks."""
        references = option("references_column")
        captions = option("caption_column", of="sacrecap.data.read_both")
        if found is None or not found.rows.names:
            return f"give references and candidates, or name the columns of this file by {references} and {captions}"
        shape = found.shape
        lacking = [
            keyword for own, keyword in ((shape.candidates, captions), (shape.references, references)) if not own
        ]
        return (
            f"it has the columns {some_columns(found.rows.names)}: name those of the two by "
            f"{' and '.join(lacking or (references, captions))}, or give references and candidates"
        )

    def _captions(self, part: str) -> Captions:
        """The captions in the format that is named or recognised."""
        data = next(iter(self._data.values()), b"")
        found = None
        if self.format is None and self.split is None and len(self._data) == 1:
            # To recognise such a file takes a quarter as long as to read it.
            found = Captions.usual_coco(data)
        recognised = self._recognised() if found is None else None
        if recognised is not None:
            return self._read(recognised, part)
        try:
            captions = found or Captions.parse(data, self.format, self.split)
        except (DataError, UsageError) as error:
            raise type(error)(self._native_error(error)) from None
        captions = with_lists(captions)
        if self.format in _TEXT_TABLES or (self.format is None and found is None and self._contents.layout == "table"):
            from sacrecap.data.cells import with_empty

            return with_empty(captions)
        return captions

    def _read(self, found: Recognised, part: str) -> Captions:
        """The captions of rows, by the first column of ids that holds some."""
        try:
            return found.shape.read(found.rows, part, self.split)
        except NoIdsError:
            if len(found.shape.ids) < 2:
                raise
            return self._read(found._replace(shape=replace(found.shape, ids=found.shape.ids[1:])), part)

    def _native_error(self, error: DataError | UsageError) -> str:
        from sacrecap.data.recognise import refusal_of

        if self.format is not None:
            return f"{error}; {name_columns()}" if self.format in _TEXT_TABLES else str(error)
        return refusal_of(error, self._contents)

    def _recognised(self) -> Recognised | None:
        """The shape that is named or recognised, and its rows; None for a file that the native reader reads."""
        if self.format in SHAPES:
            return self._contents.of_shape(self.format)
        if self.format in CAPTION_FORMATS:
            return None
        return self._contents.with_split() if self.split is not None else self._contents.recognised()

    @cached_property
    def _contents(self) -> Contents:
        from sacrecap.data.recognise import Contents

        if len(self._data) == 1:
            return Contents(next(iter(self._data.values())), self.format)
        return Contents.of_several(self._data)

    def _with_columns(self, named: NamedColumns, part: str) -> Recognised:
        """The columns that are named, completed by those that are known; and the rows."""
        rows = self._contents.rows
        if rows is None:
            raise NoColumnError("has no rows with columns; leave the options that name columns out for it")
        from sacrecap.data.recognise import Recognised

        return Recognised("columns", named.of_part(rows.names, part, both=self._both), rows)

    def _of_columns(self, named: NamedColumns | None, part: str) -> Captions:
        found = self._with_columns(named or NamedColumns((), (), ()), part)
        return self._read(found._replace(shape=replace(found.shape, ids=found.shape.ids[self.id_place :])), part)


def _as_before(captions: Captions, before: Captions) -> Captions:
    """The captions, with the source name of the captions before."""
    return captions if before.source is None else captions.named(before.source)


def _not_one(captions: Captions, counts: list[int]) -> str:
    """Explains why these captions are not candidates."""
    if min(counts) > 1:
        return (
            f"looks like a reference file: {_per_image(captions)} captions per image, where candidates have one; "
            "give references first and candidates second, or score several captions per image as caption sets"
        )
    several = [image for image, count in zip(captions.image_ids, counts, strict=True) if count > 1]
    if several:
        return (
            f"{_images(several)} more than one candidate: {first_of(several)}; keep one for each image, or choose "
            f"{option('on_duplicate', 'first', 'last', of='sacrecap.data.read_candidates')}"
        )
    none = [image for image, count in zip(captions.image_ids, counts, strict=True) if count == 0]
    return f"{_images(none)} an empty list of candidates: {first_of(none)}; give one for each image"


def _warn_if_candidates(name: str, captions: Captions, part: str) -> None:
    """Warn when a file that should have several captions per image has exactly one for each."""
    if captions.image_count > 1 and set(captions.caption_counts()) == {1}:
        warn(f"{name}: looks like a candidate file: one caption per image; taken as {part}", DataWarning)


def _per_image(captions: Captions) -> str:
    """``5``, or ``about 5.1`` when not all images have as many."""
    mean = captions.caption_count / captions.image_count
    return f"{mean:.0f}" if len(set(captions.caption_counts())) == 1 else f"about {mean:.3g}"


def _images(images: list[str]) -> str:
    return "1 image has" if len(images) == 1 else f"{len(images)} images have"
