"""What all tests share: data from outside the repository, a browser, and how hard Hypothesis tries."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import settings

settings.register_profile(
    "sacrecap",
    deadline=None,
    derandomize="CI" in os.environ,
    max_examples=int(os.environ.get("SACRECAP_EXAMPLES", "15")),
)
settings.load_profile("sacrecap")

# A shell's job in the background ignores Ctrl-C, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = "SACRECAP_SHARED"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of research data, checks and facts that `SACRECAP_SHARED` names; without it the test is skipped."""
    if SHARED not in os.environ:
        pytest.skip(f"{SHARED} does not name the folder of shared data")
    return Path(os.environ[SHARED])


@pytest.fixture(autouse=True)
def metrics_of_a_test() -> Iterator[None]:
    """What a test registers is gone after it."""
    from sacrecap.metrics import registry

    before = dict(registry._ADDED)
    yield
    registry._ADDED.clear()
    registry._ADDED.update(before)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are drawn, but their files stay empty: a PNG takes a third of a second of processor time.
    `report/test_pictures.py` looks at whole ones.
    """
    monkeypatch.setattr("sacrecap.report.pictures._rendered", lambda drawn, format_: b"")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without a test that is asked for are not imported: PyTorch or Ray alone take seconds.

    Such are those of nothing else where tests that need it are left out, and where one mark is asked for, as by
    `-m browser`, those that do not have it.
    """
    asked = config.option.markexpr
    left_out = [mark for mark in ("torch", "ray") if f"not {mark}" in asked]
    if not collection_path.match("test_*.py") or not (left_out or asked.isidentifier()):
        return None
    text = collection_path.read_text("utf-8")
    if asked.isidentifier():
        return f"pytest.mark.{asked}" not in text or None
    return any(f"\npytestmark = pytest.mark.{mark}\n" in text for mark in left_out) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Simulations and other long tests, marked `soak`, run where they are asked for: `make soak`."""
    if "soak" in config.option.markexpr:
        return
    soaks = [item for item in items if item.get_closest_marker("soak")]
    config.hook.pytest_deselected(items=soaks)
    items[:] = [item for item in items if item not in soaks]


def pytest_collection_finish() -> None:
    """The tests and what they import stay: the garbage collector need not go through a million objects each time."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests measured and recorded, by pytest's `record_property`."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties if report.when == "call" else ():
            terminalreporter.write_line(f"{report.nodeid.partition('::')[2]}: {name} {value}")


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


_BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def absent(what: str) -> NoReturn:
    """Without a browser the tests are skipped, but not where they have to pass."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI has to run the browser tests")
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, launched once."""
    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if executable is None:
        absent("Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=_BROWSER_ARGUMENTS, timeout=300_000)
        yield browser
        browser.close()
