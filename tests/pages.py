"""The documentation is run: its code, its commands and their output.

A page belongs to one distribution, which runs it with its tests. The core runs every page but those that begin with
`<!-- tests: NAME -->`, where NAME is in `RUNNERS`.

Blocks of one page run in order, in one empty folder, and Python blocks share their names.

- ```` ```json title="references.json" ```` writes the block to that file.
- ```` ```python ```` runs. What it prints is compared with the ```` ```text ```` block that follows at once; without
  one, with the comments on and below its `print` lines, if there are any.
- ```` ```console ```` runs the lines that begin `$ sacrecap` (or `$ python`, `$ cat`, `$ echo`), which must succeed,
  and compares the output that is shown. Other commands are for the reader. A command of the core that asks nothing of
  the shell runs in this process; the others show that the installed script starts. A `--help` without output is left
  out: the site shows that output, and `check_help` looks at it.

The amount of blank space is not compared, and `[...]` stands for anything. `SACRECAP_UPDATE_DOCS=1` writes what was
printed into the pages, except where the shown output has a `[...]`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from runner import in_this_process, written
from sacrecap.cli.main import SECTIONS, cli

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "packages").glob("*/README.md")),
    *sorted(DOCS.rglob("*.md")),
]
RUNNERS = {
    "core": ("CORE", ()),
    "torch": ("TORCH", ("captioning",)),
    "ray": ("RAY", ()),
    "server": ("SERVER", ("server",)),
    "study": ("SERVER", ("server",)),
    "contest": ("SERVER", ("server",)),
    "captioning": ("TORCH", ("captioning",)),
}
"""Who runs a page: the core, the core's tests that need PyTorch or Ray, or a member; those of studies with people, and
of a contest that is served.

