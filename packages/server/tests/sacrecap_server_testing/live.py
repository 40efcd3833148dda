"""A command that serves, or a server of studies, in a process of its own that can be killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import ClassVar

from sacrecap_server.settings import ServerSettings
from sacrecap_server_testing.ports import free_port

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "sacrecap")


class Live:
    """`start`, `kill` (as a power cut does) and `stop` (as its owner does); the log goes to a file."""

    logs: ClassVar[dict[Path, str]] = {}
    """What servers that have ended wrote, by file: for the test that looks for secrets in them."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.command = [SCRIPT, *command, "--port", str(self.port)]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    @classmethod
    def of_studies(cls, folder: Path, settings: ServerSettings) -> Live:
        """A server of studies with settings that no command has options for; its port is another."""
        live = cls(folder)
        values = {**vars(settings), "port": live.port}
        program = (
            "from sacrecap_server import app, settings\n"
            f"chosen = settings.ServerSettings(**{values!r})\n"
            "app.serve_app(app.create_app(chosen), chosen)"
        )
        live.command = [sys.executable, "-c", program]
        return live

    def start(self) -> None:
        """Returns once it listens."""
        with open(self.folder / "log", "ab") as log:
            began = log.tell()
            self.process = subprocess.Popen(self.command, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)
        while b"sacrecap: serving " not in (self.folder / "log").read_bytes()[began:]:
            assert self.process.poll() is None, self.log()
            time.sleep(0.02)

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.logs[self.folder / "log"] = self.log()

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        status = self.process.wait()
        self.logs[self.folder / "log"] = self.log()
        return status

    def log(self) -> str:
        return (self.folder / "log").read_text()
