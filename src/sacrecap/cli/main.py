"""`capeval`: finds the subcommand, and turns errors into messages and exit statuses.

0 done; 1 an unexpected failure (a bug); 2 bad usage or bad input; 3 a check that failed; 130 interrupted.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from typing import NoReturn

import click

from capeval import __version__
from capeval.cli.group import OpenGroup
from capeval.cli.interruptible import run
from capeval.errors import CapevalError

ISSUES = "https://github.com/capeval/capeval/issues"

COMMANDS = {
    "demo": "Score the example data: the whole tool in one second.",
    "score": "Score one system's captions against references.",
    "compare": "Compare several systems: paired tests, intervals, ranks.",
    "check": "Fail if scores are too low, or worse than a baseline.",
    "diversity": "Score caption sets: how varied, how accurate, next to people.",
    "agreement": "Measure how well metrics agree with people.",
    "rank": "Rank an image's references against each other.",
    "graph": "Parse captions into scene graphs.",
    "df": "Build, import or inspect document frequencies.",
    "detect": "Find the objects of images, or convert and unite annotations.",
    "testsets": "List the named test sets, or fetch them.",
    "spice": "Set up the original SPICE program.",
    "metrics": "List the metrics, or explain one.",
    "cite": "Print what to cite: capeval, and the papers of the metrics.",
}
"""Subcommands by name; each lives in `capeval.cli.<name>` and loads when it is called."""

MEMBERS = {"caption": "train", "serve": "server", "submit": "server", "study": "server"}
"""Subcommands of the other distributions of this project, with the extra that installs each."""


@click.group(
    cls=OpenGroup,
    modules="capeval.cli.",
    summaries=COMMANDS,
    members=MEMBERS,
    context_settings={"max_content_width": 100},
)
@click.version_option(__version__, prog_name="capeval")
def cli() -> None:
    """Measure how good image descriptions are, and how far the numbers can be trusted."""


def main() -> NoReturn:
    """Runs the command line; leaves with its exit status."""
    warnings.showwarning = _show_warning
    _ready_output()
    try:
        status = run(lambda: cli.main(standalone_mode=False, prog_name="capeval"))
        if callable(status):
            # A command that handles signals itself returns a function to run here, where Python delivers signals.
            status = status()
    except click.ClickException as error:
        status = _usage(error)
    except CapevalError as error:
        status = _say(f"capeval: {error}", 2)
    except click.Abort:
        status = _say("capeval: interrupted", 130)
    except BrokenPipeError:
        # The reader of our output has stopped reading, as `head` does: say nothing.
        status = 1
    except SystemExit:
        raise
    except BaseException as error:
        # A panic of the native code is not an `Exception`.
        status = _unexpected(error)
    _leave(status if isinstance(status, int) else 0)


def _usage(error: click.ClickException) -> int:
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see {error.ctx.command_path} --help)"
    # click gives each choice of an argument a line of its own.
    message = error.format_message().replace("\n\t", " ").removesuffix(".")
    return _say(f"capeval: {message}{hint}", 2)


def _unexpected(error: BaseException) -> int:
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        # Files have their own message; this is the disk behind standard output.
        return _say(f"capeval: cannot write the output: {error.strerror or error}", 2)
    import traceback

    traceback.print_exception(error)
    return _say(f"capeval: a bug in capeval {__version__}; please report it with the lines above: {ISSUES}", 1)


def _say(message: str, status: int) -> int:
    print(_one_line(message), file=sys.stderr)
    return status


def _one_line(message: str) -> str:
    """The message with line ends and control characters, which file names and image ids may hold, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


def _ready_output() -> None:
    """Makes output UTF-8, as files are; a terminal that cannot show all of it gets question marks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="replace")


def _leave(status: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except OSError:
        # The output is closed or full; Python would try again and complain when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = status or 1
    sys.exit(status)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _say(f"capeval: warning: {message}", 0)
