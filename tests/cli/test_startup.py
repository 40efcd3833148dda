"""Whoever scores with JSON out does not wait for libraries that this does not need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sacrecap import example

HEAVY = {"numpy", "rich", "torch", "pandas", "pyarrow", "scipy", "html", "difflib", "csv"}
SCORE = ["score", str(example.references_path()), str(example.system_path("careful")), "--format", "json"]


MOST = 47
"""The most modules of sacrecap that a score of two files may load: names are data, and code is loaded by name."""


def loaded(code: str, *arguments: str) -> set[str]:
    """Modules loaded at the end of the program."""
    at_exit = "import atexit, json, sys; atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))"
    program = f"{at_exit}\n{code}"
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_importing_loads_nothing_heavy() -> None:
    modules = loaded("import sacrecap; dir(sacrecap)")
    assert not modules & {*HEAVY, "click"}


@pytest.mark.parametrize("images", [2, 30])
def test_a_score_loads_few_modules_of_ours(images: int, tmp_path: Path) -> None:
    references, candidates = tmp_path / "references.json", tmp_path / "captions.json"
    references.write_text(json.dumps({image: ["a dog runs", "a red bus"] for image in range(images)}))
    candidates.write_text(json.dumps(dict.fromkeys(range(images), "a dog")))
    arguments = ["score", str(references), str(candidates), "--metrics", "coco", "--format", "json"]
    modules = loaded("from sacrecap.cli.start import script; script()", *arguments)
    ours = {name for name in modules if name.split(".")[0] == "sacrecap"}
    assert "sacrecap.metrics.cider" in ours
    assert len(ours) <= MOST, sorted(ours)
    assert not modules & {"platformdirs", "tempfile", "urllib.parse", "hashlib"}


def test_scoring_with_json_loads_nothing_heavy() -> None:
    modules = loaded("from sacrecap.cli.start import script; script()", *SCORE)
    ours = {name for name in modules if name.split(".")[0] == "sacrecap"} - {"sacrecap.example"}
    assert "sacrecap.metrics.cider" in ours
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
