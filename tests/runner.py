"""Runs the installed `capeval` script as users do."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = Path(sysconfig.get_path("scripts")) / "capeval"


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    stdout: str
    stderr: str


class Runner:
    """Runs `capeval` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def environment(self, **changes: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
        return {**kept, "XDG_DATA_HOME": str(self.folder / "user-data"), **changes}

    def command(self, *arguments: object) -> list[str | bytes]:
        return [str(SCRIPT), *(a if isinstance(a, bytes) else str(a) for a in arguments)]

    def start(self, *arguments: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(*arguments),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, env=self.environment(),
        )  # fmt: skip

    def __call__(self, *arguments: object, stdin: str | bytes = b"", env: Mapping[str, str] | None = None) -> Ended:
        done = subprocess.run(
            self.command(*arguments),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True, check=False, timeout=60, cwd=self.folder, env=self.environment(**(env or {})),
        )  # fmt: skip
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ok(self, *arguments: object, **options: Any) -> str:
        """Standard output of a run that ends well and says nothing beside it."""
        ended = self(*arguments, **options)
        assert (ended.status, ended.stderr) == (0, "")
        return ended.stdout

    def refused(self, *arguments: object, **options: Any) -> str:
        """The one message of a run that is refused, which writes nothing anywhere."""
        before = self.files()
        ended = self(*arguments, **options)
        assert ended.status == 2, ended
        assert ended.stdout == ""
        assert ended.stderr.startswith("capeval: ")
        assert ended.stderr.endswith("\n")
        assert len(ended.stderr.splitlines()) == 1, ended.stderr
        assert self.files() == before
        return ended.stderr.removeprefix("capeval: ").rstrip("\n")

    def files(self) -> dict[str, bytes | None]:
        """Everything in the folder."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
            for path in self.folder.rglob("*")
        }
