"""A law of missing scores: where one system lacks some, what compares says the same as on the images that both have.

5 % of one system's scores are dropped at random, or where they are the lowest, or the highest; through every command
that takes scores. A slow reference, with no more than plain arithmetic, has the differences.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import random
import re
import statistics
import warnings
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from command_line import run
from runner import Runner
from sacrecap.boards import board
from sacrecap.judgments import agreement, calibrate, meta
from sacrecap.report.html import render_html
from sacrecap.resources.needs import Needs

IMAGES = [f"i{n:02}" for n in range(60)]
REFERENCES = {image: [f"a dog runs on sand {image}"] for image in IMAGES}
SYSTEMS = {name: {image: f"{name} says {image}" for image in IMAGES} for name in ("a", "b", "c")}
LEVEL = {"a": 0.0, "b": 0.02, "c": -0.05}
"""How much better each system is on every image: less than images differ."""
__all__ = ["run"]
WAYS = ("at random", "lowest", "highest", "none")


def score_of(system: str, image: str) -> float:
    hard = random.Random(image).random()
    return hard + LEVEL[system] + random.Random(f"{system}{image}").uniform(-0.005, 0.005)


def dropped(system: str, way: str) -> set[str]:
    """5 % of the system's images."""
    ordered = sorted(IMAGES, key=lambda image: score_of(system, image))
    few = len(IMAGES) // 20
    return {
        "at random": {*random.Random(way).sample(IMAGES, few)},
        "lowest": {*ordered[:few]},
        "highest": {*ordered[-few:]},
        "none": set(),
    }[way]


def columns(lacking: str, way: str) -> dict[str, list[Any]]:
    """Scores of all captions; those of one system are missing where they are dropped."""
    gone = dropped(lacking, way)
    rows = [
        (system, image, None if system == lacking and image in gone else score_of(system, image))
        for system in SYSTEMS
        for image in IMAGES
    ]
    return dict(zip(("system", "image_id", "rater"), map(list, zip(*rows, strict=True)), strict=True))


def slow(a: str, b: str, lacking: str, way: str) -> tuple[float, int]:
    """The mean difference over the images that both have, and how many are left out."""
    gone = dropped(lacking, way) if lacking in (a, b) else set()
    differences = [score_of(a, image) - score_of(b, image) for image in IMAGES if image not in gone]
    return statistics.fmean(differences), len(gone)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lacking", SYSTEMS)
def test_directions_and_the_best_stay(lacking: str, way: str) -> None:
    result = sacrecap.compare(REFERENCES, SYSTEMS, "rater", scores=columns(lacking, way), samples=200)
    for a, b in itertools.combinations(SYSTEMS, 2):
        pair = result.pair(a, b, "rater")
        delta, left_out = slow(a, b, lacking, way)
        assert pair.delta == pytest.approx(delta)
        assert pair.left_out == left_out
        assert pair.interval is not None
        assert pair.interval[0] <= delta <= pair.interval[1]
        assert pair.significant
        assert result.pair(b, a, "rater").delta == -pair.delta
    assert result.ranking("rater") == ["b", "a", "c"]
    assert {name: ranks[0] for name, ranks in result.ranks("rater").items()} == {"b": 1, "a": 2, "c": 3}
    known = [score_of(lacking, image) for image in IMAGES if image not in dropped(lacking, way)]
    assert result[lacking]["rater"].value == pytest.approx(statistics.fmean(known)), "the mean of what is there"
    first = str(result).splitlines()[0]
    assert (f"no rater of 3 images of {lacking}" in first) == (way != "none")
    [best] = [line.split()[0] for line in str(result).splitlines() if "*" in line and "best" not in line]
    assert best == "b"
    document = result.to_dict()
    lacks = {name for name, own in document["systems"].items() if "without_score" in own}
    assert lacks == (set() if way == "none" else {lacking})


