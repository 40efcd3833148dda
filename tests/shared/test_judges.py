"""A metric and a judge's released scores, standardised elsewhere and added: the figures of which-metric.md."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from sacrecap.judgments import Pairs, agreement, read_judgments

METRICS = "fleur, combine(z(cider-paper), z(fleur)), combine(z(sentence), z(fleur))"
RELEASED = {"flickr8k-expert": "flickr8k-expert.json.gz", "pascal-50s": "pascal50s-pairs-all.json.gz"}
SCORED = re.compile(r"(?:image file : (.*)\n)?caption : (.*)\nmodel score : .*\nour score : (.*)")


def scored(path: Path) -> list[tuple[str, str, float]]:
    """Image, caption and score of each entry of a text of FLEUR's authors."""
    found = SCORED.findall(gzip.decompress(path.read_bytes()).decode())
    return [(Path(image.strip()).stem, caption.strip(), float(score)) for image, caption, score in found]


@pytest.mark.soak
def test_a_metric_and_a_judge_agree_with_people_better_than_the_judge(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "judges"
    people = {name: read_judgments(folder / file) for name, file in RELEASED.items()}
    pairs = people["pascal-50s"]
    assert isinstance(pairs, Pairs)
    files = [folder / f"fleur-pascal-{category}.txt.gz" for category in dict.fromkeys(pairs.categories)]
    captions, scores = zip(*(one[1:] for file in files for one in scored(file)), strict=True)
    assert captions == tuple(caption for pair in zip(pairs.b, pairs.c, strict=True) for caption in pair)
    rows = {
        "flickr8k-expert": [
            {"image_id": image, "caption": caption, "fleur": score}
            for image, caption, score in scored(folder / "fleur-flickr8k-expert.txt.gz")
        ],
        "pascal-50s": [{"fleur.b": b, "fleur.c": c} for b, c in zip(scores[::2], scores[1::2], strict=True)],
    }
    found = {}
    for name, judgments in people.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[name]))
        found[name] = agreement(judgments, METRICS, scores=tmp_path / f"{name}.jsonl", interval=None)
        (tmp_path / f"{name}.json").write_text(json.dumps(found[name].to_dict()))
    alone = {name: one.measured[0].statistics[one.primary].value for name, one in found.items()}
    assert alone == pytest.approx({"flickr8k-expert": 0.5303, "pascal-50s": 0.8335}, abs=5e-5)
    expected = {"flickr8k-expert": [0.5620, 0.5789], "pascal-50s": [0.8480, 0.8672]}
    for name, other in (("flickr8k-expert", "pascal-50s"), ("pascal-50s", "flickr8k-expert")):
        how = {"scores": tmp_path / f"{name}.jsonl", "standard": tmp_path / f"{other}.json"}
        mixed = agreement(people[name], METRICS, interval=None, **how)  # type: ignore[arg-type]
        sums = [measured.statistics[mixed.primary].value for measured in mixed.measured[1:]]
        assert sums == pytest.approx(expected[name], abs=5e-5)
