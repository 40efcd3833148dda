"""The benchmarks take from one another what is there; nothing runs them but people who measure."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
MODULES = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.py")}


def defined(module: ast.Module) -> set[str]:
    """The names that a module defines."""
    named = {node.name for node in module.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assigned = [target for node in module.body if isinstance(node, ast.Assign) for target in node.targets]
    return named | {target.id for target in assigned if isinstance(target, ast.Name)}


def test_what_benchmarks_import_from_one_another_is_there() -> None:
    asked = [
        (name, node.module, {one.name for one in node.names})
        for name, module in MODULES.items()
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES
    ]
    assert len(asked) > 5
    assert not [
        (name, module, names - defined(MODULES[module]))
        for name, module, names in asked
        if names - defined(MODULES[module])
    ]


def test_a_page_that_names_a_benchmark_says_where_it_is() -> None:
    pages = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
    named = [
        (page, name, commit)
        for page, text in pages.items()
        for name, commit in re.findall(r"benchmarks/(\w+)\.py`?(\s+of\s+commit\s+[0-9a-f]{8})?", text)
    ]
    assert {name for _, name, _ in named} >= {"against", "claims"}
    assert not [(page, name) for page, name, commit in named if (name in MODULES) == bool(commit)]
