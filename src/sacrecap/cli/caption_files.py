"""The files of captions that a command takes: the options that say how to read them, and the reading."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from sacrecap.choices import IMAGE_IDS, ON_DUPLICATE, ON_EXTRA
from sacrecap.cli.interruptible import stage
from sacrecap.data import FORMATS
from sacrecap.data.captions import CaptionFile, NoColumnError, columns_named, known_only, without
from sacrecap.errors import DataError, UsageError

if TYPE_CHECKING:
    from sacrecap._core import Captions
    from sacrecap.engines import EngineOptions
    from sacrecap.resources.needs import Needs

F = TypeVar("F", bound=Callable[..., Any])


class CaptionFiles:
    """What the options say about the files of captions; each value is that of its option.

    `captions_format` is the format of the other files: of candidates, or of caption sets.
    """

    def __init__(
        self,
        *,
        reference_format: str | None = None,
        captions_format: str | None = None,
        split: str | None = None,
        id_column: tuple[str, ...] = (),
        caption_column: tuple[str, ...] = (),
        references_column: tuple[str, ...] = (),
        image_ids: str = "text",
        on_extra: str = "error",
        on_duplicate: str = "error",
        images: str | None = None,
    ) -> None:
        self.reference_format, self.captions_format, self.split = reference_format, captions_format, split
        self.columns = columns_named(id_column, caption_column, references_column)
        self._named = id_column, caption_column, references_column
        self.image_ids, self.on_extra, self.on_duplicate = image_ids, on_extra, on_duplicate
        self._skipped: set[str] = set()
        self._image_column = images if images is not None and _may_be_a_column(images) else None
        self._images: dict[str, Any] = {}
        self._folder = ""

    def of_systems(self, references: str, systems: Mapping[str, str]) -> tuple[Captions, dict[str, Captions]]:
        """Reads the references, and each system's candidates by its name."""
        # Candidates first: if two files are swapped, only the error appears, without a warning before it.
        candidates = [("candidates", file) for file in systems.values()]
        *found, described = self.read([*candidates, ("references", references)])
        if self.on_extra == "skip":
            found = [known_only(captions, described) for captions in found]
        return without(described, self._skipped), dict(zip(systems, found, strict=True))

    def both(self, path: str) -> tuple[Captions, Captions]:
        """References and candidates of one file."""
        file, columns = self._open("references", path), self.columns
        self._take_images(file, path)
        file.check_holds_both(columns)
        candidates = file.candidates(columns=columns, image_ids=self.image_ids, on_duplicate=self.on_duplicate)
        return without(file.references(columns=columns, image_ids=self.image_ids), file.skipped), candidates

    def for_engine(self, engine: EngineOptions) -> EngineOptions:
        """The engine's options with the columns that are named, of which an engine takes one for ids and references.

        Raises `UsageError` for options about files that engines do not read that way.
        """
        ids, captions, references = self._named
        for option, names in (("--id-column", ids), ("--references-column", references)):
            if len(names) > 1:
                raise UsageError(f"{option} may be repeated with --engine local only; name one column")
        given = {
            "--reference-format": self.reference_format,
            "--candidate-format": self.captions_format,
            "--split": self.split,
            "--image-ids": None if self.image_ids == "text" else self.image_ids,
            "--on-extra": None if self.on_extra == "error" else self.on_extra,
            "--on-duplicate": None if self.on_duplicate == "error" else self.on_duplicate,
        }
        for option, value in given.items():
            if value is not None:
                raise UsageError(
                    f"{option} is for --engine local; {engine.name} reads rows of Parquet, Arrow, JSON lines or CSV"
                )
        return replace(
            engine,
            id_column=ids[0] if ids else engine.id_column,
            references_column=references[0] if references else engine.references_column,
            caption_columns=captions,
        )

    def with_images(self, needs: Needs) -> Needs:
        """The needs; if --images names a column of the files that were read, with the values of that column.

        Raises `DataError` if no file has that column.
        """
        if self._image_column is None:
            return needs
        if not self._images:
            raise DataError(
                f"{self._image_column}: there is no such folder or tar file, and no file of captions has a column of "
                "that name; give --images a folder, a tar file, a pattern such as photos/{image_id}.jpg, or a "
                "column that names each image's file"
            )
        from sacrecap.data.images import ByImage

        description = f"the column {self._image_column}"
        return needs.with_({"images": ByImage(self._images, description, self._folder)})

    def references(self, path: str) -> Captions:
        """References of a file."""
        return self.read([("references", path)])[0]

    def read(self, wanted: Iterable[tuple[str, str]]) -> list[Captions]:
        """The captions of files, each with its part: `references`, `candidates`, `sets` or `captions`.

        A file without the named columns is read as if no column was named; but at least one file must have them.
        """
        found: dict[int, Captions] = {}
        lacking: dict[int, tuple[str, CaptionFile, NoColumnError]] = {}
        for place, (part, path) in enumerate(wanted):
            file = self._open(part, path)
            self._take_images(file, path)
            try:
                found[place] = self._read(part, file, self.columns)
            except NoColumnError as error:
                lacking[place] = part, file, error
        if lacking and not found:
            raise lacking[0][2]
        found |= {place: self._read(part, file) for place, (part, file, _) in lacking.items()}
        return [found[place] for place in sorted(found)]

    def _open(self, part: str, path: str) -> CaptionFile:
        if part == "references":
            return CaptionFile.of_references(path, format=self.reference_format, split=self.split, progress=_show)
        return CaptionFile(path, format=self.captions_format, split=self.split if part == "captions" else None)

    def _take_images(self, file: CaptionFile, path: str) -> None:
        """Takes the images that the file names, if it has their column and no earlier file had it."""
        if self._image_column is not None and not self._images:
            self._images = file.column(self._image_column, columns=self.columns, image_ids=self.image_ids)
            self._folder = os.path.dirname(path)

    def _read(self, part: str, file: CaptionFile, columns: Any = None) -> Captions:
        if part == "candidates":
            captions = file.candidates(columns=columns, image_ids=self.image_ids, on_duplicate=self.on_duplicate)
            self._skipped |= file.skipped
            return captions
        if part == "captions":
            return file.captions("sets", columns=columns, image_ids=self.image_ids)
        read = file.references if part == "references" else file.sets
        return read(columns=columns, image_ids=self.image_ids)


