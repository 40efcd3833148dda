"""A test that wants the shared data is skipped without it, and may not be skipped where it is at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

def test_that_skips(shared):
    pytest.skip("no reason")

def test_that_reads(shared):
    assert shared.is_dir()

@pytest.mark.xfail
def test_that_is_expected_to_fail(shared):
    assert False

def test_of_something_else():
    pytest.skip("allowed")
"""


@pytest.fixture
def run(tmp_path: Path) -> str:
    (tmp_path / "conftest.py").write_bytes((Path(__file__).parent / "environment.py").read_bytes())
    (tmp_path / "test_shared.py").write_text(TESTS)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("is_set", "outcome"), [(True, "1 failed, 1 passed, 1 skipped, 1 xfailed"), (False, "4 skipped")]
)
def test_skips(run: str, is_set: bool, outcome: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "SACRECAP_SHARED"}
    if is_set:
        environment["SACRECAP_SHARED"] = run
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # loading them takes longer than the tests
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", run, run],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=run,
    )
    assert outcome in done.stdout, done.stdout
    assert ("skipped although SACRECAP_SHARED is set" in done.stdout) == is_set
