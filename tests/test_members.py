"""Three distributions of one version, each tested by itself; and the commands that other distributions add."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Set
from functools import cache
from pathlib import Path

import pytest

from command_line import run
from runner import Ended, Runner
from sacrecap.cli import main
from sacrecap.cli.main import MEMBERS as MEMBERS_COMMANDS

__all__ = ["run"]

ROOT = Path(__file__).parents[1]
MEMBERS = ("server", "captioning")
OF_MEMBERS = {"sacrecap_server", "sacrecap_studies", "sacrecap_captioning"}
SERVICES = {"fastapi", "sqlalchemy", "starlette"}
TORCH = {"torch", "torchvision", "transformers"}


def pyproject(folder: Path) -> str:
    return (folder / "pyproject.toml").read_text(encoding="utf-8")


def imported(path: Path, of: Set[str]) -> set[str]:
    """Those of these top-level modules that the file imports, wherever in it."""
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in of):
        return set()
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {name.partition(".")[0] for name in names} & of


def test_one_version() -> None:
    """Cargo's; members name it, and are pinned to it both ways."""
    [version] = re.findall(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    own = pyproject(ROOT)
    for member in MEMBERS:
        text = pyproject(ROOT / "packages" / member)
        assert re.findall(r'^version = "(.*)"$', text, re.MULTILINE) == [version]
        assert re.findall(r'"sacrecap(?:\[\w+\])?==(.*)"', text) == [version]
        assert re.findall(rf'"sacrecap-{member}==(.*)"', own) == [version]


def test_the_core_knows_no_member_and_its_tests_need_none() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    assert len(files) > 150
    for path in files:
        assert not imported(path, {*OF_MEMBERS, *SERVICES}), path


def test_tests_that_need_torch_are_marked() -> None:
    using = [path for path in (ROOT / "tests").rglob("test_*.py") if imported(path, TORCH)]
    assert len(using) > 1
    for path in using:
        text = path.read_text(encoding="utf-8")
        assert "\npytestmark = pytest.mark.torch\n" in text, path
        assert '\ntorch = pytest.importorskip("torch", exc_type=ImportError)\n' in text, f"{path}: collected without"


# Commands of other distributions


@pytest.fixture
def install(run: Runner) -> Callable[[str, str], None]:
    """Installs a distribution `shouting` whose command is `shout`, of this code and entry points, into `run.folder`."""

    def install(code: str, points: str = "shout = shouting:command") -> None:
        metadata = run.folder / "shouting-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[sacrecap.commands]\n{points}\n")
        (run.folder / "shouting.py").write_text(code)

    return install


def with_it(run: Runner, *arguments: object) -> Ended:
    """As in a process that finds the distribution installed, and has looked for none before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(run.folder)
        patch.setattr(main, "_entry_points", cache(main._entry_points.__wrapped__))
        patch.delitem(sys.modules, "shouting", raising=False)
        ended = run.here(*arguments)
        sys.modules.pop("shouting", None)
    return ended


SHOUT = """
import click

@click.command
@click.argument("words", nargs=-1)
def command(words):
    \"\"\"Say it louder.\"\"\"
    click.echo(" ".join(words).upper())
"""


def test_a_command_of_another_distribution(run: Runner, install: Callable[..., None]) -> None:
    install(SHOUT, "shout = shouting:command\nscore = shouting:command")
    listed = with_it(run, "--help")
    assert re.search(r"^Other commands:\n  shout +Say it louder\.$", listed.stdout, re.MULTILINE)
    assert with_it(run, "shout", "a", "dog") == Ended(0, "A DOG\n", "")
    assert with_it(run, "help", "shout") == with_it(run, "shout", "--help")
    assert "did you mean 'shout'" in with_it(run, "shuot").stderr
    assert "Usage: sacrecap score [OPTIONS] REFERENCES" in with_it(run, "score", "--help").stdout, "ours stay ours"


@pytest.mark.parametrize("section", ["Models", "Voices"])
def test_a_command_declares_its_section(run: Runner, install: Callable[..., None], section: str) -> None:
    install(f"{SHOUT}\ncommand.section = {section!r}\n")
    shown = with_it(run, "--help").stdout
    assert re.search(rf"^{section}:\n(  .*\n)*  shout +Say it louder\.$", shown, re.MULTILINE)
    assert "Other commands" not in shown


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("command = 1 / 0", "ZeroDivisionError('division by zero')"),
        ("", "has no attribute 'command'"),
        ("def command(): pass", "shouting:command is a function, not a click command"),
    ],
    ids=["import", "failure", "absent", "function"],
)
def test_a_broken_command_is_named_and_takes_no_other_with_it(
    run: Runner, install: Callable[..., None], code: str, why: str
) -> None:
    install(code)
    listed = with_it(run, "--help")
    assert (listed.status, listed.stderr) == (0, "")
    assert "  score " in listed.stdout
    assert "command 'shout' of the package shouting" in " ".join(listed.stdout.split())
    called = with_it(run, "shout")
    assert (called.status, called.stdout, called.stderr.count("\n")) == (2, "", 1)
    assert called.stderr.startswith("sacrecap: command 'shout' of the package shouting")
    assert why in called.stderr


@pytest.mark.parametrize(("command", "extra"), MEMBERS_COMMANDS.items())
def test_a_member_that_is_not_installed_is_named(
    run: Runner, monkeypatch: pytest.MonkeyPatch, command: str, extra: str
) -> None:
    monkeypatch.setattr(main, "_entry_points", dict)
    message = f"sacrecap {command} needs the extra '{extra}': pip install 'sacrecap[{extra}]'"
    assert run.refused(command, "--help") == message
    assert f"\n  {command} " not in run.here("--help").stdout
    assert re.search(rf"^{extra} = \[", pyproject(ROOT), re.MULTILINE), "the extra is there to be installed"
