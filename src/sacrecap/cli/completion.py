"""`sacrecap completion`: what a shell runs to complete the command line, by click's machinery."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from sacrecap.cli import options

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print what completes commands, options and metrics in SHELL.

    \b
    To have it in every new shell, add a line to its start-up file:
      bash  ~/.bashrc                     eval "$(sacrecap completion bash)"
      zsh   ~/.zshrc, below compinit      eval "$(sacrecap completion zsh)"
      fish  ~/.config/fish/config.fish    sacrecap completion fish | source
    """  # noqa: D301 - click takes the sign itself
    root = context.find_root()
    from sacrecap.cli.main import COMPLETION

    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 - click has these three
    options.emit(made(root.command, {}, "sacrecap", COMPLETION).source())
