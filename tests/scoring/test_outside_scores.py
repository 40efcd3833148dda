"""Scores of others as metrics, and standardised scores, against plain arithmetic."""

from __future__ import annotations

import json
import pickle
import random
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from sacrecap.data.tables import is_number
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.outside_scores import strays

REFERENCES = {str(n): [f"a dog number {n} runs", f"one brown dog {n % 3}"] for n in range(12)}
SYSTEMS = {
    "a": {image: f"a dog number {image}" for image in REFERENCES},
    "b": {image: f"one cat {int(image) % 4} sits" for image in REFERENCES},
}
JUDGE = {(system, image): random.Random(f"{system}{image}").random() for system in SYSTEMS for image in REFERENCES}


def table(**changed: Any) -> dict[str, list[Any]]:
    """Rows of both systems, in an order of their own."""
    keys = sorted(JUDGE, key=lambda key: random.Random(str(key)).random())
    columns = {
        "system": [system for system, _ in keys],
        "image_id": [int(image) for _, image in keys],
        "caption": [SYSTEMS[system][image] for system, image in keys],
        "rater": [JUDGE[key] for key in keys],
    }
    return {name: own for name, own in {**columns, **changed}.items() if own is not None}


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    names = list(columns)
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    elif path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path)
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        path.write_text("\n".join(mark.join(map(str, row)) for row in [names, *rows]) + "\n")
    return path


def mean_of(system: str) -> float:
    return statistics.fmean(JUDGE[system, image] for image in REFERENCES)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("left_out", ["system", "caption", None])
def test_rows_are_matched_by_image_and_system_or_caption(tmp_path: Path, suffix: str, left_out: str | None) -> None:
    scores = write(tmp_path / f"scores{suffix}", table(**({left_out: None} if left_out else {})))
    found = sacrecap.compare(REFERENCES, SYSTEMS, "rater, rouge-l", scores=scores, samples=20)
    for system, result in found.items():
        assert result["rater"].value == pytest.approx(mean_of(system), abs=1e-12)
        assert list(result["rater"].per_image) == [JUDGE[system, image] for image in result.image_ids]
    assert [pair.delta for pair in found.pairs if pair.metric == "rater"] == [
        pytest.approx(mean_of("a") - mean_of("b"), abs=1e-12)
    ]


def test_all_columns_are_scored_unless_some_are_named() -> None:
    scores = table(other=list(range(24)))
    assert list(sacrecap.compare(REFERENCES, SYSTEMS, "rouge-l", scores=scores, samples=9).metrics) == [
        "rouge-l",
        "rater",
        "other",
    ]
    assert list(sacrecap.compare(REFERENCES, SYSTEMS, "other", scores=scores, samples=9).metrics) == ["other"]


def test_a_column_has_direction_range_and_checksum() -> None:
    metric = "rater(better=lower, range=0..1)"
    found = sacrecap.compare(REFERENCES, SYSTEMS, metric, scores=table(), samples=9)
    [key] = found.metrics
    assert key == metric
    assert found.ranking(key) == sorted(SYSTEMS, key=mean_of)
    score = found["a"][key]
    assert (score.metric.lower_is_better, score.metric.largest, score.metric.smallest) == (True, 1, 0)
    assert re.search(r"^rater\(better=lower,range=0\.\.1\)\|.*\|scores:[0-9a-f]{8}\|", score.signature)
    assert pickle.loads(pickle.dumps(score.metric)) == score.metric


def test_scores_of_one_system_may_come_without_names() -> None:
    rater = [JUDGE["a", image] for image in REFERENCES]
    found = sacrecap.score(REFERENCES, SYSTEMS["a"], "rater", scores={"rater": rater}, samples=9)
    assert found["rater"].value == pytest.approx(mean_of("a"), abs=1e-12)
    found = sacrecap.score(REFERENCES, SYSTEMS["a"], "rater", scores={"image_id": [*REFERENCES], "rater": rater})
    assert found["rater"].value == pytest.approx(mean_of("a"), abs=1e-12)


