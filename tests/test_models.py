"""What makes shipped data lies in models/: its READMEs have the checksums of what is shipped, and nothing needs it."""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = sorted(path.name for path in (ROOT / "models").iterdir() if path.is_dir() and not path.name.startswith("_"))
SHIPPED = {
    (folder, place): checksum
    for folder in FOLDERS
    for place, checksum in re.findall(
        r"^\| `([^`]+)` \| `([0-9a-f]{64})` \|$", (ROOT / "models" / folder / "README.md").read_text("utf-8"), re.M
    )
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_says_what_from_what_and_by_which_command(folder: str) -> None:
    text = (ROOT / "models" / folder / "README.md").read_text("utf-8")
    assert f"({folder}/README.md)" in (ROOT / "models/README.md").read_text("utf-8")
    assert re.search(r"^    (\w+=\S+ )*(python|export) ", text, re.MULTILINE)
    assert "**From**" in text
    assert folder in {name for name, _ in SHIPPED}


@pytest.mark.parametrize(("folder", "place"), SHIPPED)
def test_what_is_shipped_has_the_checksum_of_its_readme(folder: str, place: str) -> None:
    assert hashlib.sha256((ROOT / place).read_bytes()).hexdigest() == SHIPPED[folder, place]


def imported(tree: ast.Module) -> set[str]:
    """The first part of the names of all modules that a module imports."""
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in names}


def texts(tree: ast.Module) -> set[str]:
    """The strings of a module that are values, not prose."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    }


def test_nothing_imports_or_reads_models() -> None:
    makers = {"models", "wordnet", "parser", "make"}
    assert all((ROOT / "models" / place).exists() for place in ("wordnet.py", "parser/train.py", "things/make.py"))
    theirs = re.compile(rf"\bmodels/({'|'.join(FOLDERS)}|wordnet)\b")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = []
    for place in filter(None, listed.split("\0")):
        path = ROOT / place
        if not path.is_file() or place == "tests/test_models.py" or place.startswith("models/"):
            continue
        if path.suffix == ".py":
            tree = ast.parse(path.read_text("utf-8"))
            found += [f"{place}: imports {name}" for name in sorted(imported(tree) & makers)]
            found += [f"{place}: reads {text}" for text in sorted(texts(tree)) if theirs.search(text)]
        elif path.suffix in {".rs", ".sh", ".js", ".yml", ".yaml"} or path.name == "Makefile":
            lines = path.read_text("utf-8").splitlines()
            read = [line for line in lines if theirs.search(line) and not line.lstrip().startswith(("//", "#"))]
            found += [f"{place}: reads {line.strip()}" for line in read]
    assert found == []
