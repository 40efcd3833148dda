"""The engine of a cluster where Ray is not installed."""

from __future__ import annotations

import sys

import pytest

import sacrecap
from sacrecap.errors import MissingDependencyError


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    message = r"the engine ray needs the extra 'ray': pip install 'sacrecap\[ray\]'"
    with pytest.raises(MissingDependencyError, match=message):
        sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, engine="ray")
