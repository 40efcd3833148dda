"""Whoever scores with JSON out does not wait for libraries that this does not need."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sacrecap import example

HEAVY = {"numpy", "rich", "torch", "pandas", "pyarrow", "scipy", "html", "difflib", "csv"}
SCORE = ["score", str(example.references_path()), str(example.system_path("careful")), "--format", "json"]


def loaded(code: str, *arguments: str) -> set[str]:
    """Top-level modules loaded at the end of the program."""
    at_exit = "import atexit, json, sys; atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))"
    program = f"{at_exit}\n{code}"
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in json.loads(done.stderr)}


def test_importing_loads_nothing_heavy() -> None:
    modules = loaded("import sacrecap; dir(sacrecap)")
    assert not modules & {*HEAVY, "click"}


@pytest.mark.parametrize("options", [["--interval", "none"], []])
def test_scoring_with_json_loads_nothing_heavy(options: list[str]) -> None:
    modules = loaded("from sacrecap.cli.main import main; main()", *SCORE, *options)
    assert "sacrecap" in modules
    assert not modules & HEAVY


def test_ctrl_c_while_the_command_line_loads_is_one_line() -> None:
    program = """
import importlib.abc, sys

class Interrupted(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "click":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from sacrecap.cli.start import script
script()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "sacrecap: interrupted\n")
