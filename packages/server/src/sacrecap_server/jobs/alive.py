"""Whether a process of this machine still runs, without a signal that could disturb it."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_QUERY = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
_STILL_ACTIVE = 259
_INVALID_PARAMETER = 87


def is_alive(process: int) -> bool:
    """Whether this number is that of a running process; true where the system does not tell."""
    if os.name == "nt":
        return _is_alive_on_windows(process, *_windows())
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _windows() -> tuple[Any, Any]:
    """The system's functions, and the function that says why the last one failed."""
    library = vars(ctypes)
    kernel = library["WinDLL"]("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = ctypes.c_void_p
    return kernel, library["get_last_error"]


def _is_alive_on_windows(process: int, kernel: Any, last_error: Any) -> bool:
    """Signal 0 is Ctrl-C there: `os.kill(process, 0)` would interrupt the process that it asks about."""
    handle = kernel.OpenProcess(_QUERY, False, process)
    if not handle:
        # Any other failure is a refusal: the process runs, and belongs to somebody else.
        return bool(last_error() != _INVALID_PARAMETER)
    try:
        status = ctypes.c_ulong()
        known = kernel.GetExitCodeProcess(ctypes.c_void_p(handle), ctypes.byref(status))
        return not known or status.value == _STILL_ACTIVE
    finally:
        kernel.CloseHandle(ctypes.c_void_p(handle))