_OPTIONS = tuple(name for name in CaptionFiles.__init__.__annotations__ if name != "images")


def _may_be_a_column(images: str) -> bool:
    """Whether --images names neither a file nor a pattern."""
    return not (os.path.exists(images) or "{" in images or "://" in images or os.sep in images)


def _show(name: str, done: int, all_: int) -> None:
    from sacrecap.cli.testsets import show

    show(name, done, all_)
    if done == all_:
        stage.text = "reading"


def caption_files(*, references: bool = True, captions: str | None = None) -> Callable[[F], F]:
    """Options about files of captions, given to the command as one `files`.

    Args:
        references: whether the command reads references.
        captions: what else it reads: `candidate`, `set` or `caption`, as the option of their format is called.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def with_files(*arguments: Any, **values: Any) -> Any:
            own = {name: values.pop(name) for name in _OPTIONS if name in values}
            if captions is not None:
                own["captions_format"] = values.pop(f"{captions}_format")
            needs: Needs | None = values.get("needs")
            images = None if needs is None else needs.get("images")
            return function(*arguments, files=CaptionFiles(**own, images=images), **values)

        for option in reversed(tuple(_options(references, captions))):
            with_files = option(with_files)
        return cast("F", with_files)

    return decorate


def _options(references: bool, captions: str | None) -> Iterable[Callable[[F], F]]:
    for name in (*(("reference",) if references else ()), *((captions,) if captions else ())):
        yield click.option(
            f"--{name}-format",
            type=click.Choice(FORMATS),
            metavar="FORMAT",
            help="coco, csv, msrvtt, text, …; by default recognised from content; an unknown word lists all formats.",
        )
    yield click.option("--split", metavar="NAME", help="Split of a file or folder that has splits, such as test.")
    yield click.option(
        "--id-column",
        multiple=True,
        metavar="NAME",
        help="Column or key of the image ids; may be repeated: the first one that a file has counts.",
    )
    yield click.option(
        "--caption-column",
        multiple=True,
        metavar="NAME",
        help="Column or key of the captions, or a pattern such as caption_*; may be repeated.",
    )
    if references and captions:
        yield click.option(
            "--references-column",
            multiple=True,
            metavar="NAME",
            help="Column of the references, if its name is not that of the captions' column; may be repeated.",
        )
    yield click.option(
        "--image-ids",
        type=click.Choice(IMAGE_IDS),
        default="text",
        show_default=True,
        help="Which part of image ids to compare between files: all; the file name's stem; the last number in that.",
    )
    if captions == "candidate":
        yield click.option(
            "--on-extra",
            type=click.Choice(ON_EXTRA),
            default="error",
            show_default=True,
            help="What to do with a candidate of an image without references: report an error, or leave it out.",
        )
        yield click.option(
            "--on-duplicate",
            type=click.Choice(ON_DUPLICATE),
            default="error",
            show_default=True,
            help="What several candidates of one image mean: an error, take the first or the last, or leave the image "
            "out.",
        )
