"""The help of the command line, its sections, and completion in a shell.

What is on the page of the command line is compared with the program's help by `tests/test_docs.py`.
"""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

import pages
from runner import SCRIPT, Runner
from sacrecap import __version__
from sacrecap.cli import main
from sacrecap.cli.main import MEMBERS, SECTIONS, cli


def test_short_help_and_version(run: Runner) -> None:
    assert run.ok("-h") == run.ok("--help") == run.ok("help")
    assert run.ok("--version") == run.ok("-V") == f"sacrecap, version {__version__}\n"


def test_every_command_is_in_one_section(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "_entry_points", dict)
    files = [path.read_text() for path in Path(main.__file__).parent.glob("*.py")]
    commands = [name for text in files for name in re.findall(r"^def (\w+)_command\(", text, re.MULTILINE)]
    in_sections = [name for commands in SECTIONS.values() for name in commands]
    assert sorted(in_sections) == sorted(commands)
    assert not {*in_sections} & {*MEMBERS}
    shown = run.ok("--help")
    titles = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
    assert titles == ["Options", *SECTIONS]
    assert re.findall(r"^  (\w+)  +\S", shown.split("Score and compare:")[1], re.MULTILINE) == in_sections


@pytest.mark.parametrize("names", [["score"], ["df", "build"], ["detect"], ["df"]])
def test_help_of_a_command(run: Runner, names: list[str]) -> None:
    assert run.ok("help", *names) == run.ok(*names, "--help")


def test_help_of_what_is_no_command(run: Runner) -> None:
    assert run.refused("help", "scor").startswith("no command 'scor' (did you mean 'score'?); commands: demo, score")
    assert run.refused("help", "df", "bild").startswith("no command 'bild' (did you mean 'build'?)")
    assert run.refused("help", "score", "now").startswith("sacrecap score has no commands, got 'now' (see sacrecap ")


MANY = ("score", "compare", "diversity", "agreement", "check")


@pytest.mark.parametrize("name", MANY)
def test_options_stand_under_headings_the_ten_common_ones_first(run: Runner, name: str) -> None:
    sections = re.split(r"^(\w+):$", run.ok(name, "--help-all"), flags=re.MULTILINE)[1:]
    titles, lists = sections[::2], sections[1::2]
    sections_of_all = ["Options", "Files", "Metrics", "Judge", "Statistics", "Output"]
    assert [title for title in titles if title != "Engine"] == sections_of_all
    assert titles[6:] in ([], ["Engine"])
    common = re.findall(r"^  (?:-\w, )?(--[\w-]+)", lists[0], re.MULTILINE)
    assert len(common) == 11
    assert common[-1] == "--help"
    assert {"--metrics", "--format", "--output"} < {*common}
    assert len(re.findall(r"^ +(?:-\w, )?--", "".join(lists), re.MULTILINE)) <= 46


def test_the_help_is_a_screen_and_says_where_the_rest_is(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "_entry_points", dict)
    commands = {name: command for name, command in pages.subcommands(cli) if not isinstance(command, click.Group)}
    long = [name for name, command in commands.items() if getattr(command, "common", ())]
    assert {*long} >= {*MANY}
    for name, command in commands.items():
        status, shown = pages.show_help(name.split(), columns=80)
        assert (status, len(shown.splitlines()) <= 35) == (0, True), name
        if name in long:
            assert shown.endswith(f"\nsacrecap {name} --help-all shows all options, and says more.\n")
            first = re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown, re.MULTILINE)
            assert first == [*command.common, "--help"], name  # type: ignore[attr-defined]
            whole = run.ok(*name.split(), "--help-all")
            assert all(option in whole for parameter in command.params for option in parameter.opts if "-" in option)
    assert "(see sacrecap score --help-all)" in run.refused("score", "--reprot", "x")


def test_a_command_takes_ten_values_at_most() -> None:
    for name in (name for names in SECTIONS.values() for name in names):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for called, leaf in pages.subcommands(command, "sacrecap", name):
            if leaf.callback is not None:
                assert len(inspect.signature(leaf.callback).parameters) <= 10, called


SILENT = {"help"}
"""Commands that write nothing but what they are asked for."""


def test_every_command_can_be_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "_entry_points", dict)
    leaves = {name: command for name, command in pages.subcommands(cli) if not isinstance(command, click.Group)}
    assert len(leaves) > 20
    for name, command in leaves.items():
        assert any("-q" in parameter.opts for parameter in command.params) == (name not in SILENT), name


# Completion


def test_completion_prints_what_click_makes(run: Runner) -> None:
    for shell, sign in (("bash", "complete -o nosort"), ("zsh", "#compdef sacrecap"), ("fish", "complete --no-files")):
        printed = run.ok("help", "--completion", shell)
        assert sign in printed
        assert f"_SACRECAP_COMPLETE={shell}_complete" in printed
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in run.refused("help", "--completion", "tcsh")
    assert "leave 'score' out" in run.refused("help", "score", "--completion", "bash")
    assert 'eval "$(sacrecap help --completion bash)"' in run.ok("help", "help")


COMPLETED = {
    ("sc",): {"score"},
    ("com",): {"compare"},
    ("df", "b"): {"build"},
    ("score", "--metri"): {"--metrics"},
    ("score", "--metrics", "cide"): {"cider-paper", "cider-d"},
    ("score", "--metrics", "bleu-4,rougel"): {"bleu-4,rouge-l"},
    ("score", "--metrics", '"bleu-4 Spi'): {"bleu-4 spice", "bleu-4 spider"},
    ("cite", "spi"): {"spice", "spider"},
    ("metrics", "ro"): {"rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-l", "rouge-s"},
    ("score", "--engine", "s"): {"stream"},
    ("score", "--candidate-format", "pa"): {"parquet", "pairs"},
    ("nothing", "x"): set(),
}
"""What bash offers where this was typed."""
THROUGH_BASH = (("score", "--metrics", "bleu-4,rougel"), ("nothing", "x"))
"""These show that bash takes what is printed; starting the command takes a third of a second each time."""


@pytest.mark.parametrize("typed", COMPLETED, ids=" ".join)
def test_what_is_completed(run: Runner, typed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SACRECAP_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(("sacrecap", *typed)))
    monkeypatch.setenv("COMP_CWORD", str(len(typed)))
    offered = {line.partition(",")[2] for line in run.ok().splitlines() if line}
    assert offered == COMPLETED[typed]


def test_bash_completes(run: Runner) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    program = [
        'eval "$(sacrecap help --completion bash)"',
        'complete -p sacrecap | grep -q -e "-F _sacrecap_completion" || exit 1',
    ]
    for typed in THROUGH_BASH:
        words = " ".join(f"'{word}'" for word in ("sacrecap", *typed))
        program += [
            f"COMP_WORDS=({words}) COMP_CWORD={len(typed)} COMPREPLY=()",
            "_sacrecap_completion sacrecap",
            "printf '%s\\n' \"${COMPREPLY[@]}\" --",
        ]
    path = f"{SCRIPT.parent}:{run.environment()['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", "\n".join(program)],
        capture_output=True,
        text=True,
        check=True,
        env=run.environment(PATH=path),
    )
    assert done.stderr == ""
    offered = [{*filter(None, part.splitlines())} for part in done.stdout.split("--\n")]
    assert offered == [*map(COMPLETED.__getitem__, THROUGH_BASH), set()]
