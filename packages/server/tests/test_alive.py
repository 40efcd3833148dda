"""Whether a process runs. Windows is simulated: its three functions are played by a class."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

from sacrecap_server.jobs import alive


def test_this_process_runs_and_an_ended_one_does_not() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert alive.is_alive(os.getpid())
    assert not alive.is_alive(ended.pid)


class Kernel:
    """Process 1 runs, 2 has ended with status 0 and is still known, 3 belongs to somebody else, others never were."""

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.error = 0

    def OpenProcess(self, access: int, inherit: bool, process: int) -> int | None:  # noqa: N802
        if process > 2:
            self.error = 5 if process == 3 else 87
            return None
        self.open.add(process)
        return process

    def GetExitCodeProcess(self, handle: ctypes.c_void_p, status: object) -> int:  # noqa: N802
        status._obj.value = 259 if handle.value == 1 else 0  # type: ignore[attr-defined]
        return 1

    def CloseHandle(self, handle: ctypes.c_void_p) -> None:  # noqa: N802
        self.open.discard(handle.value or 0)


def test_no_signal_is_sent_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """There `os.kill(process, 0)` is Ctrl-C."""
    kernel = Kernel()
    monkeypatch.setattr(alive, "_windows", lambda: (kernel, lambda: kernel.error))
    sent = []
    with monkeypatch.context() as there:
        there.setattr(alive.os, "kill", lambda *given: sent.append(given))
        there.setattr(alive.os, "name", "nt")
        found = [alive.is_alive(process) for process in (1, 2, 3, 4)]
    assert found == [True, False, True, False]
    assert not sent
    assert not kernel.open
