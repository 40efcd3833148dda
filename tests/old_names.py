"""Old module names work for one release: what each test of them checks, for the core and for the members."""

from __future__ import annotations

import re
import sys
import warnings
from importlib import import_module

import pytest

from capeval._moved import MOVED


def old_names(*packages: str) -> list[str]:
    """The old names of what is in these packages now."""
    return [old for old, new in MOVED.items() if new.partition(".")[0] in packages]


def check_old_name(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module imports with a warning that names the new one, and holds what that holds; the new one stays itself."""
    new = MOVED[old]
    for name in [name for name in sys.modules if name == old or name.startswith(f"{old}.")]:
        monkeypatch.delitem(sys.modules, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the packages above it
        with pytest.warns(FutureWarning, match=re.escape(f"{old} is {new} now")):
            module = import_module(old)
    moved = import_module(new)
    assert all(getattr(module, name) is getattr(moved, name) for name in dir(moved) if name[0] != "_")
    assert module is moved or hasattr(moved, "__path__")
    parent, _, child = new.rpartition(".")
    if parent:
        assert getattr(import_module(parent), child) is moved
    for name in {name for name in sys.modules if name.startswith("capeval_")}:
        parent, _, child = name.rpartition(".")
        if parent in sys.modules:
            assert getattr(sys.modules[parent], child) is sys.modules[name], f"{old} hides {name}"
