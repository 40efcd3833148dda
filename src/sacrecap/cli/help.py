"""`sacrecap help`: the help of any command, and what completes them in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from sacrecap.cli import options

SHELLS = ("bash", "zsh", "fish")


@click.command(name="help")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.option("--completion", type=click.Choice(SHELLS), help="Print what completes commands, options and metrics.")
@click.pass_context
def command(context: click.Context, names: tuple[str, ...], completion: str | None) -> None:
    """Show the help of COMMAND, as COMMAND --help does; of sacrecap itself without one.

    \b
    To have completion in every new shell, add a line to its start-up file:
      bash  ~/.bashrc                     eval "$(sacrecap help --completion bash)"
      zsh   ~/.zshrc, below compinit      eval "$(sacrecap help --completion zsh)"
      fish  ~/.config/fish/config.fish    sacrecap help --completion fish | source
    """  # noqa: D301 - click takes the sign itself
    target = context.find_root()
    if completion is not None:
        if names:
            raise click.UsageError(f"--completion is for all commands; leave {names[0]!r} out")
        from sacrecap.cli.main import COMPLETION

        completion_class = get_completion_class(completion)
        assert completion_class is not None  # noqa: S101 - click has these three
        options.emit(completion_class(target.command, {}, "sacrecap", COMPLETION).source())
        return
    for name in names:
        group = target.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{target.command_path} has no commands, got {name!r}", target)
        _, subcommand, _ = group.resolve_command(target, [name])
        if subcommand is None:
            raise click.UsageError(f"no command {name!r}", target)
        target = subcommand.make_context(name, [], parent=target, resilient_parsing=True)
        target.resilient_parsing = False  # it was for arguments that are not there; a name has to be right
    options.emit(target.get_help())
