"""Calibrated figures against a slow reference, at the edges, and by how often their intervals hold the truth."""

from __future__ import annotations

import csv
import itertools
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacrecap.errors import DataError, UsageError
from sacrecap.judgments import Calibration, calibrate
from sacrecap.judgments.calibration.calibrate import STEEP
from sacrecap.judgments.calibration.estimates import SPARE
from sacrecap.judgments.calibration.strengths import bradley_terry
from sacrecap.report.calibration_report import render
from sacrecap.scoring.intervals import student

Row = dict[str, Any]


def write(path: Path, rows: Sequence[Row]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return path


def captions(systems: Sequence[str], images: int, seed: int, noise: float = 0.5) -> list[Row]:
    """Captions with their true ratings, the scores of a good witness, and of one that gives low scores to the good."""
    random = np.random.default_rng(seed)
    rows = []
    for image in range(images):
        easy = random.normal()
        for place, system in enumerate(systems):
            truth = 3 + 0.3 * place + easy + random.normal()
            scores = {"metric": truth + noise * random.normal(), "distance": 5 - truth + random.normal()}
            rows.append({"image_id": str(image), "system": system, **scores, "rating": truth})
    return rows


def columns(rows: Sequence[Row], *left_out: str) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0] if name not in left_out}


def ratings(path: Path, rows: Sequence[Row], *left_out: str) -> Path:
    return write(
        path, [{name: row[name] for name in row if name not in ("metric", "distance", *left_out)} for row in rows]
    )


Told = tuple[float, float, float]
"""An estimate, its variance, and degrees of freedom."""


def slow(rows: Sequence[Row], rated: Sequence[Row], witness: str) -> tuple[dict[str, Told], dict[str, Told]]:
    """Each system's figure from the ratings alone, and with the witness, caption by caption; images are independent."""
    systems = list(dict.fromkeys(row["system"] for row in rows))
    of = {name: [row for row in rows if row["system"] == name] for name in systems}
    means = {name: statistics.fmean(row[witness] for row in own) for name, own in of.items()}
    spread = sum((row[witness] - means[row["system"]]) ** 2 for row in rows) / (len(rows) - len(systems))

    def covariance(some: Sequence[Row], a: str, b: str) -> float:
        groups = [[row for row in some if row["system"] == name] for name in systems]
        products = [
            (row[a] - statistics.fmean(one[a] for one in own)) * (row[b] - statistics.fmean(one[b] for one in own))
            for own in groups
            for row in own
        ]
        return math.fsum(products) / (len(some) - len(systems))

    shared = covariance(rated, "rating", witness)
    told = min(1.0, shared**2 / spread / covariance(rated, "rating", "rating"))
    factor = max(0.0, 1 - (1 - told) / (len(rated) - len(systems) - 1) / told)
    sides: list[dict[str, Told]] = []
    for adjusts in (False, True):
        found = {}
        for name in systems:
            values = []
            for row in (row for row in rated if row["system"] == name):
                others = [other for other in rated if other["image_id"] != row["image_id"]]
                weight = factor * covariance(others, "rating", witness) / spread if adjusts else 0.0
                values.append(row["rating"] - weight * (row[witness] - means[name]))
            left = 1 - len(values) / len(of[name])
            found[name] = (statistics.fmean(values), statistics.variance(values) / len(values) * left, len(values) - 1)
        sides.append(found)
    return sides[0], sides[1]


def interval(told: Told) -> tuple[float, float]:
    estimate, variance, freedom = told
    below = math.floor(freedom)
    low, high = student(0.975, below), student(0.975, below + 1)
    part = (1 / below - 1 / freedom) * below * (below + 1)
    half = ((1 - part) * low + part * high) * math.sqrt(variance)
    return estimate - half, estimate + half


def combined(parts: Sequence[tuple[float, Told]]) -> Told:
    """Welch and Satterthwaite."""
    variances = [part**2 * variance for part, (_, variance, _) in parts]
    below = sum(own**2 / freedom for own, (_, (_, _, freedom)) in zip(variances, parts, strict=True))
    return sum(part * own[0] for part, own in parts), sum(variances), sum(variances) ** 2 / below


