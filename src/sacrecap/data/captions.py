"""Caption files by their part: references, candidates, caption sets."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap._core import Captions, CaptionsBuilder
from sacrecap.choices import IMAGE_IDS, ON_DUPLICATE
from sacrecap.data import shapes
from sacrecap.data.cells import divided, is_missing, unwritten
from sacrecap.data.image_ids import key, keyed
from sacrecap.data.shapes import NamedColumns, Names, NoColumnError, Shape, columns_named, shape_of_columns
from sacrecap.data.source import PathLike, Reading, content_of, display_name, names_several, reading
from sacrecap.data.unpack import Content, is_binary
from sacrecap.errors import DataError, DataWarning, UsageError, accepted_name, first_of, nearest, option, spelled, warn

if TYPE_CHECKING:
    from sacrecap.data.recognise import Recognised
    from sacrecap.data.rows import Rows
    from sacrecap.data.testsets import Progress

FORMATS = tuple(shapes.SHAPES)
"""Names of the formats that can be read, for options such as ``--reference-format``."""

_USUAL = ("coco", "list", "mapping", "jsonl")
"""Shapes that the native reader reads."""
_OF_IMAGES = ("coco", "karpathy", "mapping", "flickr")
"""Shapes of images rather than rows."""
_FEW = 64
"""Keys of an object that may be names, and no ids."""


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
        format: one of `FORMATS`; recognised from the content when not given. As in the command, it may have parameters:
            ``"csv(encoding=cp1252)"``.
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
    file = CaptionFile.of_references(path, Reading.of(format, split, encoding, separator))
    return file.captions("references", columns=columns_named(id_column, caption_column), image_ids=image_ids)


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
    file = CaptionFile(path, Reading.of(format, split, encoding, separator))
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
    file = CaptionFile(path, Reading.of(format, split, encoding, separator))
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
    file = CaptionFile(path, Reading.of(format, None, encoding, separator))
    columns = columns_named(id_column, caption_column, references_column)
    file.check_holds_both(columns)
    candidates = file.candidates(columns=columns, image_ids=image_ids, on_duplicate=on_duplicate)
    return file.captions("references", columns=columns, image_ids=image_ids), candidates


def read_data(data: bytes, part: str, name: str) -> Captions:
    """The captions in the bytes of a file, as `CaptionFile.captions`; `name` is the file's in messages, or empty."""
    return CaptionFile(name, Reading(), contents={name: Content(name, data)}).captions(part)


def unknown_format(unknown: str) -> str:
    """What is wrong with a format that is none, and what to do."""
    return (
        f"no caption format is called {unknown!r}; rows of data sets and harnesses are recognised by their columns: "
        f"leave the format out, or say rows; the others are {', '.join(name for name in FORMATS if name != 'rows')}"
    )


class Looks(NamedTuple):
    """What is seen of a file."""

    format: str
    columns: tuple[str, ...]
    rows: int | None
    """How many there are; None for a file of images rather than rows."""
    holds_both: bool


