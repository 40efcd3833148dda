"""The outside checks of the shared folder pass on real data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CORPORA = {
    "flickr8k-2k": ["flickr8k-2k"],
    "coco-val2017": [
        "coco-val2017/captions_val2017.json",
        "coco-val2017/systems/Wu-et-al-2016.json",
        "coco-val2017/oracle-Wu-et-al-2016.json",
    ],
}


WITH_METEOR = "bleu-1,bleu-2,bleu-3,bleu-4,meteor,rouge-l,cider-d"


@pytest.mark.parametrize("corpus", CORPORA)
def test_parity_with_the_coco_code(shared: Path, corpus: str) -> None:
    check(shared, "parity", *(str(shared / "data" / name) for name in CORPORA[corpus]), "--metrics", WITH_METEOR)


def test_fidelity_with_an_independent_computation(shared: Path) -> None:
    check(shared, "fidelity")


def check(shared: Path, name: str, *arguments: str) -> None:
    """Runs a check of the shared folder."""
    # The check calls the installed `sacrecap` and imports it: both have to be those under test.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        [sys.executable, str(shared / "check" / name), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
