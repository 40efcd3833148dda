"""Runs the installed `sacrecap` script as users do, or its command line in this process."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sacrecap.cli.main import main

OF_THE_TERMINAL = ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
SCRIPT = Path(sysconfig.get_path("scripts")) / "sacrecap"


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    stdout: str
    stderr: str


class Written(io.TextIOWrapper):
    """A standard stream whose bytes are kept in `buffer`."""

    buffer: io.BytesIO


def written() -> Written:
    return Written(io.BytesIO(), encoding="utf-8")


def in_this_process(arguments: Iterable[str], out: Written, err: Written, stdin: bytes = b"") -> int:
    """The exit status of `sacrecap` with these arguments, run here; `out` and `err` may be one stream."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.resetwarnings()  # what pytest makes an error is a line on standard error here
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)  # as Python does by itself
        patch.setattr(sys, "argv", ["sacrecap", *arguments])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as left:
            main()
        out.flush()
        err.flush()
    return int(left.value.code or 0)


class Runner:
    """Runs `sacrecap` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def environment(self, **changes: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in OF_THE_TERMINAL}
        return {**kept, "XDG_DATA_HOME": self.user_data, **changes}

    @property
    def user_data(self) -> str:
        return str(self.folder / "user-data")

    def command(self, *arguments: object) -> list[str | bytes]:
        return [str(SCRIPT), *(a if isinstance(a, bytes) else str(a) for a in arguments)]

    def start(self, *arguments: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(*arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=self.environment(),
        )

    def __call__(self, *arguments: object, stdin: str | bytes = b"", env: Mapping[str, str] | None = None) -> Ended:
        done = subprocess.run(
            self.command(*arguments),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            check=False,
            cwd=self.folder,
            env=self.environment(**(env or {})),
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def here(self, *arguments: object, stdin: str | bytes = b"", colours: bool = False) -> Ended:
        """As a call, but in this process: starting Python takes longer than most commands, PyTorch many times that."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name in OF_THE_TERMINAL:
                patch.delenv(name, raising=False)
            if colours:
                patch.setenv("FORCE_COLOR", "1")
            patch.setenv("XDG_DATA_HOME", self.user_data)
            out, err = written(), written()
            given = stdin.encode() if isinstance(stdin, str) else stdin
            status = in_this_process(map(os.fsdecode, self.command(*arguments)[1:]), out, err, given)
        return Ended(status, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())

    def ok(self, *arguments: object, **options: Any) -> str:
        """Standard output of a run that ends well and says nothing beside it.

        In this process, unless it is given an environment; what is run by a call goes through the installed script.
        """
        ended = self(*arguments, **options) if "env" in options else self.here(*arguments, **options)
        assert (ended.status, ended.stderr) == (0, ""), ended.stderr
        return ended.stdout

    def refused(self, *arguments: object, **options: Any) -> str:
        """The one message of a run that is refused, which writes nothing anywhere.

        In this process, unless it is given an environment.
        """
        before = self.files()
        ended = self(*arguments, **options) if "env" in options else self.here(*arguments, **options)
        assert ended.status == 2, ended
        assert ended.stdout == ""
        assert ended.stderr.startswith("sacrecap: ")
        assert ended.stderr.endswith("\n")
        assert len(ended.stderr.splitlines()) == 1, ended.stderr
        assert self.files() == before
        return ended.stderr.removeprefix("sacrecap: ").rstrip("\n")

    def files(self) -> dict[str, bytes | None]:
        """Everything in the folder."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
            for path in self.folder.rglob("*")
        }
