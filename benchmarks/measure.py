"""Wall time, processor time and peak memory of a child process, and calls that race each other."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One run of a program."""

    seconds: float
    """Wall time, from starting the process to its end."""
    processor: float
    """Processor seconds of the process and of those that it started and waited for."""
    megabytes: float
    """Peak resident memory of the process itself (a Java child is counted apart, by its parent)."""
    output: str


def run(command: list[str]) -> Run:
    """Runs the command to its end; its output is captured. Fails loudly when it fails."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        output, errors = _drain(process)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} exited {process.returncode}: {errors[-2000:]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def _drain(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Reads both pipes to their ends without reaping the process, whose resource usage `wait4` reports."""
    assert process.stdout is not None
    assert process.stderr is not None
    output = process.stdout.read()
    return output, process.stderr.read()


def write_corpus(folder: Path, images: int, references: int) -> tuple[Path, Path]:
    """Writes generated captions as COCO's JSON; returns the paths of references and candidates.

    A process of its own makes them: Linux counts memory of the parent as that of a child that it starts.
    """
    corpus = Path(__file__).with_name("corpus.py")
    run([sys.executable, str(corpus), str(folder), f"--images={images}", f"--references={references}"])
    return folder / "references.json", folder / "candidates.json"


def race(work: Mapping[str, Callable[[], object]], rounds: int = 5, calls: int = 1) -> None:
    """Least processor seconds of a call of each, printed with how many times those of the last they are.

    They take turns, and of several calls the least counts: what neighbours on the machine add is not counted. The time
    is that of the thread.
    """
    seconds = dict.fromkeys(work, math.inf)
    for _ in range(rounds):
        for name, call in work.items():
            for _ in range(calls):
                started = time.thread_time()
                call()
                seconds[name] = min(seconds[name], time.thread_time() - started)
    *_, own = seconds.values()
    for name, least in seconds.items():
        print(f"| {name} | {1e3 * least:.3f} ms | {least / own:.1f}× |", flush=True)


def machine() -> str:
    """The machine of the measurements."""
    model = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.processor()
    )
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def print_table(heads: str, rows: Iterable[list[str]]) -> None:
    """Prints a table in Markdown, each row when it is there; `heads` are separated by commas."""
    print("|", " | ".join(head.strip() for head in heads.split(",")), "|")
    print("|" + " --- |" * (heads.count(",") + 1), flush=True)
    for row in rows:
        print("|", " | ".join(row), "|", flush=True)
