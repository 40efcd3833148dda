"""`sacrecap`: finds the subcommand, and turns errors into messages and exit statuses.

0 done; 1 an unexpected failure (a bug); 2 bad usage or bad input; 3 a check that failed; 130 interrupted.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import get_completion_class

from sacrecap import __version__
from sacrecap.cli import options
from sacrecap.cli.group import OTHERS, Group
from sacrecap.cli.interruptible import run, stage
from sacrecap.errors import MissingDependencyError, SacrecapError, did_you_mean, words_of_command_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ISSUES = "https://github.com/sacrecap/sacrecap/issues"
COMPLETION = "_SACRECAP_COMPLETE"
"""The variable by which a shell asks what a line could go on with."""

SECTIONS = {
    "Score and compare": {
        "demo": "Score the example data: the whole tool in one second.",
        "score": "Score one system's captions against references.",
        "compare": "Compare several systems: paired tests, intervals, ranks.",
        "check": "Fail if scores are too low, or worse than a baseline.",
        "verify": "Say whether the number of a signature comes again.",
        "board": "Rank systems on hidden references, for all to see.",
        "diversity": "Score caption sets: how varied, how accurate, next to people.",
    },
    "People, studies and benchmarks": {
        "agreement": "Measure how well metrics agree with people.",
        "meta": "Measure every metric on every judgment that is at hand.",
        "calibrate": "Tell what people would say of all captions, from few ratings and many scores.",
    },
    "Files and data": {
        "inspect": "Say what a file of captions holds, and what looks wrong in it.",
        "testsets": "List the named test sets, or fetch them.",
        "df": "Build, import or inspect document frequencies; build a language model.",
        "graph": "Parse captions into scene graphs.",
    },
    "Models": {"detect": "Find the objects of images, or convert and unite annotations."},
    "Help and set-up": {
        "metrics": "List the metrics, or explain some.",
        "cite": "Print what to cite: sacrecap, and the papers of the metrics.",
        "help": "Show the help of a command, or what completes commands in a shell.",
    },
}
"""Subcommands by section of the help; each loads when it is called."""

MODULES = {
    **dict.fromkeys(("diversity", "board"), "compare"),
    "verify": "check",
    **dict.fromkeys(("meta", "calibrate"), "agreement"),
    **dict.fromkeys(("inspect", "df", "graph"), "from_captions"),
    **dict.fromkeys(("testsets", "cite"), "metrics"),
    "help": "main",
}
"""The modules of `sacrecap.cli` with the subcommands that have none of their name: `meta_command` is in `agreement`."""

MEMBERS = {"caption": "train", "contest": "server", "submit": "server", "study": "server"}
"""Subcommands of the other distributions of this project, with the extra that installs each."""


class OpenGroup(Group):
    """Loads a subcommand's module on its first use: `sacrecap score` should not wait for the others' imports.

    The command `score` is `sacrecap.cli.score.score_command`, where `MODULES` names no other module.

    Other distributions add commands, by the entry-point group `sacrecap.commands`. An entry point's name is the
    command's; it names a `click.Command`. The short help of that command is its line in the help, so its module should
    import heavy packages only inside the command. Its attribute `section`, where it has one, is the title of the
    section that the line is in.
    """

    own_commands = tuple(name for lines in SECTIONS.values() for name in lines)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the command line, whose messages name options as it has them."""
        with words_of_command_line():
            return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.own_commands, *(name for name in _entry_points() if name not in self.own_commands)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            if args[0] in MEMBERS and not (ctx.resilient_parsing or self.get_command(ctx, args[0])):
                raise MissingDependencyError(f"sacrecap {args[0]}", extra=MEMBERS[args[0]])
            return super().resolve_command(ctx, args)
        finally:
            gc.enable()  # the start of the script disabled it

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.own_commands:
            module = import_module(f"sacrecap.cli.{MODULES.get(cmd_name, cmd_name)}")
            command: click.Command = getattr(module, f"{cmd_name}_command")
            return command
        point = _entry_points().get(cmd_name)
        return None if point is None else _loaded(point)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = {title: dict(lines) for title, lines in SECTIONS.items()}
        for name, point in _entry_points().items():
            if name not in self.own_commands:
                try:
                    command = _loaded(point)
                    section, line = getattr(command, "section", OTHERS), command.get_short_help_str(limit=100)
                except SacrecapError as error:  # which must not break the help of the others
                    section, line = OTHERS, str(error)
                sections.setdefault(section, {})[name] = line
        rest = sections.pop(OTHERS, {})
        for title, lines in {**sections, OTHERS: rest}.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl(list(lines.items()))


