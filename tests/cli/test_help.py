"""Every command's help is on the page of the command line; `tests/test_docs.py` compares it with the program's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from capeval import __version__
from capeval.cli.main import cli
from runner import Runner

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"


def commands(command: click.Command = cli, names: tuple[str, ...] = ("capeval",)) -> Iterator[str]:
    """The names of every command, as they are typed."""
    yield " ".join(names)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            assert member is not None
            yield from commands(member, (*names, name))


def test_every_command_is_on_the_page_and_no_other() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    shown = [line.removeprefix("$ ").removesuffix(" --help") for line in lines if line.endswith(" --help")]
    assert sorted(shown) == sorted(commands())
    assert len(shown) > 20


def test_help_fits_a_terminal(run: Runner) -> None:
    for command in commands():
        shown = run.ok(*command.split()[1:], "--help", env={"COLUMNS": "100"})
        assert max(map(len, shown.splitlines())) <= 100


def test_short_help_and_version(run: Runner) -> None:
    assert run.ok("-h") == run.ok("--help")
    assert run.ok("--version") == f"capeval, version {__version__}\n"
