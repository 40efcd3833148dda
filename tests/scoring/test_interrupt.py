"""Ctrl-C in the middle of long native work: a child process gets a real SIGINT while it works."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

PREPARE = """
import signal
import threading
import capeval
from capeval import _core
from capeval.scoring.compare import compare_results
from capeval.scoring.intervals import Resampling

references = {str(i): [f"a brown dog number {i} runs on the beach", "a dog near the sea"] for i in range(1500)}
candidates = {image: "a dog runs on the beach" for image in references}
results = {name: capeval.score(references, candidates, "cider-d", interval=None) for name in "ab"}
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores the signal
few = ["a dog", "a cat"]

def announced(name):
    native = getattr(_core, name)
    def call(*arguments):
        print("working", flush=True)
        return native(*arguments)
    setattr(_core, name, call)

"""

LONG = '[" ".join(f"{i * k % 997}" for i in range(1_900)) for k in range(1, 100)] * 6'

# The native function that is interrupted, and a call that is in it for seconds or hours.
WORK = {
    "bootstrap on all cores": (
        "bootstrap_intervals", "capeval.score(references, candidates, 'rouge-l', samples=10**8)"
    ),
    "bootstrap on one core": (
        "bootstrap_intervals", "capeval.score(references, candidates, 'rouge-l', samples=10**8, threads=1)"
    ),
    "bootstrap of few images": ("bootstrap_intervals", "capeval.score(few, few, 'rouge-l', samples=10**8)"),
    "permutation test": ("paired_permutation", "compare_results(results, resampling=Resampling(None, samples=10**8))"),
    "scoring": ("evaluate", f"long = {LONG}; capeval.score(long, long[::-1], 'meteor', interval=None)"),
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("name", WORK)
def test_an_interrupt_ends_native_work(name: str) -> None:
    native, call = WORK[name]
    program = f"{PREPARE}\nannounced({native!r})\ntry:\n    {call}\n"
    program += "except KeyboardInterrupt:\n    print('interrupted', threading.active_count(), flush=True)\n"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "working\n"
        # A child that does not hear is ended by this, and the test fails by what it printed.
        deadline = threading.Timer(30, child.kill)
        deadline.start()
        try:
            sent = time.monotonic()
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted 1\n"
            print(f"{name}: heard after {time.monotonic() - sent:.2f} s")
        finally:
            deadline.cancel()
            child.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGALRM")
def test_any_handler_of_a_signal_can_end_the_work() -> None:
    import capeval

    def ring(*_: object) -> None:
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(TimeoutError, match="too long"):
            capeval.score(["a dog"] * 99, ["a cat"] * 99, "rouge-l", samples=10**8)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert capeval.score(["a"], ["a"], "rouge-l", interval=None)["rouge-l"] == 1


def test_work_in_other_threads_is_not_disturbed() -> None:
    """Signals are the main thread's; work elsewhere goes on and gives its result."""
    from concurrent.futures import ThreadPoolExecutor

    import capeval

    def work(_: int) -> float:
        return float(capeval.score(["a dog", "a cat"], ["a dog", "a dog"], "rouge-l", samples=20_000)["rouge-l"])

    with ThreadPoolExecutor(4) as pool:
        assert {*pool.map(work, range(8))} == {0.75}
