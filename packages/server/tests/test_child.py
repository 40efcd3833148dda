"""Children that take too much, fail, are told to stop, or lose their parent."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sacrecap_server.child import ChildFailedError, ResourceLimits, run_child

LIMITS = ResourceLimits(seconds=300, memory=4096)


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)


def test_a_child_ends_with_its_time_its_memory_or_its_failure():
    assert run_child("child_work:sleep", {"seconds": 0}, [b"", b"x" * 10**6], LIMITS) == {"files": 2}
    with pytest.raises(ChildFailedError, match="longer than the 1 seconds"):
        run_child("child_work:sleep", {"seconds": 300}, [], ResourceLimits(1, 4096))
    with pytest.raises(ChildFailedError, match="more than the 2000 MiB"):
        run_child("child_work:eat", {"bytes": 3 * 2**30}, [], ResourceLimits(300, 2000))
    with pytest.raises(ChildFailedError, match="unexpected") as failure:
        run_child("child_work:fail", {}, [], LIMITS)
    assert "hidden" not in str(failure.value)


def test_a_child_stops_where_it_is_told_to():
    stop = threading.Event()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    with pytest.raises(InterruptedError):
        run_child("child_work:sleep", {"seconds": 300}, [], LIMITS, stop)
    timer.join()


def is_still(file: Path) -> bool:
    size = file.stat().st_size
    time.sleep(0.5)
    return file.stat().st_size == size


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_what_a_child_started_ends_with_it(tmp_path):
    file = tmp_path / "alive"
    run_child("child_work:start_another", {"file": str(file), "seconds": 0}, [], LIMITS)
    assert is_still(file)


def test_a_child_ends_with_its_parent_whatever_ends_that(tmp_path):
    program = (
        "import sys; from sacrecap_server.child import ResourceLimits, run_child; "
        "run_child('child_work:beat', {'file': sys.argv[1]}, [], ResourceLimits(300, 4096))"
    )
    file = tmp_path / "alive"
    parent = subprocess.Popen([sys.executable, "-c", program, file])
    while not file.exists():
        assert parent.poll() is None
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    ends = time.monotonic() + 60
    while not is_still(file):
        assert time.monotonic() < ends
