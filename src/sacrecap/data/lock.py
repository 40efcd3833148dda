"""A lock: a file that one process at a time may hold."""

from __future__ import annotations

from typing import IO


def lock(file: IO[bytes], *, wait: bool) -> None:
    """Locks an open file for this process until it is closed, or the process ends, if the platform can.

    Raises:
        BlockingIOError: another process holds it, and `wait` is false.
    """
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
