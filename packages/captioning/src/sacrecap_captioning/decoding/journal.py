"""Caption sets stored as they are made, so that an interrupted run continues where it stopped.

A journal is a file of JSON lines: first the settings that determine the captions, then one `{"image_id", "captions"}`
per image.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

from sacrecap.data.lock import lock
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, UsageError


class Journal:
    """The caption sets of a file that is open for appending.

    Args:
        path: its file.
        decides: all settings that determine the captions, by name, as JSON values.
        batch: images at a time; an incomplete batch is made again, so that batches are the same as without an
            interruption.

    Raises:
        UsageError: captions of other settings are there; the message says which.
        DataError: the file is no journal, is used by another process, or cannot be written.

    Attributes:
        sets: captions by image id, both earlier ones and those that `keep` added.
    """

    def __init__(self, path: PathLike, decides: Mapping[str, Any], *, batch: int) -> None:
        self.path = os.fspath(path)
        self.sets: dict[str, list[str]] = {}
        try:
            self._file: IO[bytes] = open(path, "a+b")  # noqa: SIM115
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror}; choose another place") from None
        try:
            self._go_on(json.loads(json.dumps(dict(decides))), batch)
        except BaseException:
            self._file.close()
            raise

    def _go_on(self, decides: dict[str, Any], batch: int) -> None:
        try:
            lock(self._file, wait=False)
        except BlockingIOError:
            raise DataError(f"{self.path}: another sacrecap is writing it; wait until it is done") from None
        self._file.seek(0)
        lines = self._file.read().split(b"\n")[:-1]  # a line without an end was cut off
        if not lines:
            self._file.truncate(0)
            self._write([decides])
            return
        try:
            there, *rows = map(json.loads, lines)
            sets = {str(row["image_id"]): list(row["captions"]) for row in rows}
            other = [name for name in {**there, **decides} if there.get(name) != decides.get(name)]
        except (ValueError, TypeError, KeyError):
            raise DataError(f"{self.path}: is not a journal of captions; remove it, or write to another file") from None
        if other:
            listed = "; ".join(f"{name}: {there.get(name)!r} there, {decides.get(name)!r} now" for name in other)
            raise UsageError(
                f"{self.path}: holds captions that were made otherwise ({listed}); take the same settings to go on "
                "with them, remove that file to begin anew, or write to another file"
            )
        whole = len(sets) // batch * batch
        self._file.truncate(sum(len(line) + 1 for line in lines[: 1 + whole]))
        self.sets = dict(list(sets.items())[:whole])

    def keep(self, sets: Mapping[str, Sequence[str]]) -> None:
        """Adds the captions of some images. Raises `DataError` if they cannot be written."""
        self.sets |= {image: list(captions) for image, captions in sets.items()}
        self._write([{"image_id": image, "captions": list(captions)} for image, captions in sets.items()])

    def close(self) -> None:
        """Closes the file; a later call can continue it."""
        self._file.close()

    def _write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        try:
            self._file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror}; free some space") from None
