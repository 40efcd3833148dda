"""Functions in processes of their own, as torchrun starts them.

They are forked from one process that has imported what they need: importing PyTorch takes longer than such a test.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import pytest

_ahead = ["pytest"]
_FORKS = multiprocessing.get_context("forkserver")


def import_ahead(*modules: str) -> None:
    """What the processes find imported, where it is installed. To be said before the first of them starts."""
    _ahead.extend(modules)


def in_processes(
    work: Callable[..., object],
    *arguments: object,
    folder: Path,
    processes: int = 2,
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """What each process prints, first to last; the test fails with it where one of them fails.

    Args:
        work: a function of a module, called with the arguments in every process.
        arguments: they and the function are pickled.
        folder: where the processes run, and where what they print is kept.
        processes: how many there are; of several each finds its rank in its environment.
        environment: beside that of this process.
    """
    # One that is told a rank waits for others.
    alone = {name: value for name, value in os.environ.items() if name not in ("RANK", "LOCAL_RANK", "WORLD_SIZE")}
    common = {**alone, **(environment or {}), "OMP_NUM_THREADS": "1"}
    environments = [common]
    if processes > 1:
        from torch.distributed import TCPStore

        # As torchrun has it: they meet on a port that nobody else can take before they come.
        meeting = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        common |= {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(meeting.port),
            "WORLD_SIZE": str(processes),
            "TORCHELASTIC_USE_AGENT_STORE": "True",
            "TORCHELASTIC_RESTART_COUNT": "0",
        }
        environments = [{**common, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(processes)]
    printed = [folder / f"printed-{rank}" for rank in range(processes)]
    with pytest.MonkeyPatch.context() as patch:  # of the process that is forked
        patch.setenv("OMP_NUM_THREADS", "1")
        _FORKS.set_forkserver_preload(_ahead)
        started = [
            _FORKS.Process(target=_begin, args=(folder, *one, work, arguments))
            for one in zip(printed, environments, strict=True)
        ]
        for process in started:
            process.start()
    left = {process.sentinel: process for process in started}
    while left:
        for sentinel in wait(list(left)):
            process = left.pop(sentinel)
            process.join()
            if process.exitcode:  # the others wait for it
                for other in left.values():
                    other.terminate()
    said = [path.read_text("utf-8") for path in printed]
    assert not any(process.exitcode for process in started), "\n".join(said)
    return said


def _begin(
    folder: Path, printed: Path, environment: Mapping[str, str], work: Callable[..., object], arguments: tuple[Any, ...]
) -> None:
    with open(printed, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    work(*arguments)
