"""Writes the help of every command beside this file, as a terminal of 100 columns shows it: `python update.py`."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

import click

from capeval.cli.main import cli

FOLDER = Path(__file__).parent


def pages() -> dict[str, str]:
    """Each command's help by file name."""
    return dict(_pages(cli, ()))


def _pages(command: click.Command, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    with redirect_stdout(io.StringIO()) as shown, mock.patch.dict(os.environ, COLUMNS="100"):
        cli.main([*names, "--help"], prog_name="capeval", standalone_mode=False)
    yield "-".join(["capeval", *names]) + ".txt", shown.getvalue()
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            if member is not None:
                yield from _pages(member, (*names, name))


if __name__ == "__main__":
    wanted = pages()
    for path in FOLDER.glob("*.txt"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
