"""CSV, TSV and other text tables under a header line, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sacrecap import _core
from sacrecap.data.partitioned.part import Part, Raw
from sacrecap.data.partitioned.text import opened, raw
from sacrecap.data.rows import check_single, header
from sacrecap.errors import DataError

_BLOCK = 4 << 20
"""Bytes that are decoded together."""
_LONGEST_ROW = 16 << 20
"""Bytes of a row that are more than any row has: a double quote is open."""


def read(part: Part, choose: Callable[[list[str]], list[str]], rows: int) -> Iterator[Raw]:  # noqa: ARG001
    """The part's batches, which are as long as a block of text. See `sacrecap.data.partitioned.parquet.read`."""
    with opened(part.file) as source:
        piece = bytes(source.read(_BLOCK))
        if not piece.strip():
            return
        try:
            columns, delimiter, end = header(piece)
            names = choose([name for name in columns if name])
            check_single(columns, names)
            number, rest = 1, piece[end:]
            while True:
                piece = bytes(source.read(_BLOCK))
                found = _core.RowsOfText.of_table(rest, columns, delimiter, names, number, last=not piece)
                yield raw(found, names, part.file)
                if not piece:
                    return
                number, rest = number + found.count, rest[found.read :] + piece
                if len(rest) > _LONGEST_ROW + _BLOCK:
                    raise DataError(f"row {number} is too long; is a double quote open, or a line end missing?")
        except DataError as error:
            text = str(error)
            raise DataError(text if text.startswith(part.file) else f"{part.file}: {text}") from None
