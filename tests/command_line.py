"""Fixtures for tests of the command line: the installed `sacrecap` script, and files to give it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from runner import Runner
from sacrecap import example
from sacrecap.cli import interruptible


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Runs the command line in a folder of its own."""
    # On a busy machine a command of this process would say every now and then how far it is.
    monkeypatch.setattr(interruptible, "LINE_SECONDS", math.inf)
    return Runner(tmp_path)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, object], str]:
    """Writes a file of that name, JSON unless it is text or bytes, and gives the name back."""

    def write(name: str, content: object) -> str:
        data = content if isinstance(content, (str, bytes)) else json.dumps(content)
        (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return name

    return write


@pytest.fixture
def references(tmp_path: Path) -> str:
    """The example's references, as a file in the folder."""
    (tmp_path / "references.json").write_bytes(example.references_path().read_bytes())
    return "references.json"


@pytest.fixture
def candidates(tmp_path: Path) -> str:
    """The example's best system, as a file in the folder."""
    (tmp_path / "careful.json").write_bytes(example.system_path("careful").read_bytes())
    return "careful.json"
