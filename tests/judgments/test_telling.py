"""The draw of the captions whose ratings would tell most, and estimates from captions that were not drawn alike."""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacrecap.errors import DataError, UsageError
from sacrecap.judgments import Calibration, calibrate, telling
from sacrecap.judgments.calibration.telling import _chances, _drawn

Row = dict[str, Any]


def write(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def captions(images: int = 300, systems: str = "ab") -> list[Row]:
    """Captions whose ratings the metric tells the better the lower they are."""
    random, rows = np.random.default_rng(3), []
    for image in range(images):
        for place, system in enumerate(systems):
            metric = random.normal() + place
            rating = metric + math.exp(metric - 0.5) * random.normal()
            rows.append({"image_id": str(image), "system": system, "metric": metric, "rating": rating})
    return rows


def scores_of(rows: Sequence[Row]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in ("image_id", "system", "metric")}


def questions_of(rows: Sequence[Row]) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(row["image_id"], [(row["system"], "")]) for row in rows]


def rated(rows: Sequence[Row], path: Path, inclusion: Mapping[int, float]) -> Path:
    said = [{**row, "inclusion": inclusion[place]} for place, row in enumerate(rows) if place in inclusion]
    return write(path, [{name: row[name] for name in row if name != "metric"} for row in said])


def both_draws(rows: Sequence[Row], folder: Path, number: int, seed: int) -> dict[int, float]:
    """A third at random, and of the others those that tell most: places with their inclusion."""
    first = np.random.default_rng(seed).choice(len(rows), number // 3, replace=False).tolist()
    pilot = rated(rows, folder / "pilot.csv", dict.fromkeys(first, 1.0))
    left = [place for place in range(len(rows)) if place not in first]
    questions = questions_of([rows[place] for place in left])
    drawn = telling(questions, number - len(first), scores_of(rows), pilot, seed=seed)
    return dict.fromkeys(first, 1.0) | {left[place]: inclusion for place, inclusion in drawn.items()}


def half(found: Calibration) -> float:
    low, high = found.overall.interval or (math.nan, math.nan)
    return (high - low) / 2


@pytest.mark.parametrize("draws", [10, pytest.param(40, marks=pytest.mark.soak)])
def test_intervals_hold_and_are_shorter_than_those_of_a_plain_draw(tmp_path: Path, draws: int) -> None:
    rows = captions()
    truth = float(np.mean([row["rating"] for row in rows]))
    held, told, plain, without = [], [], [], []
    for seed in range(draws):
        drawn = both_draws(rows, tmp_path, 120, seed)
        found = calibrate(scores_of(rows), rated(rows, tmp_path / "told.csv", drawn))
        told.append(half(found))
        assert not any("other scores" in note for note in found.notes)
        held.append(abs(found.overall.estimate - truth) <= told[-1])
        ignored = calibrate(scores_of(rows), rated(rows, tmp_path / "ignored.csv", dict.fromkeys(drawn, 1.0)))
        without.append(ignored.overall.alone - truth)
        chosen = np.random.default_rng(seed).choice(len(rows), 120, replace=False).tolist()
        plain.append(half(calibrate(scores_of(rows), rated(rows, tmp_path / "plain.csv", dict.fromkeys(chosen, 1.0)))))
    assert np.mean(held) >= 0.9
    assert np.mean(told) < 0.95 * np.mean(plain)
    assert np.mean(without) > 0.1  # without the inclusion, the mean of what was asked for is no mean of all


def test_figures_are_weighted_as_a_slow_reference_says(tmp_path: Path) -> None:
    rows = captions(80, "a")
    drawn = {place: 0.5 + place % 4 for place in range(0, 80, 2)}
    found = calibrate(scores_of(rows), rated(rows, tmp_path / "rated.csv", drawn)).overall
    weights = {place: 1 / inclusion for place, inclusion in drawn.items()}
    total = sum(weights.values())
    mean = sum(row["metric"] for row in rows) / len(rows)
    adjusted = {}
    for place in drawn:
        others = [other for other in drawn if other != place]
        root = np.sqrt([weights[other] for other in others])
        design = np.array([[1.0, rows[other]["metric"]] for other in others])
        answers = np.array([rows[other]["rating"] for other in others])
        slope = np.linalg.lstsq(design * root[:, None], answers * root, rcond=None)[0][1]
        adjusted[place] = rows[place]["rating"] - slope * (rows[place]["metric"] - mean)
    estimate = sum(weights[place] * own for place, own in adjusted.items()) / total
    pulls = [weights[place] * (own - estimate) / total for place, own in adjusted.items()]
    assert found.estimate == pytest.approx(estimate, rel=1e-9)
    assert found.alone == pytest.approx(sum(weights[place] * rows[place]["rating"] for place in drawn) / total)
    low, high = found.interval or (0.0, 0.0)
    error = math.sqrt(sum(pull**2 for pull in pulls) * 40 / 39)
    assert (high - low) / 2 == pytest.approx(2.024394 * error, rel=1e-6)  # Student's t of 38


def test_captions_are_drawn_as_often_as_their_inclusion_says() -> None:
    chances = _chances(np.array([0.1, 1.0, 1.0, 2.0, 40.0, 0.4]), 3)
    assert chances.sum() == pytest.approx(3)
    assert chances[4] == 1
    assert chances[3] == pytest.approx(2 * chances[2])
    groups = np.array([0, 1, 0, 1, 0, 1])
    draws = [_drawn(chances, groups, seed) for seed in range(4000)]
    assert {len(set(one)) for one in draws} == {3}
    often = Counter(place for one in draws for place in one)
    assert [often[place] / 4000 for place in range(6)] == pytest.approx(chances.tolist(), abs=0.03)
    assert _chances(np.zeros(4), 2).tolist() == [0.5] * 4


def test_choices_that_the_scores_leave_open_are_asked_about_most(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    differences = random.normal(size=300)
    scores = {
        "image_id": [str(n) for n in range(300)] * 2,
        "system": ["a"] * 300 + ["b"] * 300,
        "metric": [*differences, *np.zeros(300)],
    }
    pilot = [
        {"image_id": str(n), "b_system": "a", "c_system": "b", "winner": "b" if differences[n] > 0 else "c"}
        for n in range(100)
    ]
    for row in pilot:
        if abs(differences[int(row["image_id"])]) < 0.6:
            row["winner"] = str(random.choice(["b", "c"]))
    questions = [(str(n), [("b", ""), ("a", "")]) for n in range(100, 300)]
    drawn = telling(questions, 60, scores, write(tmp_path / "pilot.csv", pilot))
    assert len(drawn) == 60
    open_ones = [one for place, one in drawn.items() if abs(differences[100 + place]) < 0.4]
    clear_ones = [one for place, one in drawn.items() if abs(differences[100 + place]) > 1.5]
    assert min(open_ones) > max(clear_ones)


def test_all_can_be_drawn_and_what_looks_certain_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = captions(60)
    pilot = rated(rows, tmp_path / "pilot.csv", dict.fromkeys(range(50), 1.0))
    questions, scores = questions_of(rows[50:]), scores_of(rows)
    every = telling(questions, 70, scores, pilot)
    assert every == pytest.approx(dict.fromkeys(range(70), 1.0))
    assert len({*telling(questions, 20, scores, pilot).values()}) > 1
    monkeypatch.setattr(sys.modules["sacrecap.judgments.calibration.telling"], "LEAST", 10.0)
    assert [*telling(questions, 20, scores, pilot).values()] == pytest.approx([1.0] * 20)


def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    rows = captions(60)
    pilot = rated(rows, tmp_path / "pilot.csv", dict.fromkeys(range(50), 1.0))
    questions = questions_of(rows[50:])
    with pytest.raises(UsageError, match=r"80 captions are to be drawn, of 70 that are not rated yet"):
        telling(questions, 80, scores_of(rows), pilot)
    with pytest.raises(DataError, match=r"captions about which there is no question: .* · "):
        telling(questions[:-1], 10, scores_of(rows), pilot)
    few = rated(rows, tmp_path / "few.csv", dict.fromkeys(range(20), 1.0))
    with pytest.raises(DataError, match=r"few\.csv: too few rated images .* rate more first"):
        telling(questions_of(rows[20:]), 10, scores_of(rows), few)
    assert telling(questions, 10, scores_of(rows), pilot) == telling(questions, 10, scores_of(rows), pilot)


@pytest.mark.parametrize("value", ["0", "-1", "often"])
def test_an_inclusion_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    rows = captions(30)
    path = rated(rows, tmp_path / "rated.csv", dict.fromkeys(range(60), 1.0))
    path.write_text(path.read_text().replace(",1.0\n", f",{value}\n", 1))
    with pytest.raises(DataError, match=r"rated\.csv, line 2: inclusion"):
        calibrate(scores_of(rows), path)