With each the name of its environment in the Makefile, and the members that are installed there.
"""

UPDATE = "SACRECAP_UPDATE_DOCS" in os.environ
ELISION = "[...]"


def runner_of(page: Path) -> str:
    """The name in the mark at the beginning of the page; "core" without one."""
    mark = re.match(r"<!-- tests: (\w+) -->\n", page.read_text(encoding="utf-8"))
    return mark[1] if mark else "core"


def every_page(runner: str | None = None) -> pytest.MarkDecorator:
    """Parametrises a test by the pages of this runner, or by all."""
    pages = [page for page in PAGES if runner is None or runner_of(page) == runner]
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.relative_to(ROOT).as_posix())


def run_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the page in this empty folder; fails with what the page shows and what was printed."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "user-data"))
    running = Page(page)
    running.run()
    running.rewrite()


@dataclass
class Block:
    """A fenced block: what follows the fence, its text, and where that text is in the page."""

    language: str
    name: str
    text: str
    start: int
    line: int
    follows_at_once: bool


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in re.finditer(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', text, re.MULTILINE | re.DOTALL):
        at_once = not text[end : match.start()].strip()
        line = text.count("\n", 0, match.start(3))
        found.append(Block(match[1], match[2] or "", match[3], match.start(3), line, at_once))
        end = match.end()
    assert text.count("```") == 2 * len(found), f"{page}: a fence without partner"
    return found


# Running a page


class Page:
    """A page being run; `rewritten` holds the new text of places that were out of date."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.rewritten: list[tuple[int, int, str]] = []

    def run(self) -> None:
        found = blocks(self.path)
        for block, after in zip(found, [*found, None][1:], strict=True):
            if block.name:
                Path(block.name).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                self.run_python(block, after if after and after.follows_at_once else None)
            elif block.language == "console":
                self.run_console(block)

    def run_python(self, block: Block, after: Block | None) -> None:
        code = compile("\n" * block.line + block.text, str(self.path), "exec", dont_inherit=True)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.names)  # noqa: S102
        if after is not None and after.language == "text" and not after.name:
            self.compare(block, after.text, printed.getvalue(), after.start)
        elif shown := "\n".join(commented_output(block.text)):
            if UPDATE and ELISION not in shown and not matches(shown, printed.getvalue()):
                new = with_comments(block.text, printed.getvalue().splitlines())
                self.rewritten.append((block.start, block.start + len(block.text), new))
                return
            self.compare(block, shown, printed.getvalue(), None)

    def run_console(self, block: Block) -> None:
        for command, shown, offset in commands(block.text):
            if re.match(r"(sacrecap|python|cat|echo) ", command) and (
                shown or not command.endswith((" --help", " --help-all"))
            ):
                status, printed = run(command)
                where = f"{self.path.relative_to(ROOT)}: $ {command}"
                assert status == 0, f"{where}\nends with status {status}:\n{printed}"
                if shown:
                    self.compare(block, shown, printed, block.start + offset)

    def compare(self, block: Block, shown: str, printed: str, place: int | None) -> None:
        if matches(shown, printed):
            return
        if UPDATE and place is not None and ELISION not in shown:
            new = "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")
            self.rewritten.append((place, place + len(shown), new + "\n"))
            return
        where = f"{self.path.relative_to(ROOT)}, block at line {block.line}"
        pytest.fail(f"{where}: the page shows\n\n{shown}\n\nand what was printed is\n\n{printed}", pytrace=False)

    def rewrite(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        for start, end, new in sorted(self.rewritten, reverse=True):
            text = text[:start] + new + text[end:]
        self.path.write_text(text, encoding="utf-8")


def commented_output(code: str) -> Iterator[str]:
    """The comments behind `print(…)`, and those on the lines right below it."""
    below = False
    for line in code.splitlines():
        if line.startswith("print("):
            below = True
            if "  # " in line:
                yield line.rpartition("  # ")[2]
        elif below and line.startswith("# "):
            yield line.removeprefix("# ")
        else:
            below = False


def with_comments(code: str, printed: list[str]) -> str:
    """The code with one line of output in each such comment."""
    lines, outputs, below = [], iter(printed), False
    for line in code.splitlines():
        if line.startswith("print(") and "  # " in line:
            lines.append(f"{line.rpartition('  # ')[0]}  # {next(outputs)}")
        else:
            lines.append(f"# {next(outputs)}" if below and line.startswith("# ") else line)
        below = line.startswith("print(")
    return "\n".join(lines) + "\n"


def commands(text: str) -> Iterator[tuple[str, str, int]]:
    """Each command, what is shown below it, and where that begins."""
    for match in re.finditer(r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        yield match[1].strip(), match[2], match.start(2)


def run(command: str) -> tuple[int, str]:
    """The exit status and everything printed. A hang is ended by the time limit of the test, which is pytest's."""
    if re.fullmatch(r"sacrecap [\w -]*--help(-all)?", command):
        return show_help(shlex.split(command)[1:-1], columns=80)
    own = "|".join(name for commands in SECTIONS.values() for name in commands)
    if re.fullmatch(rf"sacrecap ({own}) [^|;<>&$`*~]*", command):
        return run_here(shlex.split(command.replace("\\\n", ""))[1:])
    scripts = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": scripts + os.pathsep + os.environ["PATH"],
        "COLUMNS": "80",
        "PYTHONUTF8": "1",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    return done.returncode, done.stdout


def run_here(arguments: list[str]) -> tuple[int, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        printed = written()
        status = in_this_process(arguments, printed, printed)
    return status, printed.buffer.getvalue().decode()


def matches(shown: str, printed: str) -> bool:
    pieces = " ".join(shown.split()).split(ELISION)
    pattern = ".*?".join(r"\s+".join(map(re.escape, piece.strip().split(" "))) for piece in pieces)
    return re.fullmatch(pattern, " ".join(printed.split()), re.DOTALL) is not None


# The help of commands


def subcommands(command: click.Command, *names: str) -> Iterator[tuple[str, click.Command]]:
    """The command and all below it, each with its name as it is typed."""
    yield " ".join(names), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from subcommands(below, *names, name)


def show_help(names: list[str], option: str = "--help", *, columns: int) -> tuple[int, str]:
    """The exit status and the help of a command, on a terminal of so many columns."""
    # Of a real terminal click leaves two columns free.
    shown = CliRunner().invoke(cli, [*names, option], prog_name="sacrecap", terminal_width=columns - 2)
    return shown.exit_code, shown.output


def check_help(*names: str) -> None:
    """The page of commands has the whole help of these, all below them and no other; no line is wider than 100."""
    text = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    asked = dict(re.findall(r"^\$ sacrecap (.*) (--help(?:-all)?)$", text, re.MULTILINE))
    own: dict[str, click.Command] = {}
    for name in names:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None, name
        own |= subcommands(command, name)
    assert sorted(name for name in asked if name.split()[0] in names) == sorted(own)
    for name, command in own.items():
        assert asked[name] == ("--help-all" if getattr(command, "common", ()) else "--help"), name
        status, shown = show_help(name.split(), asked[name], columns=100)
        assert status == 0, name
        assert max(map(len, shown.splitlines())) <= 100, name