@pytest.mark.filterwarnings("ignore:the bootstrap test")
@pytest.mark.filterwarnings("ignore:with 20 samples")
def test_parts_of_a_corpus_tell_rows_by_captions(tmp_path: Path) -> None:
    (tmp_path / "references.json").write_text(json.dumps(REFERENCES))
    paths = {name: tmp_path / f"{name}.json" for name in SYSTEMS}
    for name, path in paths.items():
        path.write_text(json.dumps(SYSTEMS[name]))
    given = (tmp_path / "references.json", paths, "rater")
    found = sacrecap.compare(*given, scores=table(), engine="stream", samples=20)
    assert {name: found[name]["rater"].value for name in SYSTEMS} == pytest.approx({n: mean_of(n) for n in SYSTEMS})
    with pytest.raises(UsageError, match="their rows are told by captions; add a column caption"):
        sacrecap.compare(*given, scores=table(caption=None), engine="stream", samples=20)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (table(caption=None, system=None), "scores of one system, and several are compared; add a column system"),
        (table(system=["a"] * 24), "no row of the system 'b'; it has a"),
        (table(rater=[1.0] * 23 + [float("inf")]), "row 24, column rater: expected a finite number, got inf"),
        (table(rater=[1.0] * 23 + ["good"]), "row 24, column rater: expected a finite number, got 'good'"),
        (table(rater=[None] * 24), "no column of scores in it; its columns: system, image_id, caption, rater"),
        (table(rater=["bad"] * 24), "no column of scores in it; its columns: system, image_id, caption, rater"),
        (table(image_id=[None] * 24), "row 1, column image_id: expected a name or a text, got None"),
        (table(image_id=[0] * 24, caption=None), "with different scores (rows 1 and"),
        (table(image_id=[0] * 24, caption=None, other=[0.5] * 24), "with different scores (rows 1 and"),
        (table(caption=["else"] * 24), "no row for 12 images (0 · a dog number 0, 1 ·"),
        ({name: own[:20] for name, own in table().items()}, "no row for"),
        (table(rater=[1.0] * 23), "columns of 23 and 24 values"),
    ],
)
def test_unusable_scores_are_refused(scores: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        sacrecap.compare(REFERENCES, SYSTEMS, "rater", scores=scores, samples=9)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("metric", "scores", "message"),
    [
        ("rater", None, "unknown metric 'rater'"),
        ("rater", {"rater (B)": [1.0] * 24}, "are not for names of metrics: rename the column"),
        ("rater(range=2..1)", {}, "range must be a smaller and a larger number, as 0..1, got '2..1'"),
        ("rater(range=0..0.1)", {}, "rater(range=0..0.1): the scores has the score"),
        ("rater(better=yes)", {}, "better must be one of higher, lower, got 'yes'"),
        ("rater", 7, "scores are of type int; give the path of a file"),
    ],
)
def test_unusable_names_are_refused(metric: str, scores: Any, message: str) -> None:
    given = table(**scores) if isinstance(scores, dict) else scores
    with pytest.raises(UsageError) as caught:
        sacrecap.compare(REFERENCES, SYSTEMS, metric, scores=given, samples=9)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["judge", "rouge-l", "coco", "cider"])
def test_a_column_with_the_name_of_a_metric_is_one_by_another_name(name: str) -> None:
    scores = {own: values for own, values in table().items() if own != "rater"} | {name: table()["rater"]}
    expected = sacrecap.compare(REFERENCES, SYSTEMS, "rater", scores=table(), interval=None)
    with pytest.warns(
        UserWarning, match=f"column of the scores is called {name}, as a metric is: name it scores:{name}"
    ):
        found = sacrecap.compare(REFERENCES, SYSTEMS, f"scores:{name}, z(scores:{name})", scores=scores, interval=None)
    for system, result in found.items():
        assert result[f"scores:{name}"].value == expected[system]["rater"].value
        assert result[f"scores:{name}"].signature.startswith(f"scores:{name}|images:")
    with pytest.warns(UserWarning, match="as a metric is"):
        beside = sacrecap.compare(REFERENCES, SYSTEMS, "rouge-l", scores=scores, interval=None)
    assert list(beside["a"]) == ["rouge-l", f"scores:{name}"]
    assert beside["a"]["rouge-l"].value == sacrecap.score(REFERENCES, SYSTEMS["a"], "rouge-l")["rouge-l"].value


# Standardised scores


