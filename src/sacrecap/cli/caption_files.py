"""The files of captions that a command takes: the options that say how to read them, and the reading."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import click

from sacrecap.choices import IMAGE_IDS, ON_DUPLICATE, ON_EXTRA, ON_MISSING, OnMissing, Tokenizer
from sacrecap.cli.group import Value, declared
from sacrecap.cli.interruptible import stage
from sacrecap.cli.options import TOKENIZER, show_fetched
from sacrecap.corpus.sets import of_known_images, united_captions, without_images
from sacrecap.data import FORMATS
from sacrecap.data.captions import CaptionFile, unknown_format
from sacrecap.data.cells import without_empty
from sacrecap.data.shapes import NoColumnError, NoIdsError, columns_named
from sacrecap.data.source import AUTO, Reading, content_of, display_name
from sacrecap.errors import DataError, UsageError

if TYPE_CHECKING:
    from sacrecap._core import Captions
    from sacrecap.data.unpack import Content
    from sacrecap.engines.sources import RowsOfFile
    from sacrecap.resources.needs import Needs


@dataclass(eq=False, repr=False)
class CaptionFiles:
    """What the options say about the files of captions; each value is that of its option.

    `captions_format` is the format of the other files: of candidates, or of caption sets.
    """

    reference_format: str = AUTO
    captions_format: str = AUTO
    split: str | None = None
    id_column: tuple[str, ...] = ()
    caption_column: tuple[str, ...] = ()
    references_column: tuple[str, ...] = ()
    image_ids: str = "text"
    add_references: tuple[str, ...] = ()
    by: str | None = None
    on_extra: str = "error"
    on_duplicate: str = "error"
    tokenizer: Tokenizer = "ptb"
    on_missing: OnMissing = "error"

    def __post_init__(self) -> None:
        self.of_references, self.of_captions = map(Reading.of, (self.reference_format, self.captions_format))
        self.columns = columns_named(self.id_column, self.caption_column, self.references_column)
        self._skipped: set[str] = set()
        self._image_column: str | None = None
        self._files_of_columns: dict[str, tuple[CaptionFile, str]] = {}
        self._stdin: Content | None = None

    @property
    def scored_as(self) -> dict[str, Any]:
        """Keywords of what scores the captions."""
        return {"tokenizer": self.tokenizer, "on_missing": self.on_missing}

    def of_system(self, references: str, candidates: str | None, needs: Needs) -> tuple[Captions, Captions, Needs]:
        """Reads the references and one system's candidates, from one file where only one is named.

        Returns also the needs, which have the images if --images names a column of the files.
        """
        if candidates is not None:
            described, systems, needs = self.of_systems(references, {candidates: candidates}, needs)
            return cast("Captions", described), systems[candidates], needs
        if self.add_references:
            raise UsageError("--add-references is for references beside a file of candidates; name that, too")
        self._begin(needs)
        file = self.open("references", references)
        self._take_columns(file, references)
        file.check_holds_both(self.columns)
        captions = self._read("candidates", file, self.columns)
        described, [captions] = self._fitting(self._read("references", file, self.columns), [captions])
        return described, captions, self._with_images(needs, described)

    def of_systems(
        self, references: str | None, systems: Mapping[str, str], needs: Needs, part: str = "candidates"
    ) -> tuple[Captions | None, dict[str, Captions], Needs]:
        """The same of several systems, by their names: with references or without, single captions or `sets`."""
        self._begin(needs)
        if references is None:
            read = self.read(("alone" if part == "sets" else part, file) for file in systems.values())
            if part == "candidates" and self.on_extra == "skip":
                read = [of_known_images(captions, read[0]) for captions in read]
            return None, dict(zip(systems, read, strict=True)), self._with_images(needs, read[0])
        # Candidates first: if two files are swapped, only the error appears, without a warning before it.
        candidates = [(part, file) for file in systems.values()]
        added = [("added", file) for file in self.add_references]
        read = self.read([*candidates, *added, ("references", references)])
        of_systems, of_references = read[: len(systems)], [read[-1], *read[len(systems) : -1]]
        if added:
            of_references = [without_empty(captions, captions.source or references) for captions in of_references]
        described, of_systems = self._fitting(united_captions(of_references), of_systems)
        images = described if part == "candidates" else of_systems[0]
        return described, dict(zip(systems, of_systems, strict=True)), self._with_images(needs, images)

    def _fitting(self, described: Captions, systems: list[Captions]) -> tuple[Captions, list[Captions]]:
        """References and captions of systems, without what --on-extra and --on-duplicate leave out."""
        if self.on_extra == "skip":
            described = without_empty(described, described.source or "the references")
            counts = zip(described.image_ids, described.caption_counts(), strict=True)
            described = without_images(described, [image for image, count in counts if not count])
            systems = [of_known_images(captions, described) for captions in systems]
        return _without_several(self._skipped, described, systems)

    def has_references(self, path: str, *, several: bool = False) -> bool:
        """Whether a file has references beside captions; `several`: or several captions of an image in their place."""
        stage.text = "reading"
        try:
            if self.open("candidates", path).looks(self.columns).holds_both:
                return True
            return several and max(self.read([("captions", path)])[0].caption_counts(), default=0) > 1
        except DataError:
            return True  # reading both says what is wrong

    def in_pieces(self, path: str) -> RowsOfFile | None:
        """The rows of a file that holds both, for an engine to read piece by piece; None if it is to be read whole."""
        if (
            path == "-"
            or self.add_references
            or self.image_ids != "text"
            or {self.on_duplicate, self.on_extra} != {"error"}
        ):
            return None
        stage.text = "reading"
        if self.by is not None:
            self._take_columns(self.open("references", path), path)
        from sacrecap.engines.sources import RowsOfFile

        reading = self.of_references._replace(split=self.split)
        return RowsOfFile.of(path, reading, self.columns, on_missing=self.on_missing)

    def of_columns(self, path: str) -> tuple[Captions, dict[str, Captions]]:
        """References of a file of rows, and the captions in each --caption-column, which are a system's each."""
        stage.text = "reading"
        file = self.open("references", path)
        self._take_columns(file, path)
        systems, described = {}, None
        for name in self.caption_column:
            columns = columns_named(self.id_column, (name,), self.references_column)
            file.check_holds_both(columns)
            systems[name] = file.candidates(columns=columns, image_ids=self.image_ids, on_duplicate=self.on_duplicate)
            described = described or file.captions("references", columns=columns, image_ids=self.image_ids)
        if described is None:
            raise UsageError(
                "no system was given; name their files after the references, or, of one file of rows that has all, the "
                "columns of two systems at least: --caption-column NAME --caption-column NAME"
            )
        described, candidates = _without_several(file.skipped, described, [*systems.values()])
        return described, dict(zip(systems, candidates, strict=True))

    def _begin(self, needs: Needs) -> None:
        """Before files are read: --images may name a column of theirs."""
        stage.text = "reading"
        images = needs.get("images")
        is_place = images is None or any(sign in images for sign in ("{", "://", os.sep)) or os.path.exists(images)
        self._image_column = None if is_place else images

    def _with_images(self, needs: Needs, captions: Captions) -> Needs:
        """The needs; if --images names a column of the files that were read, with its values. Raises `DataError`
        without it.
        """
        if self._image_column is None:
            return needs
        if self._image_column not in self._files_of_columns:
            raise DataError(
                f"{self._image_column}: there is no such folder or tar file, and no file of captions has a column of "
                "that name; give --images a folder, a tar file, a pattern such as photos/{image_id}.jpg, or a "
                "column that names each image's file"
            )
        from sacrecap.data.images import ByImage

        images = self.values_of_column(self._image_column, captions.image_ids)
        folder = self._files_of_columns[self._image_column][1]
        return needs.with_({"images": ByImage(images, f"the column {self._image_column}", folder)})

    def read(self, parts: Iterable[tuple[str, str]]) -> list[Captions]:
        """The captions of files, each with its part: `references`, `added` ones, `candidates`, `sets` or `captions`.

        A file without the named columns is read as if no column was named; but at least one file must have them.
        """
        by_place: dict[int, Captions] = {}
        files: list[tuple[str, CaptionFile]] = []
        lacking: dict[int, NoColumnError] = {}
        for place, (part, path) in enumerate(parts):
            file = self.open(part, path)
            files.append((part, file))
            self._take_columns(file, path)
            try:
                by_place[place] = self._read(part, file, self.columns)
            except NoColumnError as error:
                lacking[place] = error
        if lacking and not by_place:
            # A file that has the column, with pictures in it, is what was meant.
            raise next((error for error in lacking.values() if isinstance(error, NoIdsError)), lacking[0])
        by_place |= {place: self._read(*files[place]) for place in lacking}
        read = [by_place[place] for place in range(len(files))]
        return self._meeting(read, [(*file, None if n in lacking else self.columns) for n, file in enumerate(files)])

    def _meeting(self, parts: list[Captions], files: list[tuple[str, CaptionFile, Any]]) -> list[Captions]:
        """The captions by other columns of ids, where those that were taken have no image of the last file."""
        *systems, described = parts
        for place, captions in enumerate(systems):
            if _meet(captions, described):
                continue
            pairs = ((place, described), (len(systems), captions))
            for first, their_match in pairs:
                part, file, columns = files[first]
                for number in range(1, len(file.id_columns(columns))):
                    file.id_place = number
                    read = self._read(part, file, columns)
                    if _meet(read, their_match):
                        parts[first] = read
                        return self._meeting(parts, files)
                file.id_place = 0
        return parts

    def open(self, part: str, path: str) -> CaptionFile:
        """The file, as what is wanted of it: `references`, `added`, `candidates`, `sets`, sets `alone`, `captions`."""
        of_references = part in ("references", "added")
        split = self.split if of_references or part in ("captions", "alone") else None  # with references, it is theirs
        reading = (self.of_references if of_references else self.of_captions)._replace(split=split)
        if path == "-":  # it can be read once, and may be looked at before it is read
            self._stdin = self._stdin or content_of(path)
            return CaptionFile(path, reading, contents={display_name(path): self._stdin})
        return CaptionFile.of_references(path, reading, show_fetched) if of_references else CaptionFile(path, reading)

    def _take_columns(self, file: CaptionFile, path: str) -> None:
        """Takes the images and the groups that the file names, if it has such columns and no earlier file had them."""
        for name in {self._image_column, self.by} - {None, *self._files_of_columns}:
            if file.column(name or "", columns=self.columns, image_ids=self.image_ids):
                self._files_of_columns[name or ""] = file, os.path.dirname(path)

    def values_of_column(self, name: str, images: Sequence[str]) -> dict[str, Any]:
        """The values of a column of the files that were read, for these images, which the file may call otherwise: in
        another column of ids, or by names of files or numbers. Raises `DataError` if no file has the column.
        """
        if name not in self._files_of_columns:
            raise DataError(f"{name}: no file has a column of that name; sacrecap inspect FILE says which there are")
        file = self._files_of_columns[name][0]
        every = []
        for place in dict.fromkeys([file.id_place, *range(len(file.id_columns(self.columns)))]):
            file.id_place = place
            every.append(file.column(name, columns=self.columns, image_ids=self.image_ids))
            if not every[-1].keys().isdisjoint(images):
                return every[-1]
        from sacrecap.data.image_ids import same_images

        for values in every:
            if same := same_images(images, values):
                return {image: values[candidate_image] for candidate_image, image in same[1].items()}
            if same := same_images(values, images):  # of more images than were scored
                return {image: values[candidate_image] for image, candidate_image in same[1].items()}
        return every[0]

    def _read(self, part: str, file: CaptionFile, columns: Any = None) -> Captions:
        if part == "candidates":
            captions = file.candidates(columns=columns, image_ids=self.image_ids, on_duplicate=self.on_duplicate)
            self._skipped |= file.skipped
            return captions
        if part in ("sets", "alone"):
            return file.sets(columns=columns, image_ids=self.image_ids)
        kind = "sets" if part == "captions" else "references"
        return file.captions(kind, columns=columns, image_ids=self.image_ids)


