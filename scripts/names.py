"""Refuses names that say a thing's part in a sentence (`found`, `own`, `one`): a name says what the thing is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
REFUSED = frozenset("one own found given kept others said told asked shown made taken wanted".split())
EXCEPTIONS = frozenset(
    {
        "packages/server/src/sacrecap_server/api.py:wanted",
        "packages/server/src/sacrecap_server/contest/ledger.py:taken",
        "packages/server/src/sacrecap_server/store/schema.py:given",
        "packages/server/src/sacrecap_server/store/schema.py:taken",
        "packages/server/src/sacrecap_server/studies/results.py:wanted",
        "packages/server/src/sacrecap_studies/answers.py:given",
        "src/sacrecap/boards/contest_folder.py:told",
        "src/sacrecap/corpus/corpus.py:given",
        "src/sacrecap/corpus/sets.py:given",
        "src/sacrecap/judgments/calibration/estimates.py:told",
        "src/sacrecap/metrics/base.py:own",
        "src/sacrecap/metrics/chair.py:said",
        "src/sacrecap/metrics/fluency.py:own",
        "src/sacrecap/metrics/judge.py:asked",
        "src/sacrecap/metrics/learned.py:given",
        "src/sacrecap/metrics/statements.py:said",
        "src/sacrecap/report/pictures/charts.py:said",
        "src/sacrecap/report/pictures/panels.py:said",
        "src/sacrecap/resources/spending.py:asked",
        "src/sacrecap/resources/spending.py:kept",
    }
)
"""`file:name`, at most 20: columns of a database, fields of answers, parameters and results that are public."""


def bindings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of what the code defines or assigns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.lineno, node.attr


TESTS_AND_TEXTS = re.compile(
    r"""(?ms)^#\[cfg\(test\)\]\n[^\n]*mod \w+ \{.*?^\}|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'"""
)
BINDING = re.compile(
    r"\b(?:fn|mod|let|mut|ref) NAME\b|\bNAME:(?!:)|\b(?:let|for)\b[^=;{]*?\bNAME\b[^;{]*?(?:=|\bin\b)"
    r"|\|[^|;={}]*?\bNAME\b[^|;={}]*\||\bNAME\b[^=;,{}\n]*=>".replace("NAME", f"({'|'.join(sorted(REFUSED))}|known)")
)
"""What `fn`, `let`, `for`, parameters, fields, closures and arms name; `known` is refused in Rust alone."""


def rust_bindings(code: str) -> Iterator[tuple[int, str]]:
    """The line and the refused name of what Rust code defines outside its tests."""
    code = TESTS_AND_TEXTS.sub(lambda match: "\n" * match[0].count("\n"), code)
    for match in BINDING.finditer(code):
        index = match.lastindex or 0
        yield code.count("\n", 0, match.start(index)) + 1, match[index]


def main() -> None:
    """Prints each such name with its place; exits with 1 where there is one."""
    listed = subprocess.run(["git", "ls-files", "*.py", "*.rs"], cwd=ROOT, capture_output=True, text=True, check=True)
    refused = [
        f"{file}:{line}: the name {name} does not say what the thing is"
        for file in listed.stdout.split()
        if "tests" not in Path(file).with_suffix("").parts
        for text in [(ROOT / file).read_text("utf-8")]
        for line, name in (rust_bindings(text) if file.endswith(".rs") else bindings(ast.parse(text)))
        if file.endswith(".rs") or (name.strip("_") in REFUSED and f"{file}:{name}" not in EXCEPTIONS)
    ]
    sys.exit("\n".join(refused) or None)


if __name__ == "__main__":
    main()
