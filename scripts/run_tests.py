"""Runs the targets of `make test`: goes on after a failed one, and ends with a line for each.

usage: run_tests.py [--jobs N] TARGET...

First each target's environment is made (`make ready-NAME` for `test-NAME`), one after the other, since two targets may
share one, and all share the build of the native core. Then the tests run, N targets at a time; never beside an
installation, which would replace the core under them. What they print is in target/tests/TARGET.log; of a target
that failed, the end is shown. The exit status is the worst of the targets'.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

LOGS = Path("target/tests")
END = 60
"""Lines shown of the log of a target that failed."""

_PYTEST = re.compile(r"^=+ (?P<counts>.*) in [0-9.]+s.* =+$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) (passed|failed|error|skipped)")
_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE)
_SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] [^\s:]+(?::\d+)?: (.*)$", re.MULTILINE)


@dataclass
class Outcome:
    """How a target ended."""

    target: str
    status: int
    seconds: float
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Why tests were skipped, with their number."""

    @property
    def log(self) -> Path:
        """The file of what it printed."""
        return LOGS / f"{self.target}.log"

    def line(self, width: int) -> str:
        """Its line of the table."""
        verdict = "ok" if self.status == 0 else f"FAILED ({self.log})"
        counts = f"{self.passed:7,} passed {self.failed:4,} failed {self.skipped:4,} skipped"
        return f"{self.target:{width}} {counts} {self.seconds / 60:6.1f} minutes  {verdict}"


def counted(outcome: Outcome, text: str) -> Outcome:
    """The outcome with the counts that pytest and cargo printed; where no test ran, it failed."""
    for closing in _PYTEST.finditer(text):
        for number, word in _COUNT.findall(closing["counts"]):
            name = "failed" if word == "error" else word
            setattr(outcome, name, getattr(outcome, name) + int(number))
    for passed, failed, ignored in _CARGO.findall(text):
        outcome.passed += int(passed)
        outcome.failed += int(failed)
        outcome.skipped += int(ignored)
    for number, reason in _SKIPPED.findall(text):
        outcome.reasons[reason] += int(number)
    if outcome.status == 0 and not outcome.passed:
        outcome.status = 1
    return outcome


def run(target: str, log: Path, mode: str) -> int:
    """Makes the target, with what it prints in the log; its exit status."""
    with log.open(mode) as file:
        command = [os.environ.get("MAKE", "make"), "--no-print-directory", target]
        return subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False).returncode


def made_ready(target: str) -> int:
    """Installs what the target needs; the exit status."""
    print(f"{target}: installing what it needs", flush=True)
    return run(target.replace("test-", "ready-"), LOGS / f"{target}.log", "w")


def tested(target: str, ready: int) -> Outcome:
    """Runs the tests of a target whose environment was made with that exit status."""
    began = time.monotonic()
    outcome = Outcome(target, ready, 0)
    if ready == 0:
        outcome.status = run(target, outcome.log, "a")
    outcome.seconds = time.monotonic() - began
    return counted(outcome, outcome.log.read_text(encoding="utf-8", errors="replace"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time (2)")
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    arguments = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    ready = {target: made_ready(target) for target in arguments.targets}
    print(f"everything is installed after {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
    width = max(map(len, arguments.targets))
    outcomes: dict[str, Outcome] = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for future in as_completed([pool.submit(tested, target, ready[target]) for target in arguments.targets]):
            outcome = future.result()
            outcomes[outcome.target] = outcome
            print(outcome.line(width), flush=True)
            if outcome.status:
                lines = outcome.log.read_text(encoding="utf-8", errors="replace").splitlines()
                print(*(f"  {line}" for line in lines[-END:]), sep="\n", flush=True)
    report([outcomes[target] for target in arguments.targets], width, time.monotonic() - began)


def report(outcomes: list[Outcome], width: int, seconds: float) -> None:
    """Prints a line a target, why tests were skipped, and the sums; leaves with the worst status."""
    print(f"\nAll targets, {seconds / 60:.1f} minutes:", *(outcome.line(width) for outcome in outcomes), sep="\n")
    reasons = sum((outcome.reasons for outcome in outcomes), Counter[str]())
    for reason, number in reasons.most_common():
        print(f"skipped {number}: {reason}")
    sums = (sum(getattr(outcome, name) for outcome in outcomes) for name in ("passed", "failed", "skipped"))
    print("tests: {} passed, {} failed, {} skipped".format(*sums), flush=True)
    sys.exit(max(outcome.status for outcome in outcomes))


if __name__ == "__main__":
    main()
