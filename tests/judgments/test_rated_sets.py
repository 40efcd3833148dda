"""Ratings of caption sets, and the statistics of a diversity study (Wang and Chan 2019, table 2)."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pytest
from judged import write_lines

import sacrecap
from reference import agreement as slow
from sacrecap.errors import DataError, UsageError
from sacrecap.judgments import Agreement, Ratings, agreement, read_judgments
from sacrecap.report.agreement_report import render

METRICS = "self-cider, lsa, mbleu-mix"
WORDS = "dog cat man girl bus boat runs sits eats sleeps beach street sofa sky red brown small old".split()
SYSTEMS = ("people", "beam", "sampled", "retrieved")
IMAGES = 12


def study(**more: Any) -> list[dict[str, Any]]:
    """What the export of a diversity study has: three people rate the sets of every image, some more noisily."""
    random = np.random.default_rng(7)
    lines = []
    for image in range(IMAGES):
        references = [" ".join(random.choice(WORDS, 6)) for _ in range(3)]
        for system in SYSTEMS:
            stem, share = list(random.choice(WORDS, 6)), random.random()
            captions = [
                " ".join(word if random.random() > share else str(random.choice(WORDS)) for word in stem)
                for _ in range(4)
            ]
            rated = np.clip(share + random.normal(0, (0.05, 0.2, 0.4)), 0, 1).round(2).tolist()
            lines.append(
                {
                    "image_id": image,
                    "system": system,
                    "captions": captions,
                    "caption": "\n".join(captions),
                    "references": references,
                    "rating": rated,
                    "people": ["p1", "p2", "p3"],
                    **more,
                }
            )
    return lines


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_lines(tmp_path_factory.mktemp("study") / "ratings.jsonl", study())


@pytest.fixture(scope="module")
def averaged(file: str) -> Agreement:
    return agreement(file, METRICS, documents="images", raters="mean", samples=200)


def test_sets_are_read_as_sets(file: str) -> None:
    judged = read_judgments(file)
    assert isinstance(judged, Ratings)
    assert judged.sets == [line["captions"] for line in study()]
    assert judged.captions == [line["caption"] for line in study()]
    assert [len(own) for own in judged.ratings] == [3] * len(judged.rows)


def test_sets_need_no_references(tmp_path: Path) -> None:
    lines = [{name: line[name] for name in ("image_id", "captions", "rating")} for line in study()]
    judged = read_judgments(write_lines(tmp_path / "ratings.jsonl", lines))
    assert [row.references for row in judged.rows] == [line["captions"] for line in lines]
    found = agreement(judged, "lsa", interval=None)
    assert found.measured[0].statistics["pearson"].value > 0.3


def test_scores_are_those_of_diversity(averaged: Agreement) -> None:
    lines = study()
    sets = {
        system: {line["image_id"]: line["captions"] for line in lines if line["system"] == system} for system in SYSTEMS
    }
    references = {line["image_id"]: line["references"] for line in lines}
    result = sacrecap.diversity(sets, references, METRICS, interval=None)
    for measured in averaged.measured:
        wanted = [result[system][measured.name].per_image[image] for image in range(IMAGES) for system in SYSTEMS]
        assert measured.scores["caption"].tolist() == wanted


@pytest.mark.parametrize("raters", ["each", "mean", "median"])
def test_raters_are_points_or_merged(file: str, raters: str) -> None:
    found = agreement(file, METRICS, raters=raters, interval=None)
    lines = study()
    merge = {"each": list, "mean": lambda own: [fmean(own)], "median": lambda own: [median(own)]}[raters]
    points = [merge(line["rating"]) for line in lines]
    flat = [value for own in points for value in own]
    images = [line["image_id"] for line in lines]
    assert found.n == len(flat)
    for measured in found.measured:
        scores = slow.tied(measured.scores["caption"].tolist())
        repeated = [score for score, own in zip(scores, points, strict=True) for _ in own]
        wanted = slow.correlations(repeated, flat)
        for name in ("kendall_b", "spearman"):
            wanted[f"in_image.{name}"] = slow.in_images(name, scores, [fmean(own) for own in points], images)
        for name, value in wanted.items():
            assert measured.statistics[name].value == pytest.approx(value, abs=1e-9), (measured.name, name)
        assert measured.signature is not None
        assert measured.signature.partition("|raters:")[2].startswith(f"{raters}|")


def test_the_mean_of_people_agrees_better_than_each(file: str, averaged: Agreement) -> None:
    each = agreement(file, METRICS, documents="images", interval=None)
    for one, other in zip(averaged.measured, each.measured, strict=True):
        assert one.statistics["pearson"].value > other.statistics["pearson"].value + 0.05


def test_json_has_the_three_rows_of_table_2(averaged: Agreement) -> None:
    document = json.loads(render(averaged, "json"))
    assert document["raters"] == "mean"
    for measured in averaged.measured:
        entry = document["metrics"][measured.name]
        assert entry["in_image"] == {
            name: measured.statistics[f"in_image.{name}"].value for name in ("kendall_b", "spearman")
        }
        assert {"pearson", "spearman"} < set(entry)
        assert set(entry["interval"]["in_image"]) == {"kendall_b", "spearman"}
    compared = {one["statistic"] for one in document["comparisons"] if one["p"] is not None}
    assert {"pearson", "spearman", "in_image.spearman"} <= compared
    text = render(averaged, "table")
    assert "ρ in an image" in text
    assert f"ratings: {len(SYSTEMS) * IMAGES} mean ratings of {IMAGES} images" in text
    assert "people: each rater predicts the mean of the others" in text


def test_of_sets_the_metrics_are_those_of_diversity(file: str) -> None:
    found = agreement(file, interval=None)
    assert {"self-cider", "lsa", "mbleu-mix"} <= {one.name for one in found.measured}
    assert all(one.name != "bleu-1" for one in found.measured)
    assert found.primary == "pearson"
    with pytest.raises(UsageError, match="cider-d scores one caption per image, and these are caption sets"):
        agreement(file, "cider-d", interval=None)


def test_raters_are_for_ratings(tmp_path: Path) -> None:
    line = {"image_id": 1, "references": ["a dog"], "b": "a dog", "c": "a cat", "winner": "b"}
    path = write_lines(tmp_path / "pairs.jsonl", [line])
    with pytest.raises(UsageError, match=r"raters 'mean' is for ratings, and .*pairs.jsonl has pairs; leave it out"):
        agreement(path, "rouge-1", raters="mean")
    with pytest.raises(UsageError, match="raters must be one of each, mean, median, got 'sum'"):
        agreement(write_lines(tmp_path / "ratings.jsonl", study()), "lsa", raters="sum")


def test_a_line_without_a_set_is_refused(tmp_path: Path) -> None:
    lines = study()
    del lines[2]["captions"]
    with pytest.raises(DataError, match=r"ratings of captions \(from line 3\)"):
        read_judgments(write_lines(tmp_path / "ratings.jsonl", lines))


def test_references_of_a_file_come_before_the_rated_sets_themselves(tmp_path: Path) -> None:
    rated, references = tmp_path / "rated.jsonl", tmp_path / "references.json"
    rated.write_text(json.dumps({"image_id": "1", "captions": ["a dog", "a cat"], "rating": 0.5}) + "\n")
    references.write_text(json.dumps({"1": ["a dog on grass"]}))
    assert read_judgments(rated).rows[0].references == ["a dog", "a cat"]
    assert read_judgments(rated, captions=references).rows[0].references == ["a dog on grass"]