def test_z_is_the_distance_from_the_mean_of_all_captions_in_deviations() -> None:
    found = sacrecap.compare(REFERENCES, SYSTEMS, "combine(z(rouge-l), 0.5*z(rater))", scores=table(), samples=9)
    plain = sacrecap.compare(REFERENCES, SYSTEMS, "rouge-l, rater", scores=table(), samples=9)
    every = {key: [x for name in SYSTEMS for x in plain[name][key].per_image] for key in ("rouge-l", "rater")}

    def z(key: str, value: float) -> float:
        return (value - statistics.fmean(every[key])) / statistics.pstdev(every[key])

    for name, result in found.items():
        [score] = result.values()
        own = [plain[name][key] for key in ("rouge-l", "rater")]
        assert score.value == pytest.approx((z("rouge-l", own[0].value) + 0.5 * z("rater", own[1].value)) / 1.5)
        for place, value in enumerate(score.per_image):
            one, other = (own[n].per_image[place] for n in (0, 1))
            assert value == pytest.approx((z("rouge-l", one) + 0.5 * z("rater", other)) / 1.5)
        assert score.signature.startswith("combine(0.5*z(rater),z(rouge-l))|")
        assert score.signature.count("|standard:") == 2
    assert found.to_dict()["standard"]["rater"] == {
        "mean": pytest.approx(statistics.fmean(every["rater"])),
        "deviation": pytest.approx(statistics.pstdev(every["rater"])),
    }


def test_z_turns_the_direction_of_what_is_better_low() -> None:
    plain = sacrecap.compare(REFERENCES, SYSTEMS, "z(rater)", scores=table(), samples=9)
    turned = sacrecap.compare(REFERENCES, SYSTEMS, "z(rater(better=lower))", scores=table(), samples=9)
    for name in SYSTEMS:
        assert turned[name]["z(rater(better=lower))"].value == pytest.approx(-plain[name]["z(rater)"].value)
    assert turned.ranking("z(rater(better=lower))") == plain.ranking("z(rater)")[::-1]


def test_a_result_is_a_standard_of_other_captions(tmp_path: Path) -> None:
    found = sacrecap.compare(REFERENCES, SYSTEMS, "z(rouge-l)", samples=9)
    (tmp_path / "standard.json").write_text(json.dumps(found.to_dict()))
    for standard in (tmp_path / "standard.json", found.to_dict()["standard"]):
        alone = sacrecap.score(REFERENCES, SYSTEMS["a"], "z(rouge-l)", standard=standard)["z(rouge-l)"]
        assert alone.value == found["a"]["z(rouge-l)"].value
        restored = pickle.loads(pickle.dumps(alone.statistics))
        assert restored.score() == alone.value
    assert "|standard:" in alone.signature


@pytest.mark.parametrize(
    ("metric", "standard", "message"),
    [
        ("z(rouge-l)", None, "z(rouge-l) needs the mean and the deviation of rouge-l: standard="),
        ("z(rouge-l)", {"bleu-1": {"mean": 0, "deviation": 1}}, "the standard has no rouge-l; it has bleu-1"),
        ("z(rouge-l)", {"rouge-l": {"mean": 0, "deviation": 0}}, "must have a finite mean and a deviation above 0"),
        ("z(rouge-l)", {"rouge-l": 3}, "must have a finite mean and a deviation above 0"),
        ("z(rouge-l)", {}, 'expected {"metric": {"mean": …, "deviation": …}}'),
        ("z(coco)", None, "z standardises one metric of captions"),
        ("z()", None, "z standardises one metric of captions"),
        ("z", None, "z standardises one metric of captions"),
        ("z(lsa)", None, "z standardises one metric of captions"),
    ],
)
def test_what_cannot_be_standardised_is_refused(metric: str, standard: Any, message: str) -> None:
    with pytest.raises((UsageError, DataError)) as caught:
        sacrecap.score(REFERENCES, SYSTEMS["a"], metric, standard=standard)
    assert message in str(caught.value)


def test_equal_scores_have_no_deviation() -> None:
    with pytest.raises(DataError, match=r"z\(rater\): all 24 captions have the same score"):
        sacrecap.compare(REFERENCES, SYSTEMS, "z(rater)", scores=table(rater=[0.5] * 24), samples=9)


def test_standardised_metrics_parse_back() -> None:
    [metric] = parse_metrics("combine(z(CIDEr-paper), 0.5*z(rouge-l))")
    assert metric.key == "combine(z(cider-paper), 0.5*z(rouge-l))"
    assert parse_metrics(metric.key) == (metric,) == parse_metrics(str(metric))
    assert (metric.largest, metric.smallest, metric.lower_is_better) == (None, None, False)


def test_three_numbers_are_too_few_to_call_any_a_stray() -> None:
    assert not strays([-1.0, 1.0, 2.0, 2.0], "scores")
    [sentence] = strays([-1.0, 1.0, 2.0, 3.0], "scores")
    assert sentence.startswith("scores: 1 of 4 is -1, the others 1 to 3;")


def test_what_is_a_number() -> None:
    assert [is_number(cell) for cell in (1, 0.5, "1e-3", " 2 ", "nan")] == [True] * 5
    assert [is_number(cell) for cell in (True, False, "x", "", None, [1])] == [False] * 6
