"""`sacrecap help`: the help of any command."""

from __future__ import annotations

import click

from sacrecap.cli import options


@click.command(name="help")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def command(context: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of COMMAND, as COMMAND --help does; of sacrecap itself without one."""
    shown = context.find_root()
    for name in names:
        group = shown.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{shown.command_path} has no commands, got {name!r}", shown)
        _, found, _ = group.resolve_command(shown, [name])
        if found is None:
            raise click.UsageError(f"no command {name!r}", shown)
        shown = found.make_context(name, [], parent=shown, resilient_parsing=True)
        shown.resilient_parsing = False  # it was for arguments that are not there; a name has to be right
    options.emit(shown.get_help())
