"""What the tests run in a child process."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path


def sleep(header, files):
    time.sleep(header["seconds"])
    return {"files": len(files)}


def eat(header, files):
    return {"length": len(b"x" * header["bytes"])}


def fail(header, files):
    raise RuntimeError("a hidden reference")


def start_another(header, files):
    """A process of the child's own, which tells that it lives as long as it does."""
    program = "import sys, time\nwhile True: open(sys.argv[1], 'a').write('.'); time.sleep(0.05)"
    subprocess.Popen([sys.executable, "-c", program, header["file"]])
    while not Path(header["file"]).exists():
        time.sleep(0.05)
    time.sleep(header["seconds"])


def beat(header, files):
    while True:
        with open(header["file"], "a") as file:
            file.write(".")
        time.sleep(0.05)