def centred(found: Any) -> tuple[float, float]:
    """Half the length of an interval, which is not shifted by skewness, about the estimate."""
    assert found.interval is not None
    half = (found.interval[1] - found.interval[0]) / 2
    return found.estimate - half, found.estimate + half


def longer(found: Any) -> tuple[tuple[float, float], float]:
    """The interval that has the length of the shorter side on both, and by how much the other side is longer."""
    assert found.interval is not None
    below, above = found.estimate - found.interval[0], found.interval[1] - found.estimate
    half = min(below, above)
    return (found.estimate - half, found.estimate + half), max(below, above) / half


@pytest.mark.parametrize("seed", range(3))
def test_systems_and_differences_equal_the_slow_reference(tmp_path: Path, seed: int) -> None:
    rows = captions(["a", "b", "c"], 60, seed)
    random = np.random.default_rng(seed)
    images = random.permutation(60)
    chosen = [row for row in rows if int(row["image_id"]) in images["abc".index(row["system"]) :: 3][: 12 + seed]]
    found = calibrate(columns(rows, "rating"), ratings(tmp_path / "r.csv", chosen), witnesses=["metric"])
    alone, own = slow(rows, chosen, "metric")
    for name, told in own.items():
        assert found.systems[name].estimate == pytest.approx(told[0], abs=1e-9)
        assert centred(found.systems[name]) == pytest.approx(interval(told), abs=1e-9)
        assert found.systems[name].alone == pytest.approx(alone[name][0])
    difference = combined([(1.0, own["a"]), (-1.0, own["c"])])
    assert found.pairs["a", "c"].estimate == pytest.approx(difference[0], abs=1e-9)
    shorter, longer_by = longer(found.pairs["a", "c"])
    assert shorter == pytest.approx(interval(difference), abs=1e-9)
    assert 1 < longer_by <= 1.3
    everything = combined([(1 / 3, told) for told in own.values()])
    assert found.overall.estimate == pytest.approx(everything[0], abs=1e-9)
    assert centred(found.overall) == pytest.approx(interval(everything), abs=1e-9)
    ratio = combined([(1 / 3, told) for told in alone.values()])[1] / everything[1]
    assert found.overall.worth == pytest.approx(min(180, len(chosen) * ratio))


def test_ratings_alone_of_one_system_are_students_interval(tmp_path: Path) -> None:
    rows = captions(["a"], 10**4, 5)
    chosen = rows[:: 10**3]
    found = calibrate(columns(rows, "rating"), ratings(tmp_path / "r.csv", chosen)).overall
    values = [row["rating"] for row in chosen]
    half = student(0.975, 9) * statistics.stdev(values) / math.sqrt(10) * math.sqrt(1 - 10**-3)
    assert found.alone_interval is not None
    assert found.alone_interval[1] - found.alone_interval[0] == pytest.approx(2 * half)


def test_rows_may_be_named_by_captions_and_rated_several_times(tmp_path: Path) -> None:
    rows = [{**row, "caption": f"{row['image_id']} {row['system']} "} for row in captions(["a", "b"], 40, 7)]
    by_system = calibrate(columns(rows, "rating", "caption"), ratings(tmp_path / "r.csv", rows, "caption"))
    lists = [{**row, "rating": [row["rating"] - 0.5, row["rating"] + 0.5]} for row in rows]
    by_caption = calibrate(columns(rows, "rating"), ratings(tmp_path / "r.jsonl", lists, "system"))
    assert by_caption.answers == 2 * by_system.answers == 160
    twice = [{**row, "rating": row["rating"] + d} for row in rows for d in (-0.25, 0.25)]
    by_lines = calibrate(columns(rows, "rating"), ratings(tmp_path / "t.csv", twice, "system"))
    assert by_lines.overall.n == by_system.overall.n == 80
    for other in (by_caption, by_lines):
        assert other.overall.estimate == pytest.approx(by_system.overall.estimate)
        assert other.overall.interval == pytest.approx(by_system.overall.interval)


