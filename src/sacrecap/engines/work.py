"""What was made of parts, kept so that a call that was cut off, or whose input was mended, does only the rest."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import platform
import secrets
from collections.abc import Mapping
from typing import Any

from sacrecap import _core
from sacrecap.data.partitioned.files import join_url, names_in, open_file, remove, remove_folder, writing
from sacrecap.errors import DataError, EngineError, UsageError, engine_option

OWN = "sacrecap-work"
"""All is in a folder of this name in the given one, so that nothing of anybody else's is touched."""
_RUN = "run.json"
_MARK = "mark"
_KEPT = ".kept"
_HEAD = b"sacrecap part 1\n"
_DIGEST = 32


class WorkFolder:
    """A folder, or its URL, that the driver and all workers reach. It can be pickled.

    What is kept are bytes with a checksum; nothing that is read from the folder is executed.

    Example:
        >>> work = WorkFolder("scores/_work")
        >>> work.begin({"metrics": "cider-d"}, resume=True)
        >>> work.names()
        {'9f2c…', '03ab…'}
    """

    def __init__(self, url: str) -> None:
        self._given = str(url)
        self.url = join_url(self._given, OWN)
        self._kept: frozenset[str] = frozenset()
        """What was there at the start; listing a large folder for each part would take long."""
        self._mark = secrets.token_hex(16)
        """A worker that has another folder of that name would put its share where nobody looks for it."""

    def begin(self, run: Mapping[str, object], *, resume: bool) -> None:
        """Prepares the folder for a run, which values that JSON can hold describe: what it asks of every part.

        With `resume`, what an earlier run made stays; without, it is removed.

        Raises:
            UsageError: the earlier run was another one; the message names what differs.
            DataError: the folder cannot be written.
        """
        run = json.loads(json.dumps(dict(run)))
        if resume and _RUN in names_in(self.url):
            before = self._run()
            before.pop(_MARK, None)
            different = [name for name in {**before, **run} if before.get(name) != run.get(name)]
            if different:
                differences = "; ".join(_difference(name, before, run) for name in different)
                raise UsageError(
                    f"{self._given}: cannot resume, since that run had something else: {differences}. Give what it "
                    f"had, or begin anew without {engine_option('resume')}"
                )
        else:
            self.finish()
        self._write(_RUN, json.dumps({**run, _MARK: self._mark}, indent=2).encode())
        self._kept = frozenset(self.names())

    def _run(self) -> dict[str, Any]:
        """What describes the run. Raises `DataError` where that is not there, or damaged."""
        try:
            found = json.loads(self._read(_RUN))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise DataError(
                f"{self.url}/{_RUN}: damaged; remove the folder, and begin anew without {engine_option('resume')}"
            )
        return found

    def names(self) -> set[str]:
        """Names of what is kept."""
        return {name.removesuffix(_KEPT) for name in names_in(self.url) if name.endswith(_KEPT)}

    def load(self, name: str) -> bytes | None:
        """What an earlier run kept under the name; None where that is nothing.

        Raises:
            DataError: it is not what was saved.
            EngineError: this machine does not reach the folder.
        """
        try:
            mark = self._run().get(_MARK)
        except DataError:
            mark = None
        if mark != self._mark:
            raise EngineError(
                f"{self._given}: the machine {platform.node()} of the cluster does not reach this folder; name one "
                f"that all reach, or its URL, by {engine_option('work', 'DIR')}"
            )
        if name not in self._kept:
            return None
        data = self._read(name + _KEPT)
        kept = data[len(_HEAD) + _DIGEST :]
        if data[: len(_HEAD) + _DIGEST] != _HEAD + hashlib.sha256(kept).digest():
            again = engine_option("resume", True)
            raise DataError(f"{self.url}/{name}{_KEPT}: damaged; remove this file, and {again} does its part again")
        return kept

    def save(self, name: str, kept: bytes) -> None:
        """Keeps this, whole or not at all. Raises `DataError` where it cannot be written."""
        self._write(name + _KEPT, _HEAD + hashlib.sha256(kept).digest() + kept)

    def finish(self) -> None:
        """Removes what was written, and the folders, if nothing else is in them."""
        names = names_in(self.url)
        # The description goes last: results without it would be anybody's.
        for name in [*(name for name in names if name.endswith(_KEPT)), *([_RUN] if _RUN in names else [])]:
            remove(join_url(self.url, name))
        for folder in (self.url, self._given):
            remove_folder(folder)

    def _read(self, name: str) -> bytes:
        url = join_url(self.url, name)
        with open_file(url) as file:
            return bytes(file.read())

    def _write(self, name: str, data: bytes) -> None:
        url = join_url(self.url, name)
        with writing(url) as file:
            file.write(data)


_NATIVE: Mapping[str, Any] = {"Fold": _core.Fold, "DocumentFrequency": _core.DocumentFrequency}
_OURS = {
    ("builtins", "set"),
    (__name__, "native"),
    *(("sacrecap.engines.passes", name) for name in ("Counts", "Partial", "Extent")),
    *(("sacrecap.engines.sample", name) for name in ("ImageSample", "Kept")),
    ("sacrecap.data.partitioned.part", "BadRow"),
    ("sacrecap.data.partitioned.image_scores", "Written"),
}


class _PartPickler(pickle.Pickler):
    """Writes what a pass made of a part."""

    def reducer_override(self, value: Any) -> Any:
        """Sums go without the metrics' formulas, which the call that reads them has."""
        kind = type(value).__name__
        return (native, (kind, value.to_bytes())) if type(value) is _NATIVE.get(kind) else NotImplemented


def native(kind: str, data: bytes) -> Any:
    """A value of the native core."""
    return _NATIVE[kind].from_bytes(data)


class _PartUnpickler(pickle.Unpickler):
    """Reads it, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """What parts are made of; nothing else is made or called, whatever the bytes say."""
        if (module, name) not in _OURS:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


def packed(value: object) -> bytes:
    """What a pass made of a part, as bytes."""
    _PartPickler(file := io.BytesIO(), protocol=4).dump(value)
    return file.getvalue()


def unpacked(data: bytes) -> Any:
    """What was packed. Raises `DataError` for anything else."""
    try:
        return _PartUnpickler(io.BytesIO(data)).load()
    except Exception as error:  # bytes of anybody raise anything
        raise DataError("what was kept of a part cannot be read; begin anew") from error


def _difference(name: str, before: Mapping[str, object], now: Mapping[str, object]) -> str:
    return f"{name} {_short(before.get(name))}, here {_short(now.get(name))}"


def _short(value: object) -> str:
    text = "none" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
