"""The names of the core that a member imports, and those of them that its reference does not document."""

from __future__ import annotations

import ast
import re
from pathlib import Path

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"

WHOLE = {
    "sacrecap.boards",
    "sacrecap.cli.options",
    "sacrecap.data.fields",
    "sacrecap.metrics.weighted_sum",
    "sacrecap.report.pictures.charts",
    "sacrecap.report.pictures.panels",
    "sacrecap.report.pictures.style",
}
"""Modules that are documented with all their names."""


def used_names(sources: Path) -> dict[str, str]:
    """The names of `sacrecap` that the sources import, `sacrecap.errors.DataError`, and where."""
    names: dict[str, str] = {}
    for path in sorted(sources.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sacrecap":
                names |= {f"{node.module}.{alias.name}": path.name for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name: path.name for alias in node.names if alias.name.startswith("sacrecap.")}
    return names


def undocumented(sources: Path) -> dict[str, str]:
    """Those that no page of the reference names, and where."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(REFERENCE.rglob("*.md")))
    named = {*re.findall(r"^::: (sacrecap[\w.]*)$", text, re.M), *re.findall(r"`(sacrecap[\w.]*)[`(]", text)}
    errors = set(re.findall(r"^\| `(\w+)` \|", text, re.M)) | {"DataWarning", "SacrecapWarning"}
    named |= {f"sacrecap.errors.{name}" for name in errors}
    assert named >= WHOLE
    return {
        name: where
        for name, where in used_names(sources).items()
        if name not in named and name.rpartition(".")[0] not in WHOLE
    }