def test_ratings_of_images_that_were_drawn_whole_are_one_draw(tmp_path: Path) -> None:
    """A caption's copies under other names add nothing to what one image tells."""
    rows = captions(["a"], 400, 3)
    copies = [{**row, "caption": f"{row['image_id']} {copy}"} for row in rows for copy in range(4)]
    single = calibrate(columns(rows, "rating", "system"), ratings(tmp_path / "one.csv", rows[:40], "system"))
    several = calibrate(columns(copies, "rating", "system"), ratings(tmp_path / "four.csv", copies[:160], "system"))
    assert several.overall.n == 4 * single.overall.n
    widths = [np.diff(found.overall.alone_interval)[0] for found in (single, several)]
    assert widths[1] == pytest.approx(widths[0], rel=0.12)


def test_where_all_are_rated_nothing_is_left_to_guess(tmp_path: Path) -> None:
    rows = captions(["a", "b"], 40, 3)
    found = calibrate(columns(rows, "rating"), ratings(tmp_path / "r.csv", rows), plan=True)
    truth = statistics.fmean(row["rating"] for row in rows)
    assert found.overall.estimate == pytest.approx(truth)
    assert found.overall.interval == (found.overall.estimate, found.overall.estimate)
    assert found.pairs["a", "b"].interval == (found.pairs["a", "b"].estimate,) * 2
    half = calibrate(columns(rows, "rating"), ratings(tmp_path / "h.csv", rows[:40]), plan=True)
    assert (half.plan[-1].n, half.plan[-1].alone, half.plan[-1].calibrated) == (80, 0, 0)


# The edges


def one_system(tmp_path: Path, rows: Sequence[Row], **options: Any) -> Calibration:
    path = ratings(tmp_path / "ratings.jsonl", [row for row in rows if row["rating"] is not None], "system")
    return calibrate(columns(rows, "rating", "system"), path, **options)


def test_two_ratings_are_told_by_themselves(tmp_path: Path) -> None:
    rows = captions(["a"], 30, 1)
    rows = [{**row, "rating": row["rating"] if n < 2 else None} for n, row in enumerate(rows)]
    found = one_system(tmp_path, rows)
    values = [row["rating"] for row in rows[:2]]
    half = student(0.975, 1) * statistics.stdev(values) / math.sqrt(2) * math.sqrt(1 - 2 / 30)
    assert found.overall.interval == pytest.approx((statistics.fmean(values) - half, statistics.fmean(values) + half))
    assert (found.overall.n, found.overall.worth) == (2, 2)
    assert found.notes == ["The ratings alone: 2 ratings are too few to weigh the witnesses."]
    with pytest.raises(DataError, match="captions of fewer than 2 images are rated"):
        one_system(tmp_path, [{**row, "rating": row["rating"] if n < 1 else None} for n, row in enumerate(rows)])


def test_witnesses_are_weighed_from_enough_images_on(tmp_path: Path) -> None:
    rows = captions(["a"], 60, 1)
    for spare, weighed in ((-1, False), (0, True)):
        rated = SPARE + 3 + spare
        some = [{**row, "rating": row["rating"] if n < rated else None} for n, row in enumerate(rows)]
        assert (one_system(tmp_path, some).overall.worth > rated) is weighed


def test_equal_ratings_have_an_interval_only_on_a_known_scale(tmp_path: Path) -> None:
    rows = [{**row, "rating": 5 if n < 40 else None} for n, row in enumerate(captions(["a"], 80, 1))]
    found = one_system(tmp_path, rows)
    assert (found.overall.estimate, found.overall.interval, found.overall.worth) == (5, None, 40)
    assert "name the scale, such as rating_range=(1, 5)" in found.notes[-1]
    json.dumps(found.to_dict(), allow_nan=False)
    known = one_system(tmp_path, rows, rating_range=(1, 5)).overall.interval
    assert known == pytest.approx((5 - 4 * (1 - 0.025 ** (1 / 40)), 5))