def test_a_report_says_it_above_the_table() -> None:
    told = "<li>no rater of 3 images of a</li>"
    result = sacrecap.compare(REFERENCES, SYSTEMS, "rater, rouge-l", scores=columns("a", "lowest"), interval=None)
    assert told in render_html(result)
    table = {name: column[:60] for name, column in columns("a", "lowest").items() if name != "system"}
    alone = sacrecap.score(REFERENCES, SYSTEMS["a"], "rater", scores=table, interval=None)
    assert told.replace(" of a<", "<") in render_html(alone)
    table = columns("a", "lowest")
    gone = [place for place, value in enumerate(table["rater"]) if value is None]
    lost = {table["image_id"][place] for place in gone}
    table["rater"] = [None if i in lost else v for i, v in zip(table["image_id"], table["rater"], strict=True)]
    result = sacrecap.compare(REFERENCES, SYSTEMS, "rater", scores=table, interval=None)
    assert told.replace(" of a<", " of each<") in render_html(result)
    assert "<dt>Missing" not in render_html(sacrecap.compare(REFERENCES, SYSTEMS, "rouge-l", interval=None))


def test_an_engine_says_the_same() -> None:
    given: dict[str, Any] = {"scores": columns("b", "highest"), "samples": 200}
    given["scores"]["caption"] = [SYSTEMS[s][i] for s, i in zip(given["scores"]["system"], IMAGES * 3, strict=True)]
    result, local = (sacrecap.compare(REFERENCES, SYSTEMS, "rater", engine=e, **given) for e in ("stream", "local"))
    assert result.pairs == local.pairs


@pytest.mark.parametrize("test", ["exact", "permutation", "bootstrap"])
@pytest.mark.parametrize("method", ["percentile", "jackknife"])
def test_every_test_and_interval_is_of_the_common_images(test: Any, method: Any) -> None:
    how: dict[str, Any] = {"test": test, "interval_method": method, "samples": 200}
    result = sacrecap.compare(REFERENCES, SYSTEMS, "rater", scores=columns("a", "lowest"), **how).pair(
        "a", "b", "rater"
    )
    kept = [image for image in IMAGES if image not in dropped("a", "lowest")]
    alone = {name: {image: own[image] for image in kept} for name, own in SYSTEMS.items() if name != "c"}
    given = columns("a", "none")
    few = sacrecap.compare({image: REFERENCES[image] for image in kept}, alone, "rater", scores=given, **how)
    pair = few.pair("a", "b", "rater")
    assert (result.delta, result.interval, result.p) == (pair.delta, pair.interval, pair.p)


def test_a_board_ranks_the_same(tmp_path: Path) -> None:
    for lacking, way in itertools.product(SYSTEMS, WAYS):
        submitted = {name: {name: own} for name, own in SYSTEMS.items()}
        result = board(REFERENCES, submitted, "rater", needs={"scores": columns(lacking, way)})
        assert [row.system for row in result.rows] == ["b", "a", "c"], (lacking, way)


