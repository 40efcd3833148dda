"""The tables of claims are what their script prints, and the page of the papers shows rows of them."""

from __future__ import annotations

import csv
import importlib
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from pages import DOCS, ROOT, UPDATE

FOLDER = ROOT / "benchmarks" / "papers" / "claims"
CLAIMS = sorted(path.stem for path in FOLDER.iterdir())
SLOW = ("references", "bleu", "vifidel", "variants", "gaming", "meteor")
"""Claims about random draws of references, and about many metrics or variants: `make soak` has them."""


@pytest.fixture(scope="module")
def table(shared: Path) -> Callable[[str], str]:
    """The table of a claim; the claims share the judgments and many accuracies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        claims = importlib.import_module("claims")
    data = claims.Data(shared / "data")
    return lambda claim: str(claims.table_of(claim, data))


@pytest.mark.parametrize("claim", [pytest.param(one, marks=pytest.mark.soak) if one in SLOW else one for one in CLAIMS])
def test_the_table_is_what_the_script_prints(claim: str, table: Callable[[str], str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        printed = table(claim)
    path = FOLDER / f"{claim}.csv"
    if UPDATE:
        path.write_text(printed, "utf-8")
        return
    assert path.read_text("utf-8") == printed


def test_every_claim_of_the_script_has_a_file() -> None:
    script = (ROOT / "benchmarks" / "claims.py").read_text("utf-8")
    assert sorted(re.findall(r'^    "(\S+)": \w+,$', script, re.MULTILINE)) == CLAIMS


def test_the_page_shows_rows_of_the_tables() -> None:
    """A row of the page names the file first; its other cells are those of a row there."""
    page = (DOCS / "explanation" / "papers.md").read_text("utf-8")
    shown = re.findall(r"^\| ([\w-]+) \| (.+) \|$", page, re.MULTILINE)
    claims = [(name, cells.split(" | ")) for name, cells in shown if name in CLAIMS]
    assert len(claims) > 10
    for name, cells in claims:
        with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            assert cells in [row[: len(cells)] for row in csv.reader(file)]
