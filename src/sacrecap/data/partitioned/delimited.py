"""CSV, TSV and other text tables under a header line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap.data.partitioned.batches import BadRow, Raw
from sacrecap.data.partitioned.files import import_pyarrow
from sacrecap.data.partitioned.parquet import broken
from sacrecap.data.partitioned.text import beginning, opened
from sacrecap.data.rows import DELIMITERS
from sacrecap.errors import DataError

if TYPE_CHECKING:
    import pyarrow

    from sacrecap.data.partitioned.parts import Part

_BLOCK = 4 << 20
"""Bytes that are decoded together; a row may not be longer."""


def read(part: Part, choose: Callable[[list[str]], list[str]], rows: int) -> Iterator[Raw]:  # noqa: ARG001
    """The part's batches, which are as long as a block of text. See `sacrecap.data.partitioned.parquet.read`."""
    start = beginning(part.file)
    if not start.strip():
        return
    skipped, delimiter, names = _header(start, part.file)
    wanted = choose([name for name in names if name])
    for name in wanted:
        if names.count(name) > 1:
            raise DataError(f"{part.file}: has {names.count(name)} columns called {name}; give each a name of its own")
    import pyarrow.csv as reader

    found: list[Misfit] = []

    def note(row: reader.InvalidRow) -> str:
        found.append(Misfit(row.number - skipped, row.actual_columns, "\n" in row.text))
        return "skip"

    bars = delimiter == "|"  # such tables, as Flickr30k's, put no quotes around their fields, but may have some in them
    with opened(part.file) as source, broken(part.file, "csv"):
        counted = Quotes(source)
        batches = reader.open_csv(
            import_pyarrow().PythonFile(counted, mode="r"),
            reader.ReadOptions(
                use_threads=False,  # numbers of rows that are skipped are not known otherwise
                block_size=_BLOCK,
                skip_rows=skipped,
                column_names=[f"{place}" if name not in wanted else name for place, name in enumerate(names)],
            ),
            reader.ParseOptions(
                delimiter=delimiter,
                quote_char=False if bars else '"',
                newlines_in_values=not bars,
                invalid_row_handler=note,
            ),
            reader.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(wanted, import_pyarrow().string()),
                include_columns=wanted,
                strings_can_be_null=False,
            ),
        )
        last = None
        for last in _numbered(part.file, batches, found, len(names)):
            yield last._replace(batch=_stripped(last.batch)) if bars else last
        if not bars and counted.odd and last is not None and _ends_in_lines(last, found):
            raise DataError(
                f"{part.file}: a double quote is open at the end of the file; close it where its caption ends"
            )


class Misfit(NamedTuple):
    """A row that does not fit the header."""

    row: int
    fields: int
    has_lines: bool
    """Whether it goes over several lines."""


class Quotes:
    """A file, with whether the number of double quotes that were read is odd, as it is where one was left open."""

    closed = False

    def __init__(self, source: pyarrow.NativeFile) -> None:
        self._source = source
        self.odd = False

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or all that are left."""
        data = bytes(self._source.read(None if size < 0 else size))
        self.odd ^= bool(data.count(b'"') % 2)
        return data


def _ends_in_lines(last: Raw, found: Sequence[Misfit]) -> bool:
    """Whether the last row goes over several lines, as one does whose quote is open."""
    if found:
        return found[-1].has_lines
    rows = last.batch.num_rows
    return any("\n" in str(column[rows - 1]) for column in last.batch.columns) if rows else False


def _numbered(file: str, batches: Any, found: list[Misfit], width: int) -> Iterator[Raw]:
    """Batches with the numbers of their rows, among which those that were skipped are counted."""
    import numpy as np

    number = 1
    for batch in batches:
        skipped = [one.row for one in found]
        possible = np.arange(number, number + batch.num_rows + len(skipped))
        rows = np.setdiff1d(possible, skipped, assume_unique=True)[: batch.num_rows]
        number = int(rows[-1]) + 1 if len(rows) else number
        before = sum(row < number for row in skipped)
        bad = [_bad(file, one, width) for one in found[:before]]
        del found[:before]
        yield Raw(rows, batch, bad)
    if found:
        nothing = import_pyarrow().RecordBatch.from_pylist([], schema=batches.schema)
        yield Raw(np.zeros(0, dtype=np.int64), nothing, [_bad(file, one, width) for one in found])


def _bad(file: str, one: Misfit, width: int) -> BadRow:
    return BadRow(
        file,
        one.row,
        None,
        f"has {one.fields} fields where the header has {width}; put a caption that holds the "
        "delimiter in double quotes",
    )


def _header(start: bytes, file: str) -> tuple[int, str, list[str]]:
    """Lines through the header, the delimiter, and the names of the columns."""
    lines = start.split(b"\n")
    place = next(place for place, line in enumerate(lines) if line.strip())
    try:
        line = lines[place].decode()
    except UnicodeDecodeError:
        raise DataError(f"{file}, line {place + 1}: not UTF-8; convert the file to UTF-8") from None
    delimiter = max(DELIMITERS, key=line.count)
    if not line.count(delimiter):
        raise DataError(f"{file}: has no header line with columns")
    quoting: Any = csv.QUOTE_NONE if delimiter == "|" else csv.QUOTE_MINIMAL
    names = next(csv.reader([line.rstrip("\r")], delimiter=delimiter, quoting=quoting))
    return place + 1, delimiter, [name.strip() for name in names]


def _stripped(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """The rows without the blanks around their fields."""
    import pyarrow
    import pyarrow.compute as pc

    return pyarrow.RecordBatch.from_arrays([pc.utf8_trim_whitespace(own) for own in batch.columns], schema=batch.schema)