@cache
def _entry_points() -> dict[str, EntryPoint]:
    """The commands that installed distributions declare, by name. Read on first use: it takes some milliseconds."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="sacrecap.commands")}


def _loaded(point: EntryPoint) -> click.Command:
    where = f"command {point.name!r} of the package {point.dist.name if point.dist else point.value}"
    try:
        command = point.load()
    except Exception as error:
        raise SacrecapError(f"{where} cannot be loaded: {error!r}; reinstall or remove that package") from error
    if not isinstance(command, click.Command):
        raise SacrecapError(f"{where}: {point.value} is a {type(command).__name__}, not a click command")
    return command


@click.group(cls=OpenGroup, context_settings={"max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="sacrecap")
def cli() -> None:
    """Measure how good image descriptions are, and how far the numbers can be trusted."""


@click.command(name="help")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.option(
    "--completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    help="Print what completes commands, options and metrics.",
)
@click.pass_context
def help_command(context: click.Context, names: tuple[str, ...], completion: str | None) -> None:
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


def main() -> NoReturn:
    """Runs the command line; leaves with its exit status."""
    warnings.showwarning = lambda message, *_, **__: print_line(f"sacrecap: warning: {message}")
    if COMPLETION in os.environ:
        stage.silence()  # whatever is said would stand in the middle of what the user types
    if isinstance(sys.stdout, io.TextIOWrapper):  # UTF-8, as files are; a terminal that lacks a sign has question marks
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="replace")
    message = None
    try:
        status = run(lambda: cli.main(standalone_mode=False, prog_name="sacrecap"))
        if callable(status):
            # A command that handles signals itself returns a function to run here, where Python delivers signals.
            status = status()
    except click.ClickException as error:
        message, status = _usage(error), 2
    except SacrecapError as error:
        message, status = str(error), 2
    except click.Abort:
        message, status = "interrupted", 130
    except MemoryError:
        memory = "what the files hold does not fit into the memory of this process"
        message, status = f"{memory}; --engine stream reads JSON lines, CSV and Parquet piece by piece", 2
    except BrokenPipeError:
        # The reader of our output has stopped reading, as `head` does: say nothing.
        status = 1
    except SystemExit:
        raise
    except BaseException as error:
        message, status = _unexpected(error)  # a panic of the native code is not an `Exception`
    if message is not None:
        print_line(f"sacrecap: {message}")
    status = status if isinstance(status, int) else 0
    try:
        sys.stdout.flush()
    except OSError:
        # The output is closed or full; Python would try again and complain when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = status or 1
    sys.exit(status)


def _unexpected(error: BaseException) -> tuple[str, int]:
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EBADF}:
        # Files have their own message; this is standard output: the disk behind it is full, or it is closed.
        return f"cannot write the output: {error.strerror or error}", 2
    import traceback

    traceback.print_exception(error)
    return f"a bug in sacrecap {__version__}; please report it with the lines above: {ISSUES}", 1


def _usage(error: click.ClickException) -> str:
    """What click says, with the nearest names in place of long lists, and where the help is."""
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        whole = "--help-all" if getattr(error.ctx.command, "common", ()) else "--help"
        hint = f" (see {error.ctx.command_path} {whole})"
    if isinstance(error, click.NoSuchOption):
        return f"no option {error.option_name!r}{_known_elsewhere(error)}{hint}"
    # click gives each choice of an argument a line of its own.
    message = error.format_message().replace("\n\t", " ").removesuffix(".")
    if type(error) is click.BadParameter and isinstance(getattr(error.param, "type", None), click.Choice):
        choices: Sequence[str] = error.param.type.choices  # type: ignore[union-attr]
        before, is_not, all_choices = message.partition(" is not one of ")
        question = did_you_mean(before.rpartition(": ")[2].strip("'"), choices)
        if len(choices) >= 20:
            is_not, all_choices = " is not one of ", f"the {len(choices)} names in the help"
        return f"{before}{is_not}{all_choices}{question}{hint}"
    message = re.sub("not a valid integer( range)?", "not a whole number", message)
    return re.sub("not a valid float( range)?", "not a number", message) + hint


def _known_elsewhere(error: click.NoSuchOption) -> str:
    """The nearest options, or the commands that have this one."""
    name, mine = error.option_name, error.possibilities or ()
    longer = [option for option in mine if option.startswith(name)]
    if len(longer) == 1:
        return f" (did you mean {longer[0]!r}?)"
    question = did_you_mean(name, mine, most=2, cutoff=0.75)
    context = error.ctx
    if question or context is None or not isinstance(group := getattr(context.parent, "command", None), click.Group):
        return question
    having = [
        command
        for command in getattr(group, "own_commands", ())
        if (known_command := group.get_command(context, command)) is not None
        and any(name in option.opts for option in known_command.params)
    ]
    return f": that is an option of {', '.join(having)}" if having else did_you_mean(name, mine)


def print_line(message: str) -> None:
    """Prints one line on standard error: line ends and control characters, which file names and image ids may hold,
    as escapes, and `�` for what is not UTF-8 in a name.
    """
    readable = "".join("\ufffd" if "\udc80" <= letter <= "\udcff" else letter for letter in message)
    letters = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in readable)
    print("".join(letters), file=sys.stderr)
