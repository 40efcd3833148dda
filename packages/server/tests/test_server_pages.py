"""The pages of this member are run, and the help of each of its commands is on one."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from pages import DOCS, check_help, every_page, run_page, subcommands
from sacrecap.cli.main import cli


@every_page("server")
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(page, tmp_path, monkeypatch)


def test_every_command_is_on_the_page_and_no_other() -> None:
    own: dict[str, click.Command] = {}
    for name in ("serve", "submit", "study"):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        own |= subcommands(command, "sacrecap", name)
    check_help(DOCS / "reference" / "command-line-server.md", own)
