"""`-q` leaves standard error to errors."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from runner import Runner

NOISY = """
import sys, warnings
import sacrecap

@sacrecap.metric
def noisy(candidate):
    "Says a lot."
    print("a bar of a library", file=sys.stderr)
    warnings.warn("of a library")
    return len(candidate) / 100
"""


@pytest.fixture
def noisy(write: Callable[[str, object], str]) -> list[str]:
    """A call whose metric warns and prints."""
    write("noisy.py", NOISY)
    write("r.json", {"1": ["a dog"]})
    write("c.json", {"1": "a dog"})
    return ["score", "r.json", "c.json", "--metrics", "noisy", "--interval", "none", "--plugin", "noisy.py"]


def test_nothing_but_the_scores(run: Runner, noisy: list[str]) -> None:
    loud = run.here(*noisy)
    for said in ("a bar of a library", "sacrecap: warning: of a library"):
        assert said in loud.stderr
    before = sys.stderr
    assert run.ok(*noisy, "-q") == loud.stdout
    assert run.ok(*noisy, "--quiet") == loud.stdout
    assert sys.stderr is before


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--metrics", "cidre"], 2, "sacrecap: unknown metric 'cidre'"),
        (["--samples", "many"], 2, "sacrecap: Invalid value for '--samples'"),
        (["--need", "x"], 2, "sacrecap: --need takes NAME=VALUE"),
        (["--need", "objects=o.json"], 2, "sacrecap: --need is not for objects, which an option"),
    ],
)
def test_errors_are_said(run: Runner, noisy: list[str], options: list[str], status: int, message: str) -> None:
    for given in ([*noisy, "-q", *options], [noisy[0], "-q", *noisy[1:], *options]):
        ended = run.here(*given)
        assert (ended.status, ended.stdout) == (status, "")
        assert ended.stderr.startswith(message)
        assert ended.stderr.count("\n") == 1


def test_a_fault_is_said(run: Runner, noisy: list[str]) -> None:
    (run.folder / "noisy.py").write_text(NOISY.replace("return len", "raise SystemError('a fault')\n    return len"))
    ended = run.here(*noisy, "-q")
    assert ended.status in {1, 2}
    assert "a fault" in ended.stderr
    assert "a bar" not in ended.stderr


def test_a_failed_check_is_said(run: Runner, noisy: list[str]) -> None:
    ended = run.here("check", *noisy[1:3], "--min", "bleu-1=2", "-q")
    assert (ended.status, ended.stderr) == (3, "sacrecap: 1 of 1 check failed: BLEU-1 1.0000 is below 2\n")
