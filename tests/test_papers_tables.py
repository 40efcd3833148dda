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
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

import recorded_spice
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
    needs_data = any(name in block.code for name in DATA)
    data = request.getfixturevalue("shared") / "data" if needs_data else None
    for place in data.iterdir() if data else ():
        if not Path(place.name).exists():
            Path(place.name).symlink_to(place)
    set_up(SETUP.code if data else SETUP.code.splitlines()[0])
    output = printed(block)
    head, rule, *rows = block.table.splitlines()
    names = [cell.strip() for cell in head[1:-1].split("|")]
    original = partial(by_the_program, command=block.code, data=data)
    table = "".join(line + "\n" for line in [head, rule, *(filled(row, names, output, original) for row in rows)])
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


Lines = dict[str, dict[str, float]]
"""Figures by the names of the line and of the column."""


def by_the_program(line: str, command: str, data: Path | None) -> dict[str, float]:
    """What SPICE's original program gave: to the captions of the line, or, of data, agreement with people."""
    recorded = recorded_spice.read()
    if data is None:
        return {"spice": {**recorded["table-1"], **recorded["table-4"]}[line]}
    return recorded_spice.agreement(data, recorded["pascal50s-1" if "--references 1 " in command else "pascal50s"])


def filled(row: str, names: list[str], output: str, original: Callable[[str], dict[str, float]]) -> str:
    """The row of the page with our figures and the original program's, in the columns that the head or it names."""
    cells = dict(zip(names, (cell.strip() for cell in row[1:-1].split("|")), strict=True))
    named = re.fullmatch(r"`(.+?)`(?:: (.+))?", cells[names[0]])
    assert named, row
    columns = (named[2] or names[0].removeprefix("line: ")).split("; ")
    cells["ours"] = figures(of_output(output)[named[1]], columns)
    if "difference" in cells:
        both = zip(cells["ours"].split(), cells["printed"].split(), strict=True)
        cells["difference"] = " ".join(f"{float(ours) - float(printed):+.3f}" for ours, printed in both)
    assert len(cells["ours"].split()) == len(cells["printed"].split()), row
    for name in names:
        measured = name.partition(": ")[2].split("; ") if ":" in name else columns
        if name.startswith("original") and {*measured} <= {*columns}:
            cells[name] = figures(original(named[1]), measured)
    return f"| {' | '.join(cells.values())} |".replace("  ", " ")


def figures(line: dict[str, float], columns: list[str]) -> str:
    return " ".join(f"{line[column]:.3f}" for column in columns)


def of_output(output: str) -> Lines:
    """The figures of a table, of CSV, or of words with figures, by the names of the line and of the column.

    The name of a line is of several cells, if the line has several that are no figures.
    """
    found: Lines = {}
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