def test_a_constant_witness_changes_nothing(tmp_path: Path) -> None:
    rows = [{**row, "metric": 0.1, "distance": 7} for row in captions(["a"], 80, 1)]
    rows = [{**row, "rating": row["rating"] if n < 40 else None} for n, row in enumerate(rows)]
    found = one_system(tmp_path, rows)
    assert found.overall.interval == found.overall.alone_interval
    assert (found.overall.worth, found.notes) == (40, ["The ratings alone: the witnesses give all captions one score."])
    half = [{**row, "metric": row["rating"]} for row in captions(["a"], 40, 1, noise=0)]
    beside = [{**row, "distance": 7} for row in half]
    assert one_system(tmp_path, beside).overall.interval == pytest.approx(
        one_system(tmp_path, half, witnesses=["metric"]).overall.interval
    )


def test_a_perfect_witness_gets_a_true_sentence(tmp_path: Path) -> None:
    rows = [{**row, "metric": 2 - 3 * row["rating"]} for row in captions(["a"], 500, 1)]
    truth = statistics.fmean(row["rating"] for row in rows)
    some = [{**row, "rating": row["rating"] if n % 16 == 0 else None} for n, row in enumerate(rows)]
    found = one_system(tmp_path, some, witnesses=["metric"])
    assert found.overall.worth > 200
    assert found.overall.interval is not None
    assert found.overall.interval[0] < truth < found.overall.interval[1]
    assert found.notes == ["The witnesses tell all 32 ratings exactly; of the other captions this is not known."]


def test_wild_scores_are_told_and_weigh_little(tmp_path: Path) -> None:
    rows = captions(["a"], 1000, 2, noise=0.2)
    truth = statistics.fmean(row["rating"] for row in rows)
    wild = [{**row, "metric": -999.0 if n % 100 == 7 else 50 + row["metric"]} for n, row in enumerate(rows)]
    some = [{**row, "rating": row["rating"] if n % 16 == 0 else None} for n, row in enumerate(wild)]
    found = one_system(tmp_path, some, witnesses=["metric"])
    assert found.overall.interval is not None
    assert found.overall.interval[0] < truth < found.overall.interval[1]
    assert any("column metric: 10 of 1,000 are -999" in note for note in found.notes)


def test_doubled_rows_count_once(tmp_path: Path) -> None:
    rows = captions(["a", "b"], 40, 2)
    path = ratings(tmp_path / "r.csv", rows[:50])
    single = calibrate(columns(rows, "rating"), path)
    doubled = calibrate(columns([*rows, *rows[:7]], "rating"), path)
    assert (doubled.overall, doubled.captions) == (single.overall, 80)
    assert "the scores: 7 rows are there twice and count once." in doubled.notes


def test_unanimous_votes_have_exact_limits(tmp_path: Path) -> None:
    rows = captions(["a", "b", "c"], 100, 2)
    said = [
        {"image_id": str(image), "b_system": b, "c_system": c, "winner": "c" if (b, image % 3) == ("b", 0) else "b"}
        for image in range(20)
        for b, c in (("a", "b"), ("b", "c"), ("a", "c"))
    ]
    found = calibrate(columns(rows, "rating"), write(tmp_path / "said.jsonl", said))
    assert found.pairs["a", "c"].estimate == 1
    assert found.pairs["a", "c"].interval == pytest.approx((0.025 ** (1 / 20), 1))
    for own in found.pairs.values():
        assert own.interval is not None
        assert 0 <= own.interval[0] <= own.estimate <= own.interval[1] <= 1


