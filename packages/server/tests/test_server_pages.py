"""The pages of this member are run, and the help of each of its commands is on one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import check_help, every_page, run_page


@every_page("server")
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(page, tmp_path, monkeypatch)


def test_every_command_is_on_the_page_and_no_other() -> None:
    check_help("contest", "submit", "study")