@pytest.mark.parametrize("way", WAYS)
def test_a_baseline_is_held_against_the_common_images(way: str, tmp_path: Path, run: Runner) -> None:
    """The new captions are better on every image, whatever the baseline's scores lack."""
    Path(run.folder, "references.json").write_text(json.dumps(REFERENCES))
    for name, own in SYSTEMS.items():
        Path(run.folder, f"{name}.json").write_text(json.dumps([{"image_id": k, "caption": v} for k, v in own.items()]))
    table = columns("a", way)
    table["caption"] = [SYSTEMS[s][i] for s, i in zip(table["system"], table["image_id"], strict=True)]
    del table["system"]
    with Path(run.folder, "scores.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(table), *zip(*table.values(), strict=True)])
    common = ["references.json", "--metrics", "rater", "--scores", "scores.csv"]
    common.append("--quiet")
    run.here("score", common[0], "a.json", *common[1:], "--interval", "none", "--baseline", "base.json")
    better, worse = (run.here("check", common[0], f"{n}.json", *common[1:], "--against", "base.json") for n in "bc")
    assert ("without 3 images" in better.stdout) == (way != "none")
    assert (better.status, worse.status) == (0, 3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_what_compare_writes_calibrate_reads(way: str, suffix: str, tmp_path: Path) -> None:
    from sacrecap.report.per_image import write_per_image

    compared = sacrecap.compare(REFERENCES, SYSTEMS, "rater", scores=columns("a", way), interval=None)
    path = tmp_path / f"scores.{suffix}"
    write_per_image(compared, path)
    again = sacrecap.compare(REFERENCES, SYSTEMS, "rater", scores=path, interval=None)
    assert again.pair("a", "b", "rater") == compared.pair("a", "b", "rater")
    ratings = tmp_path / "ratings.csv"
    rated = random.Random(4).sample(list(itertools.product(SYSTEMS, IMAGES)), 90)
    lines = [f"{image},{name},{1 + 4 * score_of(name, image):.2f}" for name, image in rated]
    ratings.write_text("\n".join(["image_id,system,rating", *lines]))
    result = calibrate(path, ratings)
    assert result.captions == 180
    assert result.overall.n == 90, "a rating counts though the witness says nothing of its caption"
    first = str(result).splitlines()[0]
    assert ("3 of 180 captions have no score by rater" in first) == (way != "none") == bool(result.missing)
    assert not any("no score" in note for note in result.notes), "told once"
    truth = statistics.fmean(1 + 4 * score_of(name, image) for name in SYSTEMS for image in IMAGES)
    assert result.overall.estimate == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize("way", WAYS)
def test_agreement_leaves_rows_out(way: str, tmp_path: Path) -> None:
    table = columns("a", way)
    lines = [
        {"image_id": i, "system": s, "caption": SYSTEMS[s][i], "references": REFERENCES[i], "rating": score_of(s, i)}
        for s, i in zip(table["system"], table["image_id"], strict=True)
    ]
    (tmp_path / "judged.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = agreement(tmp_path / "judged.jsonl", "rater", scores=table, interval=None)
    first = str(result).splitlines()[0]
    assert ("3 of 180 captions have no score and are left out" in first) == (way != "none")
    [measured] = result.measured
    assert measured.unscored == (0 if way == "none" else 3)
    assert measured.statistics["pearson"].value == pytest.approx(1)
    assert not math.isnan(measured.statistics["kendall_b"].value)


def rating_of(system: str, image: str) -> float:
    return score_of(system, image) + random.Random(f"people {system}{image}").uniform(-0.2, 0.2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lacking", SYSTEMS)
@pytest.mark.parametrize("metrics", ["rater, full, turned", "turned, full, rater"])
def test_agreement_compares_on_common_captions(metrics: str, lacking: str, way: str, tmp_path: Path) -> None:
    """Means of systems are of the images that have all scores; two metrics, of the captions that both have."""
    table = columns(lacking, way)
    full = columns(lacking, "none")["rater"]
    lines = [
        {"image_id": i, "system": s, "caption": SYSTEMS[s][i], "references": REFERENCES[i], "rating": rating_of(s, i)}
        for s, i in zip(table["system"], table["image_id"], strict=True)
    ]
    (tmp_path / "judged.jsonl").write_text("\n".join(map(json.dumps, lines)))
    scores = {**table, "full": full, "turned": [-value for value in full]}
    result = agreement(tmp_path / "judged.jsonl", metrics, scores=scores, samples=50)
    gone = dropped(lacking, way)
    assert result.systems is not None
    means, people, of_all = (
        {s: statistics.fmean(of(s, i) for i in images) for s in sorted(SYSTEMS)}
        for of, images in (
            (score_of, [i for i in IMAGES if i not in gone]),
            (rating_of, [i for i in IMAGES if i not in gone]),
            (rating_of, IMAGES),
        )
    )
    assert result.systems.metrics["rater"] == pytest.approx(means)
    assert result.systems.people == pytest.approx(of_all)
    pearson = statistics.correlation([*means.values()], [*people.values()])
    assert result.systems.agreement["rater"]["pearson"] == pytest.approx(pearson, abs=1e-12)
    for _, pair in result.comparisons:
        if {pair.a, pair.b} == {"rater", "full"}:
            assert (pair.delta, pair.p) == (pytest.approx(0, abs=1e-12), 1)
        else:
            assert abs(pair.delta) > 0.1
    assert ("and their images of the means of systems" in str(result)) == (way != "none")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("format_", ["table", "markdown", "latex", "notebook"])
def test_meta_is_agreement_of_each_and_tells_in_the_first_line(way: str, format_: str, tmp_path: Path) -> None:
    from sacrecap.report.meta_report import render

    table = columns("a", way)
    lines = [
        {"image_id": i, "system": s, "caption": SYSTEMS[s][i], "references": REFERENCES[i], "rating": score_of(s, i)}
        for s, i in zip(table["system"], table["image_id"], strict=True)
    ]
    (tmp_path / "judged.jsonl").write_text("\n".join(map(json.dumps, lines)))
    needs = Needs.of(None, {"scores": table})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Twice: the second time the scores are those that were kept, and what is missing in them is missing again.
        for _ in range(2):
            result = meta({"mine": tmp_path / "judged.jsonl"}, "rater", results=tmp_path / "kept", needs=needs)
            [measured] = result.agreements["mine"].measured
            assert measured.unscored == (0 if way == "none" else 3)
            assert measured.statistics["pearson"].value == pytest.approx(1)
    shown = render(result, format_)
    told, rest = shown.find("3 of 180 captions have no score"), shown.find("Pearson")
    assert (0 <= told < rest) == (way != "none")
    assert shown.count("have no score") == (way != "none")


def test_a_reference_without_a_score_stands_behind_those_that_have_one() -> None:
    """Nobody else names a colour, so the red bus has no SPICE of colours; that of the others is 0."""
    captions = {"1": ["a red bus", "two men talk", "a man walks"], "2": ["a red car", "a red car", "a blue car"]}
    result = sacrecap.judgments.rank_references(captions, metrics="spice(category=color)")
    [key] = [metric.key for metric in result.metrics]
    assert [math.isnan(ranked.scores[key]) for ranked in result.images["1"]] == [True, False, False]
    assert [ranked.ranks[key] for ranked in result.images["1"]] == [3, 1, 1]
    assert [ranked.ranks[key] for ranked in result.images["2"]] == [1, 1, 3]
    assert "nan" not in str(result).lower()
    assert str(result).splitlines()[0].endswith("; no SPICE(category=color) of 1 reference")
    json.dumps(result.to_dict(), allow_nan=False)


def test_rankings_are_compared_by_references_that_have_both_scores() -> None:
    captions = {"1": ["a red bus on a road", "two men talk on a road", "a man walks on a road", "a man talks"]}
    metrics = "spice(category=color), rouge-l, spice(category=size)"
    result = sacrecap.judgments.rank_references(captions, metrics=metrics)
    of_colour, rouge, of_size = [metric.key for metric in result.metrics]
    assert math.isnan(result.images["1"][0].scores[of_colour])
    assert result.images["1"][0].ranks[rouge] < 4, "the rank of the one without a score would have made a correlation"
    assert math.isnan(result.correlations()[of_colour, rouge]), "the others have one score"
    assert math.isnan(result.correlations()[of_colour, of_size])


def test_systems_that_share_no_image_are_not_compared() -> None:
    """Nothing is known of two systems without a common image: no difference, no best."""
    table = columns("a", "none")
    half = {*IMAGES[:30]}
    for place, (system, image) in enumerate(zip(table["system"], table["image_id"], strict=True)):
        if system != "c" and (image in half) == (system == "a"):
            table["rater"][place] = None
    result = sacrecap.compare(REFERENCES, SYSTEMS, "rater", scores=table, samples=50)
    pair = result.pair("a", "b", "rater")
    assert (math.isnan(pair.delta), pair.interval, pair.p, pair.left_out) == (True, None, 1.0, 60)
    assert result.to_dict()["pairs"][0]["delta"] is None
    assert "nan" not in str(result)
    assert result.ranking("rater")[-1] == "c"
    assert "NaN" not in json.dumps(result.to_dict())
    assert "*" not in str(result).splitlines()[2]


def test_standardised_and_combined_scores_are_missing_with_their_members() -> None:
    metrics = "z(rater), combine(rater, rouge-l)"
    result = sacrecap.compare(REFERENCES, SYSTEMS, metrics, scores=columns("a", "lowest"), interval=None)
    assert len(result.metrics) == 2
    for key in result.metrics:
        assert result["a"][key].unscored == 3
        assert result.pair("a", "b", key).left_out == 3


@pytest.mark.parametrize("stray", [-999.0, -1.0, 1e6])
def test_numbers_that_stand_for_no_score_are_told(stray: float) -> None:
    table = columns("a", "none")
    table["rater"] = [stray if place == 7 else 1 + 4 * abs(own) for place, own in enumerate(table["rater"])]
    with pytest.warns(UserWarning, match=re.escape(f"column rater: 1 of 180 is {stray:g}, the others")):
        sacrecap.compare(REFERENCES, SYSTEMS, "rater", scores=table, interval=None)