@pytest.mark.parametrize("asked", [False, True])
def test_equal_captions_count_as_people_were_asked(tmp_path: Path, asked: bool) -> None:
    """60 % of the pairs say the same: the share is of those that differ, unless people were asked about the others."""
    rows = captions(["a", "b"], 300, 2)
    same = {str(image) for image in range(180)}
    first = {row["image_id"]: row for row in rows if row["system"] == "a"}
    rows = [{**first[row["image_id"]], "system": row["system"]} if row["image_id"] in same else row for row in rows]
    random = np.random.default_rng(3)
    said = []
    for image in range(0 if asked else 180, 300, 3 if asked else 1):
        winner = "tie" if image < 180 else "b" if random.random() < 0.7 else "c"
        said.append({"image_id": str(image), "b_system": "a", "c_system": "b", "winner": winner})
    found = calibrate(columns(rows, "rating"), write(tmp_path / "said.jsonl", said))
    assert found.captions == (300 if asked else 120)
    assert found.notes[0].startswith("180 of 300 pairs have equal scores by every witness")
    assert ("a tie as half" in found.notes[0]) is asked
    assert found.overall.estimate == pytest.approx(0.6 if asked else 0.7, abs=0.1)


def test_equal_witnesses_count_as_one(tmp_path: Path) -> None:
    rows = captions(["a"], 80, 4)
    twin = [{**row, "distance": 2 * row["metric"] + 1} for row in rows]
    alone = one_system(tmp_path, rows, witnesses=["metric"]).overall
    both = one_system(tmp_path, twin).overall
    assert both.estimate == pytest.approx(alone.estimate, abs=1e-8)
    assert both.worth == pytest.approx(alone.worth)


def test_ratings_that_were_not_drawn_at_random_are_noted(tmp_path: Path) -> None:
    rows = captions(["a"], 200, 1)
    best = sorted(rows, key=lambda row: -row["metric"])[:40]
    kept = {row["image_id"] for row in best}
    rows = [{**row, "rating": row["rating"] if row["image_id"] in kept else None} for row in rows]
    [note] = one_system(tmp_path, rows).notes
    assert note.startswith("The rated captions have other scores by metric, distance than all captions have")


