"""The papers' tables: the commands of `benchmarks/papers/commands.json` print the figures of `tables.csv` beside it.

A row is one figure: the table, the line and the column of the command's output, what the paper prints, what SPICE's
original program gave, and ours, which `SACRECAP_UPDATE_DOCS=1` fills in.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

import recorded_spice
from pages import DOCS, ROOT, UPDATE, run

FOLDER = ROOT / "benchmarks" / "papers"
TABLES = FOLDER / "tables.csv"
DATA = ("abstract50s", "flickr8k", "pascal50s", "coco-val2017", "coco.df", "coco-stems.df")
"""What a command names that only the folder of research data has, or that is made of it."""
COMMANDS = {name: "\n".join(lines) for name, lines in json.loads((FOLDER / "commands.json").read_text("utf-8")).items()}
SETUP = COMMANDS.pop("set-up")


def rows() -> list[dict[str, str]]:
    with TABLES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("papers")


def test_every_table_has_a_command() -> None:
    assert list(dict.fromkeys(row["table"] for row in rows())) == list(COMMANDS)


@pytest.mark.parametrize("table", COMMANDS)
def test_the_command_prints_the_figures(
    table: str, folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    command = COMMANDS[table]
    needs_data = any(name in command for name in DATA)
    data = request.getfixturevalue("shared") / "data" if needs_data else None
    for place in data.iterdir() if data else ():
        if not Path(place.name).exists():
            Path(place.name).symlink_to(place)
    set_up(SETUP if data else SETUP.splitlines()[0])
    output = of_output(in_shell(command))
    whole = rows()
    for row in (row for row in whole if row["table"] == table):
        now = {**row, "ours": f"{output[row['line']][row['column']]:.3f}"}
        if row["original"]:
            now["original"] = f"{by_the_program(row['line'], command, data)[row['column']]:.3f}"
        assert UPDATE or now == row
        row.update(now)
    if UPDATE:
        with TABLES.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, whole[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(whole)


def test_the_page_shows_figures_of_the_tables() -> None:
    """A row of the page: the table, the line, the columns, and the figures printed and ours in this order."""
    page = (DOCS / "explanation" / "papers.md").read_text("utf-8")
    figures = {(row["table"], row["line"], row["column"]): row for row in rows()}
    shown = re.findall(r"^\| `([^`]+)` \| `([^`]+)`: ([^|]+) \| ([^|]+) \| ([^|]+) \|", page, re.MULTILINE)
    assert len(shown) > 8
    for table, line, columns, printed, ours in shown:
        found = [figures[table, line, column] for column in columns.strip().split("; ")]
        assert [row["printed"] for row in found] == printed.split()
        assert [row["ours"] for row in found] == ours.split()


def set_up(commands: str) -> None:
    if not Path("papers").exists() or ("coco" in commands and not Path("coco.df").exists()):
        in_shell(commands)


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
        followed = not table or any(number(cell) is not None for cell in re.split(r"\s{2,}", after))
        if followed and len(cells) > 1 and all(figure is None for figure in figures):
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
