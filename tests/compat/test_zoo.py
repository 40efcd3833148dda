"""Changed copies of pycocoevalcap give the same under compat and by themselves; the original's parts are replaced."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from compat import zoo
from compat.clients import assert_equal

SPEC = importlib.util.find_spec("pycocoevalcap")
ORIGINAL = Path(next(iter(SPEC.submodule_search_locations)))  # type: ignore[union-attr,arg-type]

Runs = tuple[dict[str, Any], dict[str, Any], str]


def run(folder: Path, names: Sequence[str], *options: str) -> tuple[dict[str, Any], str]:
    """What the copies give, and what was told on standard error."""
    command = [sys.executable, *options, zoo.__file__, str(folder), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: rest for name, *rest in map(json.loads, done.stdout.splitlines())}, done.stderr


PLAIN = [name for name, copy in zoo.ZOO.items() if not copy.java]
JAVA = ("ascii_alone",)
"""The one with its own evaluation and tokenizer; `make soak` has the others, which run Java several times."""
SLOW = [name for name, copy in zoo.ZOO.items() if copy.java and name not in JAVA]
"""In one of them the original reads its whole table of paraphrases, 20 seconds of processor time."""


def both(folder: Path, names: Sequence[str]) -> Runs:
    for name in names:
        zoo.build(folder, name, ORIGINAL)
    alone, _ = run(folder, names)
    under, told = run(folder, names, "-m", "sacrecap.compat", "--report")
    return alone, under, told


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return both(tmp_path_factory.mktemp("zoo"), PLAIN)


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return both(tmp_path_factory.mktemp("zoo"), JAVA)


def check(name: str, runs: Runs) -> None:
    """Equal to itself; and the report names what was kept and what was replaced."""
    alone, under, told = runs
    assert_equal(under[name], alone[name], name)
    package = zoo.package_of(name)
    start = f"{package}." if package else ""
    lines = [line.split() for line in told.splitlines() if line.startswith("  ")]
    own = {one[1].rstrip(":").removeprefix(start): one[0] for one in lines if one[1].startswith(start)}
    kept = zoo.ZOO[name].kept
    if package:
        assert {module for module, did in own.items() if did == "kept"} == set(kept), own
        says = [line for line in told.splitlines() if line.startswith("sacrecap.compat: ") and f"/{name}/" in line]
        assert len(says) == (1 if kept else 0)
        assert all(f"{module.replace('.', '/')}.py" in says[0].partition("kept")[0] + says[0] for module in kept)
    assert "replaced" in own.values() or len(kept) == len(own)


@pytest.mark.parametrize("name", PLAIN)
def test_a_copy(name: str, python: Runs) -> None:
    check(name, python)


@pytest.mark.java
@pytest.mark.parametrize("name", JAVA)
def test_a_copy_that_runs_java(name: str, java: Runs) -> None:
    check(name, java)


@pytest.mark.java
@pytest.mark.soak
@pytest.mark.parametrize("name", SLOW)
def test_a_copy_that_runs_java_long(name: str, tmp_path: Path) -> None:
    check(name, both(tmp_path, [name]))
