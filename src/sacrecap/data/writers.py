"""Writing: a file whole or not at all, and candidates and caption sets in formats that the readers accept."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Literal

from sacrecap._core import Captions, image_ids
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, UsageError

_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
"""Error numbers of writing itself, wherever in the body it happens."""


@contextlib.contextmanager
def atomic_write(path: PathLike, mode: Literal["w", "wb"] = "w") -> Iterator[IO[Any]]:
    """Open a file that appears under ``path`` only when the block ends without an error.

    Data goes to a temporary file in the same folder, which is synchronised and renamed, or removed on any error, so
    that a reader sees the old file or the new one. ``-`` is standard output; a device or pipe is written
    directly. Text is UTF-8, and line ends are written as given.

    Raises:
        DataError: the place cannot be written; the message says why and what to do.
    """
    if path == "-":
        with _as_data_error("<stdout>", only=_STORAGE):
            yield sys.stdout if mode == "w" else sys.stdout.buffer
            sys.stdout.flush()
        return
    target, info, beside = _target(path)
    if info is not None and not stat.S_ISREG(info.st_mode):
        with _as_data_error(path):
            device = _open(target, mode)
        with _as_data_error(path, only=_STORAGE), device:
            yield device
        return
    _unfinished.add(beside)
    try:
        with _as_data_error(path):
            file = _open(beside, mode.replace("w", "x"))
        with _as_data_error(path, only=_STORAGE), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _as_data_error(path):
            if info is not None:
                os.chmod(beside, stat.S_IMODE(info.st_mode))
            replace(beside, target)
    except BaseException:
        _remove(beside)
        raise
    finally:
        _unfinished.discard(beside)


def check_writable(path: PathLike) -> None:
    """Raises the `DataError` that `atomic_write` would raise, before a long computation instead of after it."""
    if path == "-":
        return
    _, info, beside = _target(path)
    if info is None or stat.S_ISREG(info.st_mode):
        with _as_data_error(path):
            _open(beside, "xb").close()
            _remove(beside)


def _target(path: PathLike) -> tuple[str, os.stat_result | None, str]:
    """The file that the path leads to, the status of what exists there, and a name for a file beside it."""
    with _as_data_error(path):
        target = os.path.realpath(path)
        info = os.stat(target) if os.path.exists(target) else None
        if not os.path.basename(path) or (info is not None and stat.S_ISDIR(info.st_mode)):
            raise IsADirectoryError
    return target, info, os.path.join(os.path.dirname(target), f".sacrecap-{os.urandom(6).hex()}.tmp")


def replace(new: str, target: str) -> None:
    """Give a file the name of another, also where that one is memory-mapped.

    Windows only renames a mapped file: the old one goes aside as `.sacrecap-….old`, and a later call removes it.
    """
    if os.name != "nt":
        os.replace(new, target)
        return
    folder = os.path.dirname(target) or "."
    for name in os.listdir(folder):
        if name.startswith(".sacrecap-") and name.endswith(".old"):
            _remove(os.path.join(folder, name))
    try:
        os.replace(new, target)
    except PermissionError:
        aside = os.path.join(folder, f".sacrecap-{os.urandom(6).hex()}.old")
        os.rename(target, aside)
        try:
            os.rename(new, target)
        except OSError:
            os.rename(aside, target)
            raise
        _remove(aside)


_unfinished: set[str] = set()


def discard_unfinished() -> None:
    """Removes the files being written, for a process that ends without unwinding."""
    for path in tuple(_unfinished):
        _remove(path)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)


def _open(path: str, mode: str) -> IO[Any]:
    return open(path, mode) if "b" in mode else open(path, mode, encoding="utf-8", newline="")


@contextlib.contextmanager
def _as_data_error(path: PathLike, only: set[int] | None = None) -> Iterator[None]:
    """Turn an operating-system error (``only`` these numbers, where given) into one that names a remedy."""
    try:
        yield
    except (OSError, ValueError) as error:
        if only is not None and getattr(error, "errno", None) not in only:
            raise
        folder, why = os.path.dirname(path) or ".", str(error)
        match error:
            case FileNotFoundError() if not os.path.isdir(folder):
                why = f"there is no folder {folder!r}; make it first"
            case IsADirectoryError():
                why = "it is a directory; name a file in it"
            case NotADirectoryError():
                why = f"{folder!r} is not a folder"
            case PermissionError() | FileNotFoundError():
                why = f"this user may not write in {folder!r}; choose another place"
            case OSError(errno=errno.EBADF):
                why = "it is closed; name a file with --output"
            case OSError(errno=errno.ENOSPC | errno.EDQUOT):
                why = "no space is left; free some, or choose another place (an existing file is unchanged)"
        raise DataError(f"{os.fspath(path)}: cannot be written: {why}") from error


def write_candidates(
    path: PathLike, candidates: Mapping[str, str] | Mapping[int, str], format: str | None = None
) -> None:
    """Write one caption per image.

    Args:
        path: the file to write; ``-`` is standard output. The file appears when it is complete.
        candidates: the caption of each image id; an id that is a number is written as a number.
        format: one of `WRITTEN_FORMATS`; by default chosen by the suffix of the path, else ``list``.

    Raises:
        DataError: an id or caption is of another type, or the file cannot be written.
        UsageError: no such format.
    """
    suffix = os.path.splitext(os.fspath(path))[1].removeprefix(".").lower()
    name = format or (suffix if suffix in WRITTEN_FORMATS else "list")
    if name not in WRITTEN_FORMATS:
        raise UsageError(f"candidates are not written as {name!r}; choose from {', '.join(WRITTEN_FORMATS)}")
    by_image: Mapping[Any, object] = candidates
    if lists := [image for image, caption in by_image.items() if not isinstance(caption, str)]:
        raise DataError(f"the candidate of image {lists[0]} is not a string ({len(lists)} such in all)")
    Captions.from_dict(candidates)  # the checks of the readers
    # JSON knows no numbers of NumPy's.
    ids = [str(image) if isinstance(image, str) else int(image_ids([image])[0]) for image in by_image]
    texts = map(str, by_image.values())
    rows = [{"image_id": image, "caption": text} for image, text in zip(ids, texts, strict=True)]
    with atomic_write(path) as file:
        WRITTEN_FORMATS[name](file, rows)


def write_caption_sets(path: PathLike, sets: Mapping[str, Sequence[str]]) -> None:
    """Write caption sets as a list of ``{"image_id", "captions"}``, one set per line.

    Args:
        path: the file to write; ``-`` is standard output. The file appears when it is complete.
        sets: the captions of each image id.

    Raises:
        DataError: the file cannot be written.
    """
    write_list(path, ({"image_id": image, "captions": list(set_)} for image, set_ in sets.items()))


def write_list(path: PathLike, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a list of JSON objects, one per line, whole or not at all. Raises `DataError` if it cannot be written."""
    with atomic_write(path) as file:
        _write_list(file, rows)


def _write_list(file: IO[str], rows: Iterable[Mapping[str, Any]]) -> None:
    separator = "[\n"
    for row in rows:
        file.write(separator + json.dumps(row, ensure_ascii=False))
        separator = ",\n"
    file.write("[]\n" if separator == "[\n" else "\n]\n")


def _write_table(file: IO[str], rows: Sequence[Mapping[str, Any]], delimiter: str) -> None:
    """A table of text. Line breaks are blanks in a caption whose lines a reader would take for further rows."""
    import csv

    from sacrecap.data.rows import holds_rows

    table, ids = csv.writer(file, delimiter=delimiter), {str(row["image_id"]) for row in rows}
    table.writerow(["image_id", "caption"])
    for image, caption in (row.values() for row in rows):
        table.writerow([image, caption.replace("\n", " ") if holds_rows(caption, delimiter, ids) else caption])


WRITTEN_FORMATS: dict[str, Callable[[IO[str], Sequence[Mapping[str, Any]]], None]] = {
    "list": _write_list,
    "jsonl": lambda file, rows: file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
    "csv": lambda file, rows: _write_table(file, rows, ","),
    "tsv": lambda file, rows: _write_table(file, rows, "\t"),
}
"""The formats for writing candidates, with their writers."""
