"""Server and studies use of the core what its reference documents, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
REFERENCE = Path(__file__).parents[3] / "docs" / "reference"

WHOLE = {"sacrecap.boards", "sacrecap.cli.options", "sacrecap.data.fields", "sacrecap.report.pictures.panels"}
"""Modules that are documented with all their names."""


def imported() -> dict[str, str]:
    """The names of `sacrecap` that the sources import, `sacrecap.errors.DataError`, and where."""
    found: dict[str, str] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sacrecap":
                found |= {f"{node.module}.{one.name}": path.name for one in node.names}
            elif isinstance(node, ast.Import):
                found |= {one.name: path.name for one in node.names if one.name.partition(".")[0] == "sacrecap"}
    return found


def test_every_name_of_the_core_that_is_used_is_documented() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(REFERENCE.rglob("*.md")))
    shown = {*re.findall(r"^::: (sacrecap[\w.]*)$", text, re.M), *re.findall(r"`(sacrecap[\w.]*)[`(]", text)}
    errors = set(re.findall(r"^\| `(\w+)` \|", text, re.M)) | {"DataWarning", "SacrecapWarning"}
    shown |= {f"sacrecap.errors.{name}" for name in errors}
    assert shown >= WHOLE
    used = imported()
    assert len(used) > 20
    assert {
        name: where for name, where in used.items() if name not in shown and name.rpartition(".")[0] not in WHOLE
    } == {}
