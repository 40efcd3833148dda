"""Results of finished parts, kept so that a call that was cut off goes on where it was."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import is_remote
from sacrecap.errors import DataError, MissingDependencyError, UsageError, option

_RUN = "run.json"
_PART = re.compile(r"part-(\d{6,})\.result")
_HEAD = b"sacrecap part 1\n"
_DIGEST = 32


class WorkFolder:
    """A folder, or its URL, with the results of the parts that are finished.

    Results are bytes with a checksum; nothing that is read from the folder is executed.

    Example:
        >>> work = WorkFolder("scores/.work")
        >>> work.begin({"input": "9f2c…", "metrics": "cider-d"}, resume=True)
        >>> work.done()
        {0, 3}
    """

    def __init__(self, url: str) -> None:
        self.url = str(url)
        self._files: _Local | _Remote = _Remote(self.url) if is_remote(self.url) else _Local(self.url)

    def begin(self, run: Mapping[str, object], *, resume: bool) -> None:
        """Prepares the folder for a run, which values that JSON can hold describe: all that its results depend on.

        With `resume`, results of an earlier run stay; without, they are removed.

        Raises:
            UsageError: the earlier run was another one; the message names what differs.
            DataError: the folder cannot be written.
        """
        run = json.loads(json.dumps(dict(run)))
        before = self._run()
        if resume and before is not None:
            different = [name for name in {**before, **run} if before.get(name) != run.get(name)]
            if different:
                differences = "; ".join(_difference(name, before, run) for name in different)
                raise UsageError(
                    f"{self.url}: cannot resume, since that run had something else: {differences}. Give what it had, "
                    f"or begin anew without {option('resume')}"
                )
            return
        self.finish()
        with self._naming("written"):
            self._files.write(_RUN, json.dumps(run, indent=2).encode())

    def _run(self) -> dict[str, Any] | None:
        with self._naming("read"):
            if _RUN not in self._files.names():
                return None
            data = self._files.read(_RUN)
        try:
            found = json.loads(data)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise DataError(f"{self.url}/{_RUN}: damaged; remove the folder, and begin anew without {option('resume')}")
        return found

    def done(self) -> set[int]:
        """Numbers of the parts that are finished."""
        with self._naming("read"):
            return {int(match[1]) for match in map(_PART.fullmatch, self._files.names()) if match}

    def save(self, number: int, result: bytes) -> None:
        """Keeps the part's result, whole or not at all. Raises `DataError` where it cannot be written."""
        with self._naming("written"):
            self._files.write(_name(number), _HEAD + hashlib.sha256(result).digest() + result)

    def load(self, number: int) -> bytes:
        """The part's result. Raises `DataError` where it is not what was saved."""
        with self._naming("read"):
            data = self._files.read(_name(number))
        result = data[len(_HEAD) + _DIGEST :]
        if data[: len(_HEAD) + _DIGEST] != _HEAD + hashlib.sha256(result).digest():
            resume = option("resume", True)
            raise DataError(f"{self.url}/{_name(number)}: damaged; remove this file, and {resume} does its part again")
        return result

    def finish(self) -> None:
        """Removes what `begin` and `save` wrote, and the folder, if nothing else is in it."""
        with self._naming("removed"):
            for name in self._files.names():
                # The description goes last: results without it would be anybody's.
                if _PART.fullmatch(name):
                    self._files.remove(name)
            if _RUN in self._files.names():
                self._files.remove(_RUN)
            self._files.remove_folder()

    @contextlib.contextmanager
    def _naming(self, done: str) -> Iterator[None]:
        """Errors of a file system as a `DataError` that names the folder."""
        try:
            yield
        except (DataError, MissingDependencyError):
            raise
        except Exception as error:
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0] or type(error).__name__
            raise DataError(f"{self.url}: cannot be {done}: {reason}") from error


class _Local:
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        return os.listdir(self._folder) if os.path.isdir(self._folder) else []

    def read(self, name: str) -> bytes:
        with open(os.path.join(self._folder, name), "rb") as file:
            return file.read()

    def write(self, name: str, data: bytes) -> None:
        os.makedirs(self._folder, exist_ok=True)
        with atomic_write(os.path.join(self._folder, name), "wb") as file:
            file.write(data)

    def remove(self, name: str) -> None:
        os.remove(os.path.join(self._folder, name))

    def remove_folder(self) -> None:
        with contextlib.suppress(OSError):
            os.rmdir(self._folder)


class _Remote:
    """Behind fsspec: an object is there whole, or not at all."""

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingDependencyError(f"writing to {url.partition(':')[0]}://", extra="files") from None
        try:
            self._system, self._folder = url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise UsageError(f"{url}: {error}") from None

    def names(self) -> list[str]:
        self._system.invalidate_cache()
        if not self._system.exists(self._folder):
            return []
        return [str(path).rpartition("/")[2] for path in self._system.ls(self._folder, detail=False)]

    def read(self, name: str) -> bytes:
        return bytes(self._system.cat_file(f"{self._folder}/{name}"))

    def write(self, name: str, data: bytes) -> None:
        self._system.makedirs(self._folder, exist_ok=True)
        self._system.pipe_file(f"{self._folder}/{name}", data)

    def remove(self, name: str) -> None:
        self._system.rm_file(f"{self._folder}/{name}")

    def remove_folder(self) -> None:
        with contextlib.suppress(Exception):
            self._system.rmdir(self._folder)


def _name(number: int) -> str:
    return f"part-{number:06}.result"


def _difference(name: str, before: Mapping[str, object], now: Mapping[str, object]) -> str:
    return f"{name} {_short(before.get(name))}, here {_short(now.get(name))}"


def _short(value: object) -> str:
    text = "none" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
