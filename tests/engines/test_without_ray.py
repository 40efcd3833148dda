"""The engine of a cluster where Ray is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import sacrecap
from sacrecap.errors import MissingDependencyError


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    message = r"the engine ray needs the extra 'ray': pip install 'sacrecap\[ray\]'"
    with pytest.raises(MissingDependencyError, match=message):
        sacrecap.score(str(tmp_path), engine="ray")
