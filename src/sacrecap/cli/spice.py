"""`sacrecap spice`: the original SPICE program."""

from __future__ import annotations

import click

from sacrecap.cli import options
from sacrecap.cli.group import Group
from sacrecap.cli.interruptible import stage


@click.group(name="spice", cls=Group)
def command() -> None:
    """The original SPICE program, which spice(parser=stanford) runs.

    The metric spice needs none of this: its parser is part of sacrecap.
    """


@command.command(short_help="Fetch the original program, once.")
@click.option("--from", "source", metavar="DIR", help="Copy the files from this folder, on a machine without internet.")
@click.option(
    "--java", metavar="PATH", help="The Java to run it with, 8 or newer; by default that of JAVA_HOME or PATH."
)
@click.option("--memory", metavar="SIZE", help="The most memory that it may use; 4G by default.")
@options.quiet
def setup(source: str | None, java: str | None, memory: str | None) -> None:
    """Fetch the original SPICE program (417 MB, once), check it, find Java, and run a test.

    The files go to the user's data folder, each compared with its published checksum. If it is interrupted, the same
    command continues where it stopped. If all is installed, it only runs the test.
    """
    from sacrecap.resources.stanford.setup import set_up

    stage.text = "checking"
    set_up(source=source, java=java, memory=memory, say=options.emit, progress=_show)


def _show(name: str, done: int, all_: int) -> None:
    stage.text = f"{name}: {done / 1e6:,.1f} of {all_ / 1e6:,.1f} MB" if all_ > 1 else name
