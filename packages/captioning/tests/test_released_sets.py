"""The caption sets that are in git: the figures of the page are theirs, without training; and they have its order."""

from __future__ import annotations

import json
import re
import shlex
import tarfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from runner import Runner
from sacrecap.report import pictures
from sacrecap_captioning.sweep import jobs

ROOT = Path(__file__).parents[3]
SETS = ROOT / "packages" / "captioning" / "sets"
PAGE = (ROOT / "docs" / "howto" / "train-captioners.md").read_text(encoding="utf-8")
SWEEPS = ("quick", "models", "losses")


def section(title: str) -> str:
    """A section of the page."""
    return re.split(r"\n##+ ", PAGE.partition(f"\n{title}\n")[2])[0]


def command(name: str) -> list[str]:
    """The command of the page that made the sets."""
    [line] = [line for line in PAGE.replace("\\\n", " ").splitlines() if f"sacrecap caption sweep few -o {name} " in line]
    return shlex.split(line)[1:]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the page's commands print, where the sets are there; nothing can be trained."""
    patch = pytest.MonkeyPatch()
    for name in ("train", "resume", "first_encoder", "generate", "ProcessPoolExecutor"):
        patch.setattr(jobs, name, lambda *_, name=name, **__: pytest.fail(f"{name} is not needed"))
    patch.setattr(pictures, "_rendered", lambda _, format_: format_.encode())
    run = Runner(tmp_path_factory.mktemp("few"))
    run.here("caption", "scenes", "few", "--images", "400")
    printed = {}
    for name in SWEEPS:
        with tarfile.open(SETS / f"{name}.tar.xz") as tar:
            tar.extractall(run.folder)
        printed[name] = json.loads(run.ok(*command(name), "--format", "json"))
        assert (run.folder / name / "pictures" / "plane.png").exists()
        assert not (run.folder / name / "runs").exists()
    patch.undo()
    return printed
