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
WORDS = ("passed", "failed", "skipped")

_PYTEST = re.compile(r"^=+ (?P<counts>.*) in [0-9.]+s.* =+$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) (passed|failed|error|skipped)")
_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE)
_SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] [^\s:]+(?::\d+)?: (.*)$", re.MULTILINE)


@dataclass
class Outcome:
    """How a target ended."""

    target: str
    status: int
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    """Tests by `WORDS`."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why tests were skipped, with their number."""

    @property
    def log(self) -> Path:
        """The file of what it printed."""
        return LOGS / f"{self.target}.log"

    def line(self, width: int) -> str:
        """Its line of the table."""
        verdict = "ok" if self.status == 0 else f"FAILED ({self.log})"
        counts = [
            f"{self.counts[word]:{wide},} {word}" for word, wide in (("passed", 7), ("failed", 4), ("skipped", 4))
        ]
        return f"{self.target:{width}} {' '.join(counts)} {self.seconds / 60:6.1f} minutes  {verdict}"


def run(target: str, log: Path, mode: str) -> int:
    """Makes the target, with what it prints in the log; its exit status."""
    with log.open(mode) as file:
        command = [os.environ.get("MAKE", "make"), "--no-print-directory", target]
        return subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False).returncode


def installed(target: str) -> Outcome:
    """Installs what the target needs."""
    print(f"{target}: installing what it needs", flush=True)
    outcome = Outcome(target, 0)
    outcome.status = run(target.replace("test-", "ready-"), outcome.log, "w")
    return outcome


def tested(outcome: Outcome) -> Outcome:
    """Runs the tests of a target that is installed, with the counts that pytest and cargo print; none is a failure."""
    began = time.monotonic()
    if outcome.status == 0:
        outcome.status = run(outcome.target, outcome.log, "a")
    outcome.seconds = time.monotonic() - began
    text = outcome.log.read_text(encoding="utf-8", errors="replace")
    for closing in _PYTEST.finditer(text):
        for number, word in _COUNT.findall(closing["counts"]):
            outcome.counts["failed" if word == "error" else word] += int(number)
    for numbers in _CARGO.findall(text):
        outcome.counts.update(dict(zip(WORDS, map(int, numbers), strict=True)))
    for number, reason in _SKIPPED.findall(text):
        outcome.reasons[reason] += int(number)
    outcome.status = outcome.status or int(not outcome.counts["passed"])
    return outcome


def main() -> None:
    """The command line: a line a target, why tests were skipped, and the sums; leaves with the worst status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time (2)")
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    arguments = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    outcomes = [installed(target) for target in arguments.targets]
    print(f"everything is installed after {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
    width = max(map(len, arguments.targets))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for future in as_completed([pool.submit(tested, outcome) for outcome in outcomes]):
            outcome = future.result()
            print(outcome.line(width), flush=True)
            if outcome.status:
                lines = outcome.log.read_text(encoding="utf-8", errors="replace").splitlines()
                print(*(f"  {line}" for line in lines[-END:]), sep="\n", flush=True)
    print(f"\nAll targets, {(time.monotonic() - began) / 60:.1f} minutes:")
    print(*(outcome.line(width) for outcome in outcomes), sep="\n")
    for reason, number in sum((outcome.reasons for outcome in outcomes), Counter[str]()).most_common():
        print(f"skipped {number}: {reason}")
    sums = sum((outcome.counts for outcome in outcomes), Counter[str]())
    print("tests: {passed} passed, {failed} failed, {skipped} skipped".format_map(sums), flush=True)
    sys.exit(max(outcome.status for outcome in outcomes))


if __name__ == "__main__":
    main()