def _without_several(
    images: set[str], references: Captions, systems: list[Captions]
) -> tuple[Captions, list[Captions]]:
    """References and captions without images of which a system has several candidates."""
    described = without_images(references, images)
    count = references.image_count - described.image_count
    rest = [without_images(captions, images) for captions in systems]
    return described.leaving_out("several candidates", count), rest


def _meet(captions: Captions, references: Captions) -> bool:
    """Whether they have an image in common; or nothing is there that could."""
    images = captions.image_ids
    return not images or images == references.image_ids or not {*images}.isdisjoint(references.image_ids)


class _Format(click.Choice[str]):
    """A format, with parameters or without."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = value.partition("(")[0].strip()
        if name not in self.choices:
            self.fail(unknown_format(name), param, ctx)
        return value


_SEVERAL = {"multiple": True}
_OPTIONS = declared(
    """
    --split NAME  Split of a file or folder that has splits, such as test.
    --id-column NAME  Column or key of the image ids; may be repeated: the first one that a file has counts.
    --caption-column NAME  Column or key of the captions, or a pattern such as caption_*; may be repeated.
    --references-column NAME  Column of the references, if its name is not that of the captions' column; may be
        repeated.
    --image-ids  Which part of image ids to compare between files: all; the file name's stem; the last number in that.
    --add-references FILE  More references: of the same images, or of others; may be repeated.
    --on-missing  What to do with an image without candidate: report an error, leave it out, or score an empty caption.
    --on-extra  What to do with a candidate of an image without references: report an error, or leave it out.
    --on-duplicate  What several candidates of one image mean: an error, take the first or the last, or leave the image
        out.
    --by COLUMN  Also the scores of each group of images: of those with the same value in this column of a file, such as
        the domain in nocaps' references.
    """,
    id_column=_SEVERAL,
    caption_column=_SEVERAL,
    references_column=_SEVERAL,
    image_ids={"type": click.Choice(IMAGE_IDS), "default": "text"},
    add_references=_SEVERAL,
    on_missing={"type": click.Choice(ON_MISSING), "default": "error"},
    on_extra={"type": click.Choice(ON_EXTRA), "default": "error"},
    on_duplicate={"type": click.Choice(ON_DUPLICATE), "default": "error"},
)


def caption_files(*parts: str, tokenizer: bool = True, missing: bool = True, groups: bool = False) -> Value:
    """Options about files of captions, which the command takes as one `CaptionFiles`: `parts` are what the files are,
    `reference`, `candidate`, `set` or `caption`, as the options of their formats are called. With those for the
    `tokenizer`, for images that are `missing` in one of the files, and for `groups` of images, where it takes these.
    """
    left_out = set() if groups else {"by"}
    if len(parts) < 2:
        left_out |= {"references_column"}
    if "candidate" not in parts:
        left_out |= {"add_references", "on_duplicate"}
    if not missing or not {"candidate", "set"} & {*parts}:
        left_out |= {"on_missing", "on_extra"}
    chosen = []
    for part in parts:
        name = "reference_format" if part == "reference" else "captions_format"
        as_written = {"name": name, "type": _Format([AUTO, *FORMATS]), "default": AUTO, "show_default": False}
        chosen += declared(
            f"""
            --{part}-format FORMAT  coco, csv, msrvtt, text, …; auto, the default, recognises it; an unknown word lists
                all. With how it is written: csv(encoding=cp1252), auto(separator=|||), what stands between captions in
                one cell, or none.
            """,
            **{f"{part}_format": as_written},
        )
    chosen += [option for option in _OPTIONS if option.name not in left_out]
    return Value("files", "Files", CaptionFiles, [*chosen, TOKENIZER] if tokenizer else chosen)
