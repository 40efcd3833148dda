"""The table of departures has every row of the models' own tables, and no other."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from sacrecap_captioning.models import MODELS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "captioners.md"
_ROW = re.compile(r"^\| (?!point|---)(.+?) \|$", re.MULTILINE)


def test_every_departure_is_on_the_page_and_no_other() -> None:
    declared = {
        f"| `{name}` | {row} |" for name, model in MODELS.items() for row in _ROW.findall(inspect.getdoc(model) or "")
    }
    assert len(declared) > 8
    section = (
        PAGE.read_text(encoding="utf-8").partition("### Where they differ from their papers\n")[2].partition("\n##")[0]
    )
    page = [line for line in section.splitlines() if line.startswith("| `")]
    shown = {line for line in page if "none known" not in line}
    assert shown == declared
    assert {line.split("`")[1] for line in page} == set(MODELS)
