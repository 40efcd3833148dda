"""What the tests run in a child process."""

from __future__ import annotations

import time


def sleep(header, files, progress):
    time.sleep(header["seconds"])
    return {"files": len(files)}


def eat(header, files, progress):
    return {"length": len(b"x" * header["bytes"])}


def fail(header, files, progress):
    raise RuntimeError("a hidden reference")