class CaptionFile:
    """A file of captions: references, candidates, or both.

    Its bytes are `held`, read once, or it is opened each time, and `pieces` reads it piece by piece where its format
    allows that. `contents`: what is in its files, by their names, if that is there already.
    """

    def __init__(
        self, path: PathLike, reading: Reading, *, held: bool = True, contents: Mapping[str, Content] | None = None
    ) -> None:
        if reading.format is not None and reading.format not in FORMATS:
            raise UsageError(unknown_format(reading.format))
        if contents is None and names_several(path):
            from sacrecap.data.captioned import contents_of

            contents, split = contents_of(path, reading.split, reading.format, held=held)
            reading = reading._replace(split=split)
        elif contents is None:
            contents = {display_name(path): content_of(path, held=held)}
        self.name = display_name(path)
        self.format, self.split, encoding, self.separator, self.rejected = reading
        if encoding is not None:
            contents = {name: content.recoded(encoding) for name, content in contents.items()}
        self._contents = contents
        self.skipped: set[str] = set()
        """Images that were left out because they have several candidates."""
        self.id_place = 0
        """Which of the columns that could be image ids is taken: see `id_columns`."""
        self.excluded = 0
        """How many captions that the data set itself excludes were left out of the pieces."""
        self._both = self._has_told = False

    @classmethod
    def of_references(cls, path: PathLike, reading: Reading, progress: Progress | None = None) -> CaptionFile:
        """A file of references, or the test set of this name; `progress` is called while it is fetched."""
        if not isinstance(path, str) or path == "-" or os.path.exists(path):
            return cls(path, reading)
        from sacrecap.data.testsets import NEAR, TEST_SETS, find

        try:
            return cls(find(path, progress) or path, reading)
        except DataError as error:
            near = nearest(path, TEST_SETS, cutoff=NEAR)
            if near in ([], [path]):
                raise
            raise DataError(f"{error}; the test set is called {near[0]}") from None

    def candidates(
        self, *, columns: NamedColumns | None = None, image_ids: str = "text", on_duplicate: str = "error"
    ) -> Captions:
        """The file's candidates."""
        accepted_name("on_duplicate", on_duplicate, ON_DUPLICATE)
        captions = self.captions("candidates", columns=columns, image_ids=image_ids)
        counts = captions.caption_counts()
        if max(counts, default=0) <= 1:
            return captions
        by_image = captions.to_dict()
        if len(self._contents) > 1:  # the ranks of a distributed evaluation repeat images to have as many each
            by_image = {image: [*dict.fromkeys(texts)] for image, texts in by_image.items()}
        if on_duplicate == "skip":
            self.skipped.update(image for image, texts in by_image.items() if len(texts) > 1)
            by_image = {image: texts for image, texts in by_image.items() if len(texts) <= 1}
        elif on_duplicate != "error":
            part = slice(1) if on_duplicate == "first" else slice(-1, None)
            by_image = {image: texts[part] for image, texts in by_image.items()}
        several = [image for image, texts in by_image.items() if len(texts) > 1]
        if several and len(several) == len(by_image):
            counts = [len(texts) for texts in by_image.values()]
            mean = sum(counts) / len(counts)
            each = f"{mean:.0f}" if len({*counts}) == 1 else f"about {mean:.3g}"
            raise DataError(
                f"{self.name}: looks like a reference file: {each} captions per image, where candidates have one; "
                "give references first and candidates second, or score several captions per image as caption sets"
            )
        if several:
            raise DataError(f"{self.name}: {several_candidates(several)}")
        return captions.with_texts(by_image)

    def sets(self, *, columns: NamedColumns | None = None, image_ids: str = "text") -> Captions:
        """The file's caption sets."""
        captions = self.captions("sets", columns=columns, image_ids=image_ids)
        if captions.image_count > 1 and {*captions.caption_counts()} == {1}:
            warn(f"{self.name}: looks like a candidate file: one caption per image; taken as caption sets", DataWarning)
        return captions

    def captions(self, part: str, *, columns: NamedColumns | None = None, image_ids: str = "text") -> Captions:
        """The captions of a part (`references`, `candidates`, `sets`), however many each image has."""
        accepted_name("image_ids", image_ids, IMAGE_IDS)
        with self._reading():
            usual = columns is None and not self.id_place and self.split is None
            captions = self._usual() if usual else None
            left_out: list[str] | None = None if self.rejected == "keep" else []
            if captions is None:
                rows, shape = self._of_columns(columns, part)
                captions = shape.read(rows, part, self.split, left_out)
                self._tell(left_out)
            captions = keyed(divided(unwritten(captions), self.separator), image_ids)
            if not (self._both and part == "references"):  # the same rows hold the candidates
                captions = captions.leaving_out("excluded annotation", len(left_out or ()))
            return captions.named(self.name) if self.name else captions

    def pieces(self, parts: Sequence[str], count: int, columns: NamedColumns | None) -> Iterator[list[Captions]]:
        """The captions of these parts, `count` rows at a time; an image may come again, a missing caption is empty.

        Files are read piece by piece as `is_in_pieces` says, others whole.
        """
        with self._reading():
            rows, shape = self._of_columns(columns, parts[0])
            left_out: list[str] | None = None if self.rejected == "keep" else []
            first = 1
            for ids, *cells in _of_length(shape.batches(rows, parts, self.split, left_out), count):
                piece = []
                for values in cells:
                    builder = CaptionsBuilder(first)
                    builder.extend(ids, values)
                    piece.append(divided(unwritten(builder.finish()), self.separator).named(self.name))
                yield piece
                first += len(ids)
            self.excluded = len(left_out or ())
            self._tell(left_out)

    @property
    def is_in_pieces(self) -> bool:
        """Whether `pieces` reads the file piece by piece."""
        with self._reading():
            return self._recognised.document is None and self._recognised.name in ("rows", "jsonl", "pairs", "text")

    def id_columns(self, columns: NamedColumns | None) -> tuple[str, ...]:
        """The columns that could be image ids, the best first; none where a format or a column of ids is named."""
        if self.format is not None or (columns is not None and columns.ids):
            return ()
        try:
            return shape_of_columns(self._recognised.every.names).ids
        except DataError:
            return ()

    def column(self, name: str, *, columns: NamedColumns | None = None, image_ids: str = "text") -> dict[str, Any]:
        """The first value of another column for each image, by image id; nothing if the file has no such column."""
        try:
            file = self._recognised
            rows = file.every
        except DataError:
            return {}  # reading the captions reports what is wrong
        if file.name == "coco" and name not in rows.names:
            from sacrecap.data.rows import of_records

            rows = of_records([{**image, "image_id": image.get("id")} for image in file.document.get("images") or []])
        if name not in rows.names:
            return {}
        shape = (columns or NamedColumns()).within(rows.names)
        ids = next(iter(shape.ids[self.id_place :]), shape.image)
        values: dict[str, Any] = {}
        seen = 0
        for images, cells in rows.batches([ids, name]) if ids is not None else ():
            numbers = range(seen + 1, seen + len(cells) + 1)
            seen += len(cells)
            named = numbers if ids == shapes.POSITION else shapes.whole_numbers(images)
            for image, cell in zip(named, cells, strict=True):
                if cell != "" and not is_missing(cell, words=rows.is_text):
                    values.setdefault(key(str(image), image_ids) or str(image), cell)
        return values

    def looks(self, columns: NamedColumns | None = None) -> Looks:
        """What can be seen of the file before its captions are read. Raises `DataError` for one of no known format."""
        with self._reading():
            file = self._recognised
            if columns is None and file.name in _OF_IMAGES:
                return Looks(file.name, (), None, holds_both=False)
            rows, shape = self._of_columns(columns, "candidates")
            count = sum(len(batch[0]) for batch in rows.batches([rows.names[0]]))
            return Looks(file.name if columns is None else "columns", tuple(rows.names), count, shape.holds_both)

    def check_holds_both(self, columns: NamedColumns | None) -> None:
        """Raises `UsageError` unless references and candidates are in different columns of the file."""
        self._both = True
        with self._reading():
            rows, shape = self._of_columns(columns, "candidates")
        if shape.holds_both:
            return
        references, captions = option("references_column"), option("caption_column", of="sacrecap.data.read_both")
        families = ((shape.kinds["candidates"], captions), (shape.kinds["references"], references))
        lacking = [keyword for known, keyword in families if not known] or [references, captions]
        remedy = (
            f"it has the columns {shapes.some_columns(rows.names)}: name those of the two by {' and '.join(lacking)}, "
            "or give references and candidates"
        )
        if not rows.names or self._recognised.name in _OF_IMAGES:
            remedy = f"give references and candidates, or name the columns of this file by {references} and {captions}"
        alone = option("metrics", "clipscore", "vifidel(references=no)", "fluency(references=no)")
        raise UsageError(
            f"{self.name}: is the only file, but not known to hold references and candidates both; {remedy}; captions "
            f"alone are scored by {alone} and their kind"
        )

    @cached_property
    def _recognised(self) -> Recognised:
        from sacrecap.data.recognise import of_several, recognised

        if len(self._contents) == 1:
            return recognised(next(iter(self._contents.values())), self.format)
        return of_several(self._contents, self.format)

    def _usual(self) -> Captions | None:
        """The captions of a file that is one of the usual, read at once; None for any other."""
        if len(self._contents) > 1 or self.format not in (None, *_USUAL):
            return None
        content = next(iter(self._contents.values()))
        begins = content.start.removeprefix(b"\xef\xbb\xbf")[:_FEW].lstrip()[:1]
        read = Captions.usual(content.read()) if begins in (b"{", b"[") else None
        if read is None or self.format not in (None, read[1]):
            return None
        captions, shape, names = read
        if shape == "mapping":
            images = captions.image_ids if captions.image_count <= _FEW and self.format is None else []
            return None if shape_of_columns(images).is_known or shapes.is_envelope(images) else captions
        is_plain = not names or shape == "coco" or shapes.is_plain(shape_of_columns(names))
        return captions if is_plain and not any(map(shapes.excludes, names)) else None

    def _of_columns(self, named: NamedColumns | None, part: str) -> tuple[Rows, Shape]:
        """The rows, and their columns: those that are named, completed by those that are known."""
        file = self._recognised
        if named is None and not self.id_place:
            if file.problem:
                raise DataError(file.problem)
            return file.rows, file.shape
        rows = file.every
        if file.name in _OF_IMAGES[2:] and rows is file.rows and named is not None:
            raise NoColumnError("has no rows with columns; leave the options that name columns out for it")
        shape = (named or NamedColumns()).within(rows.names, part, both=self._both)
        return rows, replace(shape, ids=shape.ids[self.id_place :])

    def _tell(self, left_out: list[str] | None) -> None:
        """Warns, once, of captions that the data set itself excludes."""
        if left_out and not self._has_told:
            self._has_told = True
            choice = spelled(python="format='auto(rejected=keep)'", command="the format 'auto(rejected=keep)'")
            what = "1 caption is" if len(left_out) == 1 else f"{len(left_out):,} captions are"
            warn(
                f"{self.name}: {what} marked is_rejected or is_precanned by the data set itself (image "
                f"{first_of([*dict.fromkeys(left_out)])}), and left out; {choice} keeps them",
                DataWarning,
            )

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Names the file in errors."""
        try:
            yield
        except (OSError, MemoryError):  # no other error: a fault of ours is not the file's
            with reading(self.name):
                raise
        except (DataError, UsageError) as error:
            where = f"{self.name}: " if self.name else ""
            message = str(error).removeprefix(where)  # what is unpacked while it is read names the file already
            hint = ""
            if not all(content.is_utf8() or is_binary(content.start) for content in self._contents.values()):
                python = option("encoding", "utf-16", "cp1252")
                command = "auto(encoding=utf-16) or auto(encoding=cp1252) as its format"
                hint = f", or name its encoding: {spelled(python=python, command=command)}"
            raise type(error)(f"{where}{message}{hint}") from None


def _of_length(batches: Iterable[list[list[Any]]], count: int) -> Iterator[list[list[Any]]]:
    """The same columns, in batches of so many rows."""
    columns: list[list[Any]] = []
    for batch in batches:
        columns = [[*before, *more] for before, more in zip(columns, batch, strict=True)] if columns else batch
        while len(columns[0]) >= count:
            yield [column[:count] for column in columns]
            columns = [column[count:] for column in columns]
    if columns and columns[0]:
        yield columns


def several_candidates(images: Sequence[str]) -> str:
    """Which images have more than one candidate, and what to do."""
    have = "1 image has" if len(images) == 1 else f"{len(images)} images have"
    return (
        f"{have} more than one candidate: {first_of(images)}; keep one for each image, or choose "
        f"{option('on_duplicate', 'first', 'last', of='sacrecap.data.read_candidates')}"
    )
