"""The page of the papers' tables: its commands run as it shows them, and print the figures of its tables.

A row names the line of the output, and its columns where they are not those that the head of the table names; so
`SACRECAP_UPDATE_DOCS=1` can fill in our figures.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from pages import DOCS, UPDATE, run

PAGE = DOCS / "explanation" / "papers-tables.md"
DATA = ("abstract50s", "flickr8k", "pascal50s", "coco-val2017", "coco.df", "coco-stems.df")
"""What a block names that only the folder of research data has, or that is made of it."""


@dataclass
class Block:
    """Commands, and the table below them, if there is one."""

    language: str
    code: str
    table: str

    def __str__(self) -> str:
        return self.code.splitlines()[-1][:60]


def blocks() -> list[Block]:
    fenced = r"^```(sh|py)\n((?:(?!```).*\n)*)```\n\n((?:\|.*\n)*)"
    found = re.finditer(fenced, PAGE.read_text("utf-8"), re.MULTILINE)
    return [Block(match[1], match[2], match[3]) for match in found]


SETUP, *BLOCKS = blocks()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("papers")


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_the_command_prints_the_figures(
    block: Block, folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    of_data = any(name in block.code for name in DATA)
    if of_data:
        for data in (request.getfixturevalue("shared") / "data").iterdir():
            if not Path(data.name).exists():
                Path(data.name).symlink_to(data)
    set_up(SETUP.code if of_data else SETUP.code.splitlines()[0])
    output = printed(block)
    head, rule, *rows = block.table.splitlines()
    columns = head.split("|")[1].strip().removeprefix("line: ")
    table = "".join(line + "\n" for line in [head, rule, *(filled(row, output, columns) for row in rows)])
    if UPDATE and table != block.table:
        text = PAGE.read_text("utf-8")
        PAGE.write_text(text.replace(block.table, table), "utf-8")
        return
    assert table == block.table


def set_up(commands: str) -> None:
    if not Path("papers").exists() or ("coco" in commands and not Path("coco.df").exists()):
        in_shell(commands)


def printed(block: Block) -> str:
    if block.language == "py":
        said = io.StringIO()
        with contextlib.redirect_stdout(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(block.code, str(PAGE), "exec", dont_inherit=True), {})  # noqa: S102
        return said.getvalue()
    return in_shell(block.code)


def in_shell(commands: str) -> str:
    status, said = run(f"set -e\n{commands}")
    assert status == 0, said
    return said


def filled(row: str, output: str, columns: str) -> str:
    """The row of the page with our figures, of these columns unless it names others."""
    where, figures, _, why = (cell.strip() for cell in row[1:-1].split("|"))
    named = re.fullmatch(r"`(.+?)`(?:: (.+))?", where)
    assert named, row
    own = of_output(output)[named[1]]
    ours = [own[column] for column in (named[2] or columns).split("; ")]
    assert len(ours) == len(figures.split()), row
    shown = " ".join(f"{value:.3f}" for value in ours)
    return f"| {where} | {figures} | {shown} | {why} |".replace("  ", " ")


def of_output(output: str) -> dict[str, dict[str, float]]:
    """The figures of a table, of CSV, or of words with figures, by the names of the line and of the column.

    The name of a line is of several cells, if the line has several that are no figures.
    """
    found: dict[str, dict[str, float]] = {}
    lines = output.splitlines()
    header: list[str] = []
    for line, after in pairwise([*lines, ""]):
        if len(pairs := list(re.finditer(r"(\S+) (\d\.\d+)(?= |$)", line))) > 1:
            found.setdefault(line[: pairs[0].start()].split()[-1], {pair[1]: float(pair[2]) for pair in pairs})
            continue
        table = "  " in line
        cells = re.split(r"\s{2,}", line.rstrip()) if table else next(csv.reader([line]), [])
        figures = [number(cell) for cell in cells]
        if after.startswith("───") or (not table and len(cells) > 1 and all(figure is None for figure in figures)):
            header = cells
        elif header and any(figure is not None for figure in figures):
            names = [cell for cell, figure in zip(cells, figures, strict=True) if figure is None]
            own = dict(zip(header, figures, strict=False))
            found[", ".join(names)] = {name: figure for name, figure in own.items() if figure is not None}
    return found


def number(cell: str) -> float | None:
    with contextlib.suppress(ValueError):
        return float(cell)
    return None
