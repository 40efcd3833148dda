"""A file for one process at a time."""

from __future__ import annotations

from typing import IO


def lock(file: IO[bytes], *, wait: bool) -> None:
    """Keeps an open file to this process until it is closed, or the process ends; where the platform can.

    Raises:
        BlockingIOError: another process has it, and `wait` is false.
    """
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
