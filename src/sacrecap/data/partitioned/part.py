"""Pieces of the input, and the rows in them as they are in a file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sacrecap.data.source import Reading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow


class RemoteTable(Protocol):
    """A table of Arrow that is elsewhere."""

    def get(self) -> Any:
        """The table."""


@dataclass(frozen=True)
class Part:
    """A piece of a file, or a whole one."""

    number: int
    """Its place among all parts, from 0."""
    file: str
    """Path or URL."""
    format: str
    """One of `listing.FORMATS`, `whole`, or `joined`."""
    first: int | None
    """The first row group of a Parquet file, record batch of an Arrow file, or byte of JSON lines, of which the lines
    belong to a part that begin in it; None for a whole file.
    """
    end: int | None
    """The row group, record batch or byte after the last."""
    bytes: int
    """About as many as are read for it, before they are decoded."""
    rows: int | None
    """None if only reading tells."""
    before: int = 0
    """Rows of the file that are in the parts before, where that is known without reading them."""
    modified: str = ""
    """When the file was written, or its entity tag, where that is known."""
    table: RemoteTable | None = None
    """The rows of a part of joined rows."""
    reading: Reading = field(default_factory=Reading)

    @property
    def place(self) -> str:
        """A name for where it is, whatever other parts there are."""
        return _named(self.file, self.first, self.end)

    def fingerprint(self, *about: object) -> str:
        """A name for what it is, which changes when the file does, and for what else is asked about it."""
        return _named(
            *(self.file, self.format, self.first, self.end, self.bytes, self.rows, self.before, self.modified),
            *(*self.reading, *about),
        )

    def __str__(self) -> str:
        if self.first is None:
            return self.file
        what = "bytes" if self.format == "jsonl" else "row groups"
        return f"{self.file} ({what} {self.first + 1:,} to {self.end:,})"


def _named(*what: object) -> str:
    return hashlib.sha256(repr(what).encode(errors="surrogatepass")).hexdigest()[:24]


class BadRow(NamedTuple):
    """A row that cannot be used."""

    file: str
    row: int | None
    """From 1: lines of JSON lines, otherwise rows without the header; None for all of a file, or of a part of it."""
    image_id: str | None
    """None if it is not known."""
    reason: str

    def __str__(self) -> str:
        image = "" if self.image_id is None else f" (image {self.image_id})"
        row = "" if self.row is None else f"row {self.row}{image}: "
        return f"{self.file}: {row}{self.reason}"

    @classmethod
    def of_file(cls, file: str, error: Exception) -> BadRow:
        """A file that cannot be read."""
        return cls(file, None, None, str(error).removeprefix(f"{file}: "))


class Raw(NamedTuple):
    """A batch as it is in a file."""

    rows: npt.NDArray[np.int64]
    """Number of each row in the file."""
    batch: pyarrow.RecordBatch
    bad: list[BadRow]
    """Rows that could not be read as rows."""
