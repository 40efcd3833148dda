"""Three distributions of one version, each tested by itself; and the commands that other distributions add."""

from __future__ import annotations

import ast
import re
import sys
from importlib import invalidate_caches
from pathlib import Path

import pytest

from capeval.cli import group
from runner import Runner

ROOT = Path(__file__).parents[1]
MEMBERS = ("server", "captioning")
OF_MEMBERS = {"capeval_server", "capeval_studies", "capeval_captioning"}
SERVICES = {"fastapi", "sqlalchemy", "starlette", "psycopg", "alembic"}
TORCH = {"torch", "torchvision", "transformers"}


def pyproject(folder: Path) -> str:
    return (folder / "pyproject.toml").read_text(encoding="utf-8")


def imported(path: Path, *, at_once: bool) -> set[str]:
    """Top-level modules that the file imports; `at_once`: as soon as it is imported itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if at_once else ast.walk(tree)
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)] if at_once else [
        node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    ]  # fmt: skip
    return {name.partition(".")[0] for name in names}


def test_one_version() -> None:
    """Cargo's; members name it, and are pinned to it both ways."""
    [version] = re.findall(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    own = pyproject(ROOT)
    for member in MEMBERS:
        text = pyproject(ROOT / "packages" / member)
        assert re.findall(r'^version = "(.*)"$', text, re.MULTILINE) == [version]
        assert re.findall(r'"capeval==(.*)"', text) == [version]
        assert re.findall(rf'"capeval-{member}==(.*)"', own) == [version]


def test_the_core_knows_no_member_and_its_tests_need_none() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    assert len(files) > 150
    for path in files:
        assert not imported(path, at_once=False) & {*OF_MEMBERS, *SERVICES}, path


def test_tests_that_need_torch_are_marked() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if imported(path, at_once=False) & TORCH or 'importorskip("torch"' in text:
            assert "pytestmark = pytest.mark.torch\n" in text, path
            assert 'importorskip("torch", exc_type=ImportError)\n' in text, f"{path} is collected without torch too"
    assert not imported(ROOT / "tests" / "vision" / "conftest.py", at_once=True) & TORCH


# Commands of other distributions


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path for modules and the metadata of a distribution `shouting`; nothing else adds commands."""
    folder = tmp_path / "site"
    (folder / "shouting-1.0.dist-info").mkdir(parents=True)
    (folder / "shouting-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    here = [path for path in sys.path if "site-packages" not in path and not Path(path).glob("capeval*.dist-info")]
    monkeypatch.setattr(sys, "path", [str(folder), *(path for path in sys.path if not _adds_commands(path))])
    monkeypatch.delitem(sys.modules, "shouting", raising=False)
    invalidate_caches()
    group._entry_points.cache_clear()
    yield folder
    group._entry_points.cache_clear()
