"""Where an engine's captions come from: captions that were read, or rows of files that are read piece by piece."""

from __future__ import annotations

import contextlib
import pickle
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import IO, TypeAlias

from sacrecap._core import Captions
from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import Aligned, CandidateSource, CaptionSource, Corpus, added_up, align, as_references
from sacrecap.data.captions import CaptionFile
from sacrecap.data.cells import warn_of_empty
from sacrecap.data.shapes import NamedColumns
from sacrecap.data.source import Reading
from sacrecap.engines.passes import Piece
from sacrecap.errors import DataError

ROWS = 16_384
"""Images of a piece: more are counted faster, and take more memory."""


PieceSource: TypeAlias = "Held | RowsOfFile"
"""Captions that an engine takes piece by piece, as often as it has passes.

`pieces(again=True)` says that another pass follows; `corpora` has all captions, for the result."""


class Held:
    """Captions in memory, as text: what is made of them is not."""

    def __init__(
        self,
        references: CaptionSource,
        systems: Mapping[str, CandidateSource],
        called: Mapping[str, str],
        on_missing: str,
    ) -> None:
        self._aligned = align(references, systems, called, on_missing)
        self.images: int | None = len(self._aligned.images)

    def pieces(self, *, again: bool = False) -> Iterator[Piece]:  # noqa: ARG002
        every = self._aligned.references.image_ids
        for start in range(0, len(self._aligned.images), ROWS):
            yield piece_of(self._aligned, slice(start, start + ROWS), every)

    def corpora(self, image_ids: list[str], tokenizer: Tokenizer) -> dict[str, Corpus]:  # noqa: ARG002
        return {name: Corpus.unencoded(self._aligned, name, tokenizer=tokenizer) for name in self._aligned.systems}


def piece_of(aligned: Aligned, chosen: slice, image_ids: list[str]) -> Piece:
    """The chosen ones of the images that are scored; `image_ids` are those of the references."""
    images = aligned.images[chosen]
    ids = [image_ids[image] for image in images]
    systems = {name: captions.aligned(ids, aligned.places[name][chosen]) for name, captions in aligned.systems.items()}
    return Piece(aligned.references.aligned(ids, images), systems)


@dataclass(eq=False)
class RowsOfFile:
    """Rows of a file that holds references and candidates: read piece by piece. What several passes need is put into a
    temporary file, which takes a tenth of the time that reading takes.
    """

    path: str | PathLike[str]
    reading: Reading
    columns: NamedColumns | None = None
    on_missing: str = "error"

    images = None
    """How many there are is not known before they are read."""

    def __post_init__(self) -> None:
        self._aside: IO[bytes] | None = None
        self._left_out: dict[str, int] = {}
        self._filled = 0

    @classmethod
    def of(
        cls, path: str | PathLike[str], reading: Reading, columns: NamedColumns | None = None, on_missing: str = "error"
    ) -> RowsOfFile | None:
        """The rows of the file; None if it can only be read whole, or images may be left out of it."""
        in_pieces = on_missing != "skip" and CaptionFile(path, reading, held=False).is_in_pieces
        return cls(path, reading, columns, on_missing) if in_pieces else None

    def pieces(self, *, again: bool = False) -> Iterator[Piece]:
        """Pieces of `ROWS` images; `again`: whether they are needed once more.

        Raises `DataError` for rows that cannot be used, and where the disk is full.
        """
        try:
            if self._aside is None:
                aside = tempfile.TemporaryFile(prefix="sacrecap-") if again else None  # noqa: SIM115 - goes with this object
                if aside is not None:
                    weakref.finalize(self, aside.close)
                for piece in self._read():
                    if aside is not None:
                        pickle.dump(piece, aside, protocol=5)
                    yield piece
                self._aside = aside
                return
            self._aside.seek(0)
        except OSError as error:
            raise DataError(
                f"{tempfile.gettempdir()}: what is needed twice cannot be put there: {error.strerror or error}; free "
                "some space, or choose another folder with TMPDIR"
            ) from error
        with contextlib.suppress(EOFError):
            while True:
                yield pickle.load(self._aside)  # noqa: S301 - ours

    def _read(self) -> Iterator[Piece]:
        file, empty = self._opened(), list[str]()
        self._left_out, self._filled = {}, 0
        try:
            for references, candidates in file.pieces(["references", "candidates"], ROWS, self.columns):
                described, images = references.without_empty()
                empty += images
                self._left_out = added_up(self._left_out, described.left_out)
                yield self._piece(described, candidates)
        except DataError:
            # What is wrong is told of all images, not of those of a piece, where they fit into memory.
            if (self._opened().looks(self.columns).rows or 0) <= 2_000_000:
                self._piece(*RereadCorpus(self.path, self.reading, self.columns, [], "ptb").both)
            raise
        self._left_out = added_up(self._left_out, {"excluded annotation": file.excluded})
        if empty:
            warn_of_empty(file.name, "image", empty)

    def _opened(self) -> CaptionFile:
        file = CaptionFile(self.path, self.reading, held=False)
        file.check_holds_both(self.columns)
        return file

    def _piece(self, references: Captions, candidates: Captions) -> Piece:
        name = str(candidates.source)
        aligned = align(references, {"": candidates}, {"": name}, self.on_missing)
        self._filled += aligned.places[""].count(None)
        return piece_of(aligned, slice(None), aligned.references.image_ids)

    def corpora(self, image_ids: list[str], tokenizer: Tokenizer) -> dict[str, Corpus]:
        """A corpus that reads the captions again where some are needed, as for a report."""
        corpus = RereadCorpus(self.path, self.reading, self.columns, image_ids, tokenizer)
        corpus.left_out, corpus.filled = self._left_out, self._filled
        return {"": corpus}


class RereadCorpus(Corpus):
    """Images of a file of rows, whose captions are read again when they are first needed."""

    def __init__(
        self,
        path: str | PathLike[str],
        reading: Reading,
        columns: NamedColumns | None,
        image_ids: list[str],
        tokenizer: Tokenizer,
    ) -> None:
        self._file, self._columns = (path, reading), columns
        self.image_ids, self.tokenizer, self._numbers = image_ids, tokenizer, None

    @cached_property
    def both(self) -> tuple[Captions, Captions]:
        """The references and the candidates, read."""
        file = CaptionFile(*self._file)
        file.check_holds_both(self._columns)
        candidates = file.candidates(columns=self._columns)
        return as_references(file.captions("references", columns=self._columns)), candidates

    @cached_property
    def reference_captions(self) -> Captions:  # type: ignore[override]
        return self.both[0]

    @cached_property
    def candidate_captions(self) -> Captions:  # type: ignore[override]
        return self.both[1]


def pieces_of_references(references: CaptionSource) -> Iterator[Piece]:
    """Pieces of `ROWS` images that have references, whose n-grams are counted."""
    described = as_references(references)
    ids, counts = described.image_ids, described.caption_counts()
    images = [image for image, count in enumerate(counts) if count]
    for start in range(0, len(images), ROWS):
        chosen = images[start : start + ROWS]
        yield Piece(described.aligned([ids[image] for image in chosen], chosen), {})
