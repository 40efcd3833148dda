"""A command that has subcommands."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click


class Group(click.Group):
    """Shows its help where a subcommand is needed and none given, and the nearest name where there is none like it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, names = args[0], self.list_commands(ctx)
        if name not in names and not name.startswith("-"):
            import difflib

            near = difflib.get_close_matches(name, names, n=1)
            suggestion = f" (did you mean {near[0]!r}?)" if near else ""
            ctx.fail(f"no command {name!r}{suggestion}; commands: {', '.join(names)}")
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """Loads a subcommand's module on its first use: `capeval score` should not pay for the others' imports.

    Args:
        modules: what the modules' names begin with; that of `score` may be `capeval.cli.score`, its command `command`.
        summaries: what each subcommand does, in a line of the help, by name.
    """

    def __init__(self, *args: Any, modules: str, summaries: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.modules = modules
        self.summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.summaries:
            return None
        command = import_module(self.modules + cmd_name).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))
