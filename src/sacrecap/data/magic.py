"""What the first bytes of a file say of it, if it is none of text."""

from __future__ import annotations

from sacrecap.errors import DataError

_BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"PK\x03\x04": "spreadsheet"}
"""Formats by the first bytes of a file."""
_TAR = (257, b"ustar")
_NO_CAPTIONS = {
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x93NUMPY": "an array of NumPy",
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"RIFF": "a picture, sound or film (RIFF)",
    b"%PDF": "a PDF",
    b"\x89HDF": "HDF5",
    b"SQLite format 3": "a database of SQLite",
    b"ORC": "a table of ORC",
    b"Obj\x01": "a table of Avro",
    b"\x7fELF": "a program",
    b"\xd0\xcf\x11\xe0": "a file of an old Excel or Word",
    b"7z\xbc\xaf": "an archive of 7-Zip",
    b"Rar!": "an archive of RAR",
}
"""Files that hold no captions that can be read, by their first bytes."""


def binary_format(start: bytes) -> str | None:
    """A table's format, `spreadsheet` or `webdataset`; None for text. Raises `DataError` for other binary files."""
    found = next((name for magic, name in _BINARY.items() if start.startswith(magic)), None)
    if found is not None:
        return found
    place, magic = _TAR
    if start.startswith(magic, place):
        return "webdataset"
    kind = next((kind for magic, kind in _NO_CAPTIONS.items() if start.startswith(magic)), None)
    if kind is not None:
        raise DataError(f"is {kind}, of which no captions are read; write them as JSON, CSV or Parquet")
    return None


def is_binary(data: bytes) -> bool:
    """Whether a file is none of text."""
    try:
        return binary_format(data) is not None
    except DataError:
        return True
