"""The benchmarks take from one another what is there; nothing runs them but people who measure."""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "benchmarks"
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
    assert len(asked) > 10
    assert not [
        (name, module, names - defined(MODULES[module]))
        for name, module, names in asked
        if names - defined(MODULES[module])
    ]
