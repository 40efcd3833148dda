"""A command that has subcommands."""

from __future__ import annotations

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
