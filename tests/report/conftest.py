"""A browser for the tests of pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def _absent(what: str) -> NoReturn:
    """Without a browser the tests are skipped, but not where they have to pass."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI has to run the browser tests")
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, launched once."""
    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if executable is None:
        _absent("Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _absent("playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()
