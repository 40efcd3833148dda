"""The help of every command is what the reference shows; `docs/reference/cli/update.py` writes it anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import Runner

from capeval import __version__

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "cli"
PAGES = sorted(path.stem for path in FOLDER.glob("*.txt"))


@pytest.mark.parametrize("page", PAGES)
def test_help(run: Runner, page: str) -> None:
    _, *command = page.split("-")
    shown = (FOLDER / f"{page}.txt").read_text(encoding="utf-8")
    assert run.ok(*command, "--help", env={"COLUMNS": "100"}) == shown, f"run {FOLDER / 'update.py'} if this is meant"
    assert max(map(len, shown.splitlines())) <= 100


def test_every_command_has_a_page() -> None:
    program: dict[str, object] = {"__name__": "update", "__file__": str(FOLDER / "update.py")}
    exec(compile((FOLDER / "update.py").read_text(encoding="utf-8"), "update.py", "exec"), program)  # noqa: S102
    assert set(program["pages"]()) == {f"{page}.txt" for page in PAGES}  # type: ignore[operator]


def test_short_help_and_version(run: Runner) -> None:
    assert run.ok("-h") == run.ok("--help")
    assert run.ok("--version") == f"capeval, version {__version__}\n"
