"""Ctrl-C in the middle of long native work: a child process gets a real SIGINT while it works."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PREPARE = """
import os
import resource
import signal
import threading
import time
import sacrecap
from sacrecap import _core
from sacrecap.scoring.comparison import Significance, compare_results
from sacrecap.scoring.intervals import Resampling

references = {str(i): [f"a brown dog number {i} runs on the beach", "a dog near the sea"] for i in range(1500)}
candidates = {image: "a dog runs on the beach" for image in references}
results = {name: sacrecap.score(references, candidates, "cider-d", interval=None) for name in "ab"}
few = ["a dog", "a cat"]

def announced(name):
    native = getattr(_core, name)
    def call(*arguments):
        # One that does not hear is ended by its limit of processor time, and the test fails by what it did not print.
        end = int(time.process_time()) + 20 * (os.cpu_count() or 1)
        resource.setrlimit(resource.RLIMIT_CPU, (end, end))
        print("working", flush=True)
        return native(*arguments)
    setattr(_core, name, call)

"""

LONG = '[" ".join(f"{i * k % 997}" for i in range(1_900)) for k in range(1, 100)] * 6'

# The native function that is interrupted, and a call that is in it for seconds or hours.
WORK = {
    "bootstrap on all cores": (
        "bootstrap_intervals",
        "sacrecap.score(references, candidates, 'rouge-l', samples=10**8)",
    ),
    "bootstrap on one core": (
        "bootstrap_intervals",
        "sacrecap.score(references, candidates, 'rouge-l', samples=10**8, threads=1)",
    ),
    "bootstrap of few images": ("bootstrap_intervals", "sacrecap.score(few, few, 'rouge-l', samples=10**8)"),
    "permutation test": (
        "paired_permutation",
        "compare_results(results, Significance(test='permutation'), Resampling(None, samples=10**8))",
    ),
    "scoring": ("evaluate", f"long = {LONG}; sacrecap.score(long, long[::-1], 'meteor', interval=None)"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("name", WORK)
def test_an_interrupt_ends_native_work(name: str) -> None:
    native, call = WORK[name]
    program = f"{PREPARE}\nannounced({native!r})\ntry:\n    {call}\n"
    program += "except KeyboardInterrupt:\n    print('interrupted', threading.active_count(), flush=True)\n"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "working\n"
        try:
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted 1\n"
        finally:
            child.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGVTALRM")
def test_any_handler_of_a_signal_can_end_the_work() -> None:
    import sacrecap

    def ring(*_: object) -> None:
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGVTALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.2)  # of processor time: the work has begun by then
        with pytest.raises(TimeoutError, match="too long"):
            sacrecap.score(["a dog"] * 99, ["a cat"] * 99, "rouge-l", samples=10**8)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert sacrecap.score(["a"], ["a"], "rouge-l", interval=None)["rouge-l"] == 1


def test_work_in_other_threads_is_not_disturbed() -> None:
    """Signals are the main thread's; work elsewhere goes on and gives its result."""
    from concurrent.futures import ThreadPoolExecutor

    import sacrecap

    def work(_: int) -> float:
        return float(sacrecap.score(["a dog", "a cat"], ["a dog", "a dog"], "rouge-l", samples=20_000)["rouge-l"])

    with ThreadPoolExecutor(4) as pool:
        assert {*pool.map(work, range(8))} == {0.75}
