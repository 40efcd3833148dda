"""What all tests share: data from outside the repository, the original tokenizer, and how hard Hypothesis tries."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile(
    "capeval",
    deadline=None,
    derandomize="CI" in os.environ,
    max_examples=int(os.environ.get("CAPEVAL_EXAMPLES", "50")),
)
settings.load_profile("capeval")

SHARED = "CAPEVAL_SHARED"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of research data, checks and facts that `CAPEVAL_SHARED` names; without it the test is skipped."""
    if SHARED not in os.environ:
        pytest.skip(f"{SHARED} does not name the folder of shared data")
    return Path(os.environ[SHARED])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where the shared data is at hand, a test that wants it must run: skipping it is failing."""
    report = yield
    wants_shared = "shared" in getattr(item, "fixturenames", ())
    if report.skipped and not hasattr(report, "wasxfail") and wants_shared and SHARED in os.environ:
        report.outcome = "failed"
        report.longrepr = f"skipped although {SHARED} is set: {report.longrepr}"
    return report


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `java` need a Java runtime; continuous integration has to have one."""
    if item.get_closest_marker("java") is not None and shutil.which("java") is None:
        if "CI" in os.environ:
            pytest.fail("no Java runtime, and CI is set: install one, so that the original tokenizer is run")
        pytest.skip("no Java runtime")
