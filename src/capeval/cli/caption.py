"""`capeval caption`: captioners, and the data and sets they need; one file a subcommand."""

from __future__ import annotations

from importlib import import_module

import click

from capeval.cli.group import Group

COMMANDS = {
    "scenes": "Draw a made-up data set: scenes of coloured shapes with varied captions.",
    "train": "Train a captioner, with a metric as its reward or without.",
    "retrieval": "Train the model whose reward is how well a caption finds its image.",
    "generate": "Write caption sets of a captioner, by sampling, search and other ways.",
    "sweep": "Train a grid of captioners, score their sets, draw diversity against accuracy.",
}
"""Subcommands by name; each lives in `capeval.cli.caption_<name>` and loads when it is called."""


class CaptionGroup(Group):
    """Loads a subcommand's module on its first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"capeval.cli.caption_{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(name="caption", cls=CaptionGroup)
def command() -> None:
    """Captioners: train them with the metrics as rewards, make caption sets, draw the trade-off.

    Needs the extra train: pip install 'capeval[train]'.
    """