@pytest.mark.parametrize(
    ("scores", "said", "message"),
    [
        ({"image_id": ["1", "2"], "m": [1, 2]}, [{"image_id": "3", "rating": 1}], "no row for 1 image (3)"),
        ({"m": [1, 2]}, [{"image_id": "1", "rating": 1}], "no column image_id; it names which rating belongs"),
        (
            {"image_id": ["1", "2"], "m": [1, 2]},
            [{"image_id": "1"}],
            "no column rating, and none winner; it has image_id",
        ),
        ({"image_id": ["1", "2"], "m": [1, 2]}, [{"image_id": "1", "rating": "x"}], "rating must be a finite number"),
        (
            {"image_id": ["1", "1"], "system": ["a", "b"], "m": [1, 2]},
            [{"image_id": "1", "rating": 1}],
            "has rows of several systems (a, b)",
        ),
        (
            {"image_id": ["1", "2", "1", "2"], "system": ["a", "a", "b", "b"], "m": [1, 2, 1, 2]},
            [{"image_id": "1", "system": "a", "rating": 1}, {"image_id": "2", "system": "a", "rating": 1}],
            "captions of b of fewer than 2 images are rated",
        ),
        (
            {"image_id": ["1", "2"], "m": [1, 2]},
            [{"image_id": "1", "b": "x", "c": "y", "winner": "b"}],
            "no column system",
        ),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, scores: Any, said: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        calibrate(scores, write(tmp_path / "said.jsonl", said))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"witnesses": ["judge"]}, "has no column judge; it has metric, distance"),
        ({"interval": 1.5}, "interval must be a level between 0 and 1, as 0.95, got 1.5"),
    ],
)
def test_unusable_options_are_refused(tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        one_system(tmp_path, captions(["a"], 30, 1), **options)
    assert message in str(caught.value)


# Choices


def choices(systems: Sequence[str], images: int, seed: int) -> tuple[list[Row], list[Row]]:
    """Captions with scores, and a choice between any two of each image."""
    random = np.random.default_rng(seed)
    rows = captions(systems, images, seed)
    by_key = {(row["image_id"], row["system"]): row for row in rows}
    said = []
    for image, (one, other) in itertools.product(range(images), itertools.permutations(systems, 2)):
        if random.random() < 0.5:
            gap = by_key[str(image), one]["rating"] - by_key[str(image), other]["rating"]
            winner = "b" if random.random() < 1 / (1 + math.exp(-2 * gap)) else "c"
            said.append({"image_id": str(image), "b_system": one, "c_system": other, "winner": winner})
    return rows, said


def test_win_rates_are_means_of_choices_in_either_order(tmp_path: Path) -> None:
    rows, said = choices(["a", "b"], 60, 2)
    said = list({row["image_id"]: row for row in said}.values())
    found = calibrate(columns(rows, "rating", "distance"), write(tmp_path / "said.jsonl", said))
    won = {row["image_id"]: float((row["winner"] == "b") == (row["b_system"] == "a")) for row in said}
    assert found.overall.alone == pytest.approx(statistics.fmean(won.values()))
    scores = {(row["image_id"], row["system"]): row["metric"] for row in rows}
    gaps = {str(n): scores[str(n), "a"] - scores[str(n), "b"] for n in range(60)}
    deviation = statistics.pstdev(gaps.values())
    both = [
        {"image_id": image, "system": "x", "metric": math.tanh(STEEP * gap / deviation), "rating": won.get(image)}
        for image, gap in gaps.items()
    ]
    alone, own = slow(both, [row for row in both if row["rating"] is not None], "metric")
    assert found.overall.estimate == pytest.approx(own["x"][0], abs=1e-9)
    assert found.overall.alone == pytest.approx(alone["x"][0], abs=1e-9)
    assert found.pairs["a", "b"] == found.overall


def test_strengths_solve_the_equations_of_bradley_and_terry(tmp_path: Path) -> None:
    rows, said = choices(["a", "b", "c"], 50, 4)
    found = calibrate(columns(rows, "rating"), write(tmp_path / "said.jsonl", said))
    strength = {name: own.estimate for name, own in found.systems.items()}
    assert sum(strength.values()) == pytest.approx(0, abs=1e-9)
    assert strength["a"] < strength["b"] < strength["c"]
    for name, own_strength in strength.items():
        won = sum(
            own.estimate if name == a else 1 - own.estimate for (a, b), own in found.pairs.items() if name in (a, b)
        )
        expected = sum(1 / (1 + math.exp(strength[other] - own_strength)) for other in strength if other != name)
        assert won == pytest.approx(expected, abs=1e-9)
    # An interval by leaving out each image, which needs no derivative.
    estimates = []
    for image in range(50):
        rest = [row for row in said if row["image_id"] != str(image)]
        estimates.append(calibrate(columns(rows, "rating"), write(tmp_path / "rest.jsonl", rest)).systems["a"].estimate)
    error = math.sqrt(49 / 50 * sum((one - statistics.fmean(estimates)) ** 2 for one in estimates))
    own = found.systems["a"].interval
    assert own is not None
    assert own[1] - own[0] == pytest.approx(2 * student(0.975, 45) * error, rel=0.1)


def test_a_strength_beyond_all_figures_is_no_finite_one() -> None:
    won = np.array([[0.0, 1e18], [1.0, 0.0]])
    assert bradley_terry(won) is None, "half of log(1e18) is 20.7"
    found = bradley_terry(won, most=21)
    assert found is not None
    assert found[0] == pytest.approx([9 * math.log(10), -9 * math.log(10)])


@pytest.mark.parametrize("gap", [0.1, 2.0, 9.0])
def test_strengths_that_lie_far_apart_are_found_and_sum_to_zero(gap: float) -> None:
    truth = gap * np.array([-1.0, -0.2, 0.3, 0.9])
    share = 1 / (1 + np.exp(truth[None, :] - truth[:, None]))
    np.fill_diagonal(share, 0.0)
    found = bradley_terry(30 * share)
    assert found is not None
    assert found[0] == pytest.approx(truth, abs=1e-5)
    assert found[0].sum() == pytest.approx(0, abs=1e-9)


def test_systems_that_always_win_have_no_strength(tmp_path: Path) -> None:
    rows = captions(["a", "b", "c"], 30, 1)
    said = [
        {"image_id": str(image), "b_system": b, "c_system": c, "winner": "b"}
        for image in range(30)
        for b, c in (("a", "b"), ("b", "c"), ("a", "c"))
    ]
    found = calibrate(columns(rows, "rating"), write(tmp_path / "said.jsonl", said))
    assert (found.systems, found.overall.estimate) == ({}, pytest.approx(1))
    assert found.overall.interval == pytest.approx((0.025 ** (1 / 30), 1))
    assert any(note.startswith("No strengths") for note in found.notes)


def test_pairs_without_votes_are_left_out_and_said(tmp_path: Path) -> None:
    rows, said = choices(["a", "b", "c"], 40, 4)
    kept = [row for row in said if {row["b_system"], row["c_system"]} != {"a", "c"}]
    found = calibrate(columns(rows, "rating"), write(tmp_path / "said.jsonl", kept))
    assert list(found.pairs) == [("a", "b"), ("b", "c")]
    assert found.notes[0] == "Left out, for lack of votes: a and c."
    assert set(found.systems) == {"a", "b", "c"}


# How often intervals hold the truth


@pytest.mark.soak
@pytest.mark.parametrize("n", [30, 100])
def test_intervals_hold_the_truth_as_often_as_they_say(tmp_path: Path, n: int) -> None:
    rows = captions(["a"], 1000, 11)
    truth = statistics.fmean(row["rating"] for row in rows)
    scores = columns(rows, "rating", "system")
    random = np.random.default_rng(n)
    held, widths = [], []
    for _ in range(200):
        chosen = [rows[place] for place in random.choice(len(rows), n, replace=False)]
        found = calibrate(scores, ratings(tmp_path / "r.jsonl", chosen, "system")).overall
        assert found.interval is not None
        assert found.alone_interval is not None
        held.append(found.interval[0] <= truth <= found.interval[1])
        widths.append(np.diff(found.interval)[0] / np.diff(found.alone_interval)[0])
    assert 0.9 <= statistics.fmean(held) <= 0.99  # of 200, three standard errors around 0.95
    assert statistics.fmean(widths) < 0.6


def test_a_plan_tells_how_long_the_interval_would_be(tmp_path: Path) -> None:
    rows = captions(["a"], 1000, 11)
    plans = {}
    for n in (100, 500):
        path = ratings(tmp_path / "r.jsonl", rows[:n], "system")
        plans[n] = calibrate(columns(rows, "rating", "system"), path, plan=True)
    planned = {one.n: one for one in plans[100].plan}
    assert list(planned) == [20, 30, 50, 100, 200, 300, 500, 1000]
    for n, found in plans.items():
        own = {one.n: one for one in found.plan}[n]
        assert found.overall.interval is not None
        assert own.calibrated == pytest.approx(np.diff(found.overall.interval)[0] / 2)
    assert planned[500].calibrated == pytest.approx({one.n: one for one in plans[500].plan}[500].calibrated, rel=0.2)
    assert planned[1000].calibrated == 0


@pytest.mark.parametrize("format_", ["table", "csv", "markdown", "latex", "json", "notebook"])
def test_every_format_shows_every_figure(tmp_path: Path, format_: str) -> None:
    rows = captions(["one", "two"], 40, 1)
    found = calibrate(columns(rows, "rating"), ratings(tmp_path / "r.csv", rows), plan=True)
    shown = render(found, format_)
    assert f"{found.overall.estimate:.3f}" in shown or str(found.overall.estimate) in shown
    assert "one" in shown
    assert "two" in shown


def unlike(images: int, systems: str) -> list[Row]:
    """Captions whose ratings the metric tells the better the lower they are."""
    random, rows = np.random.default_rng(3), []
    for image in range(images):
        for place, system in enumerate(systems):
            metric = random.normal() + place
            rating = metric + math.exp(metric - 0.5) * random.normal()
            rows.append({"image_id": str(image), "system": system, "metric": metric, "rating": rating})
    return rows


def rated(rows: Sequence[Row], path: Path, inclusion: Mapping[int, float]) -> Path:
    return ratings(path, [{**rows[place], "inclusion": own} for place, own in inclusion.items()])


def test_captions_that_were_not_drawn_alike_are_weighed(tmp_path: Path) -> None:
    rows = unlike(300, "ab")
    truth = float(np.mean([row["rating"] for row in rows]))
    chances = np.minimum(0.9, 0.2 * np.exp([0.5 * row["metric"] for row in rows]))
    held, without = [], []
    for seed in range(10):
        drawn = np.flatnonzero(np.random.default_rng(seed).random(len(rows)) < chances).tolist()
        path = rated(rows, tmp_path / "rated.csv", {place: chances[place] for place in drawn})
        found = calibrate(columns(rows, "rating"), path)
        assert found.overall.interval is not None
        assert not any("other scores" in note for note in found.notes)
        held.append(found.overall.interval[0] <= truth <= found.overall.interval[1])
        plain = calibrate(columns(rows, "rating"), rated(rows, tmp_path / "alike.csv", dict.fromkeys(drawn, 1.0)))
        without.append(plain.overall.alone - truth)
    assert np.mean(held) >= 0.9
    assert np.mean(without) > 0.1


def test_figures_are_weighted_as_a_slow_reference_says(tmp_path: Path) -> None:
    rows = unlike(80, "a")
    drawn = {place: 0.5 + place % 4 for place in range(0, 80, 2)}
    found = calibrate(columns(rows, "rating"), rated(rows, tmp_path / "rated.csv", drawn)).overall
    weights = {place: 1 / inclusion for place, inclusion in drawn.items()}
    total = sum(weights.values())
    mean = sum(row["metric"] for row in rows) / len(rows)
    spread = sum((row["metric"] - mean) ** 2 for row in rows) / (len(rows) - 1)

    def covariance(some: Sequence[int], a: str, b: str) -> float:
        own = sum(weights[place] for place in some)
        of_a, of_b = (sum(weights[place] * rows[place][name] for place in some) / own for name in (a, b))
        products = (weights[place] * (rows[place][a] - of_a) * (rows[place][b] - of_b) for place in some)
        return sum(products) / (own - sum(weights[place] ** 2 for place in some) / own)

    told = covariance([*drawn], "rating", "metric") ** 2 / spread / covariance([*drawn], "rating", "rating")
    factor = max(0.0, 1 - (1 - min(told, 1.0)) / 38 / min(told, 1.0))
    adjusted = {}
    for place in drawn:
        slope = factor * covariance([other for other in drawn if other != place], "rating", "metric") / spread
        adjusted[place] = rows[place]["rating"] - slope * (rows[place]["metric"] - mean)
    estimate = sum(weights[place] * own for place, own in adjusted.items()) / total
    pulls = [weights[place] * (own - estimate) / total for place, own in adjusted.items()]
    assert found.estimate == pytest.approx(estimate, rel=1e-9)
    assert found.alone == pytest.approx(sum(weights[place] * rows[place]["rating"] for place in drawn) / total)
    low, high = found.interval or (0.0, 0.0)
    # 40 of 80 are rated: the captions that stand for fewer than one other are known.
    share = [min(1.0, total / 80 / weights[place]) for place in adjusted]
    error = math.sqrt(sum(pull**2 * (1 - own) for pull, own in zip(pulls, share, strict=True)) * 40 / 39)
    assert (high - low) / 2 == pytest.approx(2.022691 * error, rel=1e-6)  # Student's t of 39


@pytest.mark.parametrize("value", ["0", "-1", "often"])
def test_an_inclusion_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    rows = unlike(30, "ab")
    path = rated(rows, tmp_path / "rated.csv", dict.fromkeys(range(60), 1.0))
    path.write_text(path.read_text().replace(",1.0\n", f",{value}\n", 1))
    with pytest.raises(DataError, match=r"rated\.csv, line 2: inclusion"):
        calibrate(columns(rows, "rating"), path)
