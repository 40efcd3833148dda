"""A separate process for work on strangers' data, with limits on time and memory.

The child gets JSON and files on standard input and answers in JSON on standard output. No hidden data leaves it in
messages: an unexpected failure is only reported as such. It ends with its parent, whatever ends that.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

from sacrecap.errors import SacrecapError


@dataclass(frozen=True)
class ResourceLimits:
    """Most wall-clock seconds and most address space, MiB."""

    seconds: int
    memory: int


class ChildFailedError(Exception):
    """The child ended without an answer; the message says why."""


class ChildRefusedError(ChildFailedError):
    """The work itself refused, by a `SacrecapError`; its message may name files, and is for the host."""


def run_child(
    compute: str,
    header: dict[str, Any],
    files: list[bytes],
    limits: ResourceLimits,
    stop: threading.Event | None = None,
) -> Any:
    """The answer of `module:function(header, files)`, run in a child; what it has started ends with it.

    Raises `ChildRefusedError` if the work refuses, `ChildFailedError` if the child fails or takes too much, and
    `InterruptedError` once `stop` is set.
    """
    command = [sys.executable, "-m", "sacrecap_server.child", compute, str(limits.seconds), str(limits.memory)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    chunks: list[bytes] = []
    pipe = process.stdout
    listener = threading.Thread(target=lambda: chunks.append(pipe.read()), daemon=True)
    feeder = threading.Thread(target=_feed, args=(process.stdin, header, files), daemon=True)
    listener.start()
    feeder.start()
    ends = time.monotonic() + limits.seconds
    try:
        while listener.is_alive() and process.poll() is None:
            listener.join(0.05)
            if stop is not None and stop.is_set():
                raise InterruptedError
            if time.monotonic() > ends:
                raise ChildFailedError(f"It took longer than the {limits.seconds} seconds allowed.")
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
        feeder.join()
        listener.join()
        pipe.close()
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        report = json.loads(chunks[0])
    except ValueError:
        report = {"memory": True} if process.returncode < 0 else {}
    if "answer" in report:
        return report["answer"]
    if "refused" in report:
        raise ChildRefusedError(report["refused"])
    if "memory" in report:
        raise ChildFailedError(f"It needed more than the {limits.memory} MiB of memory or the processor time allowed.")
    raise ChildFailedError("Something unexpected happened; the host finds the kind of it in the log.")


def _feed(pipe: IO[bytes], header: dict[str, Any], files: list[bytes]) -> None:
    """The pipe stays open: its end tells the child that its parent is gone."""
    with contextlib.suppress(OSError):
        pipe.write(json.dumps({"header": header, "sizes": [len(file) for file in files]}).encode() + b"\n")
        for file in files:
            pipe.write(file)
        pipe.flush()


def main() -> None:
    """The child's side."""
    compute, *limits = sys.argv[1:]
    seconds, memory = map(int, limits)
    with contextlib.suppress(ImportError):  # no such limits on Windows
        import resource

        # Before anything is read. Processor time is for a child whose parent cannot end it.
        resource.setrlimit(resource.RLIMIT_AS, (memory * 2**20, memory * 2**20))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds * 2, seconds * 2 + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # People who wait for a page come first.
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    answers = sys.stdout.buffer
    # Output of other code must not get between.
    sys.stdout = sys.stderr
    start = json.loads(sys.stdin.buffer.readline())
    files = [sys.stdin.buffer.read(size) for size in start["sizes"]]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    module, _, name = compute.partition(":")
    try:
        report = {"answer": getattr(import_module(module), name)(start["header"], files)}
    except MemoryError:
        report = {"memory": True}
    except Exception as error:  # noqa: BLE001  (its text may hold hidden data)
        report = {"refused": str(error)} if isinstance(error, SacrecapError) else {"failed": type(error).__name__}
    answers.write(json.dumps(report).encode())
    answers.flush()
    os._exit(0)  # the thread that waits for the parent holds the pipe


def _end_with_parent() -> None:
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    main()
