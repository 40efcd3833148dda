"""A separate process for work on strangers' data, with limits on time and memory.

The child gets JSON and files on standard input and answers in JSON lines on standard output. It knows no database and,
except for webhooks, no network address. No hidden data leaves it in messages: an unexpected failure is only
reported as such.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

from sacrecap.errors import SacrecapError, words_of_command_line

_BEAT_SECONDS = 1.0


@dataclass(frozen=True)
class ResourceLimits:
    """Most wall-clock seconds and most address space, MiB."""

    seconds: int
    memory: int


class ChildFailedError(Exception):
    """The child ended without an answer; the message says why, and may be shown to the people concerned."""


def run_child(
    compute: str, header: dict[str, Any], files: list[bytes], limits: ResourceLimits, beat: Callable[[str], None]
) -> dict[str, Any]:
    """The answer of `module:function(header, files, progress)`, run in a child.

    `beat` is called every second with what the child says it is doing, or an empty text; what it raises ends the child.
    Raises `ChildFailedError` if the child fails or takes too much.
    """
    command = [sys.executable, "-m", "sacrecap_server.jobs.child", compute, str(limits.seconds), str(limits.memory)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    heard: list[dict[str, Any]] = []
    listener = threading.Thread(target=_listen, args=(process.stdout, heard), daemon=True)
    listener.start()
    feeder = threading.Thread(target=_feed, args=(process.stdin, header, files), daemon=True)
    feeder.start()
    try:
        _wait(listener, heard, limits, beat)
    finally:
        process.kill()
        process.wait()
        feeder.join()
        listener.join()
        process.stdout.close()
    return _answer(heard, process.returncode, limits)


def _feed(pipe: IO[bytes], header: dict[str, Any], files: list[bytes]) -> None:
    with contextlib.suppress(OSError), pipe:
        pipe.write(json.dumps({"header": header, "sizes": [len(file) for file in files]}).encode() + b"\n")
        for file in files:
            pipe.write(file)


def _listen(pipe: IO[bytes], heard: list[dict[str, Any]]) -> None:
    with contextlib.suppress(ValueError, OSError):
        heard.extend(json.loads(line) for line in pipe)


def _wait(
    listener: threading.Thread, heard: list[dict[str, Any]], limits: ResourceLimits, beat: Callable[[str], None]
) -> None:
    ends = time.monotonic() + limits.seconds
    passed_on = 0
    beaten = time.monotonic()
    while listener.is_alive():
        listener.join(0.05)
        if time.monotonic() > ends:
            raise ChildFailedError(f"It took longer than the {limits.seconds} seconds allowed.")
        if len(heard) > passed_on or time.monotonic() - beaten > _BEAT_SECONDS:
            passed_on, beaten = len(heard), time.monotonic()
            beat(heard[-1].get("progress", "") if heard else "")


def _answer(heard: list[dict[str, Any]], status: int | None, limits: ResourceLimits) -> dict[str, Any]:
    last = heard[-1] if heard else {}
    if "answer" in last:
        answer: dict[str, Any] = last["answer"]
        return answer
    if "refused" in last:
        raise ChildFailedError(last["refused"])
    if last.get("memory") or (status is not None and status < 0):
        raise ChildFailedError(f"It needed more than the {limits.memory} MiB of memory or the processor time allowed.")
    raise ChildFailedError("Something unexpected happened; the people who run this server have been told.")


@words_of_command_line()
def main() -> None:
    """The child's side."""
    compute, seconds, memory = sys.argv[1:]
    _limit(int(seconds), int(memory))
    # People who wait for a page come first.
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    say = _Sayer(sys.stdout.buffer)
    # Output of other code must not get between our lines.
    sys.stdout = sys.stderr
    try:
        start = json.loads(sys.stdin.buffer.readline())
        files = [sys.stdin.buffer.read(size) for size in start["sizes"]]
        module, _, name = compute.partition(":")
        say(answer=getattr(import_module(module), name)(start["header"], files, lambda text: say(progress=text)))
    except MemoryError:
        say(memory=True)
    except Exception as error:  # noqa: BLE001  (its text may hold hidden data)
        say(**({"refused": str(error)} if isinstance(error, SacrecapError) else {"failed": type(error).__name__}))


class _Sayer:
    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe

    def __call__(self, **said: object) -> None:
        self._pipe.write(json.dumps(said).encode() + b"\n")
        self._pipe.flush()


def _limit(seconds: int, memory: int) -> None:
    """Before anything is read. Processor time is for a child whose parent was killed and cannot end it."""
    try:
        import resource
    except ImportError:  # no such limits on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory * 2**20, memory * 2**20))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds * 2, seconds * 2 + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
