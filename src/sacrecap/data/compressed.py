"""Decompresses files; the compression is recognised from a file's first bytes."""

from __future__ import annotations

from collections.abc import Callable

from sacrecap.errors import DataError, MissingDependencyError

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of compressed files."""


def compression(start: bytes) -> str | None:
    """How a file that begins so is compressed: `gzip`, `bzip2`, `xz`, `zstd`, or not."""
    return next((kind for magic, (kind, _) in _KINDS.items() if start.startswith(magic)), None)


def decompressed(data: bytes, name: str) -> bytes:
    """The bytes, decompressed from gzip, bzip2, xz or zstd.

    Raises:
        DataError: the compressed data is broken or ends early; the message begins with `name`.
        MissingDependencyError: zstd data, and no package for zstd is installed.
    """
    for magic, (kind, undo) in _KINDS.items():
        if data.startswith(magic):
            try:
                return undo(data)
            except MissingDependencyError:
                raise
            except EOFError:
                raise DataError(f"{name}: the {kind} data ends early; write or download the file again") from None
            except Exception as error:  # noqa: BLE001 - each library has errors of its own
                raise DataError(f"{name}: broken {kind} data ({error}); write or download the file again") from None
    return data


def _gzip(data: bytes) -> bytes:
    import gzip

    return gzip.decompress(data)


def _bzip2(data: bytes) -> bytes:
    import bz2

    if data[4:10] not in (b"1AY&SY", b"\x17rE8P\x90"):
        return data  # a text that begins with the same bytes
    return _whole(bz2.BZ2Decompressor, data)


def _xz(data: bytes) -> bytes:
    import lzma

    return _whole(lzma.LZMADecompressor, data)


def _whole(decompressor: Callable[[], object], data: bytes) -> bytes:
    """All streams, one after the other. The libraries' own functions drop a second stream that is cut off."""
    pieces = []
    while data:
        stream: object = decompressor()
        pieces.append(stream.decompress(data))  # type: ignore[attr-defined]
        if not stream.eof:  # type: ignore[attr-defined]
            raise EOFError
        data = stream.unused_data.lstrip(b"\0")  # type: ignore[attr-defined]
    return b"".join(pieces)


def _zstd(data: bytes) -> bytes:
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        return _zstd_of_arrow(data)
    return zstd.decompress(data)  # type: ignore[no-any-return, unused-ignore]


def _zstd_of_arrow(data: bytes) -> bytes:
    try:
        import pyarrow
    except ImportError:
        raise MissingDependencyError("reading files compressed by zstd", extra="files") from None
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as file:
        return file.read()  # type: ignore[no-any-return]


_KINDS: dict[bytes, tuple[str, Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": ("gzip", _gzip),
    b"BZh": ("bzip2", _bzip2),
    b"\xfd7zXZ\x00": ("xz", _xz),
    b"\x28\xb5\x2f\xfd": ("zstd", _zstd),
}
