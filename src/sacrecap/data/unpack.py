"""Bytes: what the first of them say of a file, and what it holds unpacked, of gzip, bzip2, xz, zstd, a zip of one file.

What is unpacked is bounded: a few megabytes may stand for gigabytes of the same byte.
"""

from __future__ import annotations

import codecs
import contextlib
import io
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import IO, Any

from sacrecap.errors import DataError, SacrecapError, UsageError, first_of, of_extra

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
MOST_TIMES = 200
"""How many times its size a file may become; text seldom becomes more than 30 times."""
_FREE = 1 << 28
"""Bytes that any file may become, and characters that a line has at most where it is read piece by piece."""
_PIECE = 1 << 20
_AGAIN = "write or download the file again"
_BEGINNING = 1 << 20
ZIP = b"PK\x03\x04"
MATLAB = b"MATLAB 5.0 MAT-file"
_BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", ZIP: "spreadsheet", MATLAB: "matlab"}
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_NO_CAPTIONS = {
    **dict.fromkeys((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a pickle"),
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


def unpacked(data: bytes, name: str) -> bytes:
    """All bytes, unpacked. Raises `DataError`, which names the file, where they are broken or become too many."""
    if not data.startswith(ZIP):
        if compression(data) is None:
            return data
        with opened(io.BytesIO(data), name) as file:
            return _bounded(file, len(data), name)
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            # What is a zip by its own format stays: an Excel file, NumPy's arrays.
            if "[Content_Types].xml" in names or all(name.endswith(".npy") for name in names):
                return data
            files = [name for name in names if not (name.endswith("/") or name.startswith("__MACOSX/"))]
            if len(files) == 1:
                with archive.open(files[0]) as file:
                    return unpacked(_bounded(file, len(data), name), name)
    except (SacrecapError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - the library has errors of its own, and lets those of others through
        raise DataError(f"{name}: broken zip ({error}); {_AGAIN}") from None
    raise DataError(
        f"{name}: is a zip of {len(files)} files ({first_of(files)}), where one is read; unpack it and name the file"
    )


def opened(file: IO[bytes], name: str) -> IO[bytes]:
    """A file of packed or other bytes, from which they are read unpacked, piece by piece. Errors as of `unpacked`."""
    start = file.read(10)
    file.seek(0)
    kind = compression(start)
    if kind is None:
        return file
    with of_extra("files", f"reading files compressed by {kind}"):
        match kind:
            case "gzip":
                import gzip

                stream: Any = gzip.GzipFile(fileobj=file)
            case "bzip2":
                import bz2

                stream = _Streams(file, bz2.BZ2Decompressor)
            case "xz":
                import lzma

                stream = _Streams(file, lzma.LZMADecompressor)
            case _:
                try:
                    from compression import zstd  # Python 3.14
                except ImportError:
                    import pyarrow

                    stream = pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd")
                else:
                    stream = zstd.ZstdFile(file)
    return io.BufferedReader(_Unpacked(stream, file, kind, name), _PIECE)


def compression(start: bytes) -> str | None:
    """How a file that begins so is compressed: `gzip`, `bzip2`, `xz`, `zstd`, or not."""
    kind = _by_magic(start, _PACKED)
    is_text = kind == "bzip2" and start[4:10] not in (b"1AY&SY", b"\x17rE8P\x90")
    return None if is_text else kind


def binary_format(start: bytes) -> str | None:
    """A table's format, `spreadsheet`, `matlab` or `webdataset`; None for text. Raises `DataError` for other files."""
    format = "webdataset" if start.startswith(b"ustar", 257) else _by_magic(start, _BINARY)
    if format is None and (kind := _by_magic(start, _NO_CAPTIONS)) is not None:
        raise DataError(f"is {kind}, of which no captions are read; write them as JSON, CSV or Parquet")
    return format


def _by_magic(start: bytes, kinds: Mapping[bytes, str]) -> str | None:
    return next((kind for magic, kind in kinds.items() if start.startswith(magic)), None)


def is_binary(data: bytes) -> bool:
    """Whether a file is none of text."""
    try:
        return binary_format(data) is not None
    except DataError:
        return True


class Content:
    """The bytes of one file, unpacked, which may be read again: all of them, or what opens the file `again`."""

    def __init__(self, name: str, data: bytes | None = None, again: Callable[[], IO[bytes]] | None = None) -> None:
        self.name, self._data, self._again = name, data, again

    def open(self) -> IO[bytes]:
        """A file of its own, at the start."""
        return io.BytesIO(self._data or b"") if self._again is None else opened(self._again(), self.name)

    def read(self) -> bytes:
        """All bytes. Raises `DataError` where they become too many, as `unpacked` does."""
        if self._data is None:
            with self._again() if self._again is not None else io.BytesIO() as file:
                packed = file.read()
            self._data = unpacked(packed, self.name)
        return self._data

    @cached_property
    def start(self) -> bytes:
        """The first bytes, of which the last character may be cut off."""
        if self._data is not None:
            return self._data[:_BEGINNING]
        with self.open() as file:
            return file.read(_BEGINNING)

    def is_utf8(self) -> bool:
        """Whether this may be a text in UTF-8, by its first bytes."""
        try:
            codecs.getincrementaldecoder("utf-8")().decode(self.start)
        except UnicodeDecodeError:
            return False
        return True

    def recoded(self, encoding: str) -> Content:
        """The file as UTF-8, whose text is in another encoding; one that is UTF-8, or no text, stays as it is."""
        try:
            codecs.lookup(encoding)
            data = self.read()
            if is_binary(data):
                return self
            if b"\0" not in data:
                with contextlib.suppress(UnicodeDecodeError):
                    data.decode()
                    return self
            return Content(self.name, data.decode(encoding).removeprefix("\ufeff").encode())
        except LookupError:
            raise UsageError(
                f"no encoding is called {encoding!r}; Python knows utf-16, cp1252, gb18030, shift_jis and others"
            ) from None
        except UnicodeError as error:
            raise DataError(
                f"{self.name}: is not {encoding} ({error}); name another encoding, or leave it out for UTF-8"
            ) from None

    def lines(self, newline: str = "") -> Iterator[str]:
        """The lines of a text, with their ends: any, or this one. None grows without end where it is read in pieces."""
        with io.TextIOWrapper(self.open(), "utf-8-sig", newline=newline) as file:
            try:
                if self._data is not None:
                    yield from file
                for number, line in enumerate(iter(lambda: file.readline(_FREE), ""), 1):
                    if len(line) == _FREE:
                        raise DataError(f"line {number}: has {_FREE:,} characters or more; write a row per line")
                    yield line
            except UnicodeDecodeError:
                text_of(self.read())
                raise


def text_of(data: bytes, where: str = "") -> str:
    """The text, without a byte-order mark. Raises `DataError`, after `where`, with the place of what is not UTF-8."""
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line, start = data.count(b"\n", 0, error.start) + 1, data.rfind(b"\n", 0, error.start) + 1
        column = len(data[start : error.start].decode(errors="replace")) + 1
        guess = "it looks like UTF-16, " if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ""
        raise DataError(
            f"{where}line {line}, column {column}: byte {error.start} (0x{data[error.start]:02x}) is not UTF-8; {guess}"
            "save the file as UTF-8"
        ) from None


class _Unpacked(io.RawIOBase):
    """A stream whose errors name the file, which is closed with it."""

    def __init__(self, stream: Any, file: IO[bytes], kind: str, name: str) -> None:
        self._stream, self._file, self._kind, self._name = stream, file, kind, name

    def close(self) -> None:
        self._file.close()
        super().close()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._stream.read(len(buffer))
        except (SacrecapError, MemoryError):
            raise
        except EOFError:
            raise DataError(f"{self._name}: the {self._kind} data ends early; {_AGAIN}") from None
        except Exception as error:  # noqa: BLE001 - each library has errors of its own
            raise DataError(f"{self._name}: broken {self._kind} data ({error}); {_AGAIN}") from None
        buffer[: len(piece)] = piece
        return len(piece)


def _bounded(file: IO[bytes], packed: int, name: str) -> bytes:
    """All bytes of a file that was packed in so many."""
    most = max(_FREE, MOST_TIMES * packed)
    unpacked_bytes = io.BytesIO()
    while piece := file.read(_PIECE):
        unpacked_bytes.write(piece)
        if unpacked_bytes.tell() > most:
            raise DataError(
                f"{name}: {packed:,} bytes become more than {most:,} unpacked, over {MOST_TIMES} times as many; if "
                "that is right, unpack the file and name what comes out"
            )
    return unpacked_bytes.getvalue()


class _Streams:
    """All streams of a file, one after the other. The libraries' own files drop a second one that is cut off."""

    def __init__(self, file: IO[bytes], new: Callable[[], Any]) -> None:
        self._file, self._new, self._stream = file, new, new()

    def read(self, size: int) -> bytes:
        while True:
            packed = b""
            if self._stream.eof:
                packed = (self._stream.unused_data or self._file.read(_PIECE)).lstrip(b"\0")
                if not packed:
                    return b""
                self._stream = self._new()
            elif self._stream.needs_input and not (packed := self._file.read(_PIECE)):
                raise EOFError
            if piece := self._stream.decompress(packed, size):
                return piece  # type: ignore[no-any-return]
