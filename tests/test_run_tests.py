"""`make test`: goes on after a target that failed, and ends with a line for each, with the worst status."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from pages import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make on this system")

MAKEFILE = """
ready-good ready-bad ready-empty ready-rust:
ready-lost:
\t@echo "no room on the disk"; exit 3
test-good:
\t@echo "SKIPPED [2] tests/test_a.py:12: no Chromium (apt-get install chromium)"
\t@echo "=== 7 passed, 2 skipped in 0.12s ==="
test-bad:
\t@echo "AssertionError: 1 is not 2"
\t@echo "===== 1 failed, 4 passed, 2 errors in 61.12s (0:01:01) ====="; exit 1
test-empty:
\t@echo "=== 9 deselected in 0.12s ==="
test-rust:
\t@echo "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s"
\t@echo "test result: ok. 6 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s"
test-lost:
\t@echo "never run"
"""


def run(folder: Path, *targets: str) -> tuple[int, list[str]]:
    (folder / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    command = [sys.executable, str(ROOT / "scripts" / "run_tests.py"), *targets]
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKE", "MAKEFLAGS", "MAKELEVEL")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def table(lines: list[str]) -> dict[str, list[str]]:
    """The words of each target's line in the closing table."""
    start = next(place for place, line in enumerate(lines) if line.startswith("All targets"))
    return {line.split()[0]: line.split()[1:] for line in lines[start + 1 :]}


def test_all_targets_pass(tmp_path: Path) -> None:
    status, lines = run(tmp_path, "test-good", "test-rust")
    assert status == 0
    rows = table(lines)
    assert rows["test-good"] == ["7", "passed", "0", "failed", "2", "skipped", "0.0", "minutes", "ok"]
    assert rows["test-rust"] == ["11", "passed", "0", "failed", "1", "skipped", "0.0", "minutes", "ok"]
    assert lines[-2:] == ["skipped 2: no Chromium (apt-get install chromium)", "tests: 18 passed, 0 failed, 3 skipped"]


def test_a_failed_target_is_shown_and_the_others_run(tmp_path: Path) -> None:
    status, lines = run(tmp_path, "test-bad", "test-good", "test-rust")
    assert status == 2  # make's, of a failed target
    rows = table(lines)
    assert rows["test-bad"][:6] == ["4", "passed", "3", "failed", "0", "skipped"]
    assert rows["test-bad"][-2:] == ["FAILED", "(target/tests/test-bad.log)"]
    assert rows["test-good"][-1] == rows["test-rust"][-1] == "ok"
    assert "  AssertionError: 1 is not 2" in lines
    assert lines[-1] == "tests: 22 passed, 3 failed, 3 skipped"


def test_a_target_without_a_test_failed(tmp_path: Path) -> None:
    status, lines = run(tmp_path, "test-good", "test-empty")
    assert status == 1
    assert table(lines)["test-empty"][-2] == "FAILED"


def test_a_target_whose_installation_failed_is_not_run(tmp_path: Path) -> None:
    status, lines = run(tmp_path, "test-lost", "test-good")
    assert status == 2
    assert table(lines)["test-lost"][-2] == "FAILED"
    assert "  no room on the disk" in lines
    assert "  never run" not in lines
    assert table(lines)["test-good"][-1] == "ok"


def test_the_line_of_a_target_has_its_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from run_tests import Outcome

    line = Outcome("test-core", 0, 90, Counter(passed=6050, skipped=3)).line(12)
    assert line == "test-core      6,050 passed    0 failed    3 skipped    1.5 minutes  ok"
