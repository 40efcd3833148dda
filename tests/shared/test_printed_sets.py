"""Caption sets on real data: the outside check, and the scores that Wang and Chan (CVPR 2019) print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import sacrecap
from printed_sets import printed

NOT_REPRODUCIBLE = {"fig14-human", "fig15-human", "fig16-human"}
"""Human captions, printed without their punctuation: their LSA was taken from other text."""


def test_agreement_with_an_independent_implementation(shared: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        [sys.executable, str(shared / "check" / "diversity")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def figures(captions: list[str]) -> dict[str, float]:
    [system] = sacrecap.diversity(
        {"1": captions}, None, "lsa, mbleu-1, mbleu-2, mbleu-3, mbleu-4", tokenizer="whitespace", interval=None
    ).values()
    return {key: figure.value for key, figure in system.items()}


def test_printed_mbleu_to_three_decimals(shared: Path) -> None:
    compared = 0
    for name, (head, captions) in printed(shared).items():
        found = re.search(r"1−mBLEU \[(.*?)\]", head)
        if found:
            scores = figures(captions)
            ours = [round(1 - scores[f"mbleu-{n}"], 3) for n in (1, 2, 3, 4)]
            assert ours == [float(value) for value in found[1].split(",")], name
            compared += 1
    assert compared == 4


def test_printed_lsa(shared: Path) -> None:
    compared = 0
    for name, (head, captions) in printed(shared).items():
        found = re.search(r"LSA ([\d.]+)", head)
        if found and name not in NOT_REPRODUCIBLE:
            assert round(figures(captions)["lsa"], 3) == float(found[1]), name
            compared += 1
    assert compared == 4
