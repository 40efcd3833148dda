"""A metric and a judge's released scores, standardised elsewhere and added: the figures of which-metric.md."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from sacrecap.judgments import agreement, read_judgments

ROOT = Path(__file__).parents[2]
METRICS = "fleur, combine(z(cider-paper), z(fleur))"


@pytest.mark.soak
def test_a_metric_and_a_judge_agree_with_people_better_than_the_judge(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["fleur.py", str(shared / "data" / "judges"), str(tmp_path)])
    runpy.run_path(str(ROOT / "benchmarks" / "fleur.py"), run_name="__main__")
    found = {}
    files = {"flickr8k-expert": "flickr8k-scores.jsonl", "pascal-50s": "pascal-scores.jsonl"}
    released = {"flickr8k-expert": "flickr8k-expert.json.gz", "pascal-50s": "pascal50s-pairs-all.json.gz"}
    people = {name: read_judgments(shared / "data" / "judges" / file) for name, file in released.items()}
    for name, scores in files.items():
        judgments = people[name]
        found[name] = agreement(judgments, METRICS, scores=tmp_path / scores, interval=None)
        (tmp_path / f"{name}.json").write_text(json.dumps(found[name].to_dict()))
    alone = {name: one.measured[0].statistics[one.primary].value for name, one in found.items()}
    assert alone == pytest.approx({"flickr8k-expert": 0.5303, "pascal-50s": 0.8335}, abs=5e-5)
    for name, other, expected in (("flickr8k-expert", "pascal-50s", 0.5620), ("pascal-50s", "flickr8k-expert", 0.8480)):
        judgments, standard = people[name], tmp_path / f"{other}.json"
        mixed = agreement(judgments, METRICS, scores=tmp_path / files[name], standard=standard, interval=None)
        assert mixed.measured[1].statistics[mixed.primary].value == pytest.approx(expected, abs=5e-5)
