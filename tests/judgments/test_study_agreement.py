"""The whole path: judgments × metrics → agreement, and references ranked against each other."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged import REFERENCES, Fitted, pair_lines, pairs, rating_lines, ratings, write_lines

import sacrecap
import sacrecap.metrics.registry
from sacrecap import SacrecapWarning
from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.judgments import Agreement, Pairs, agreement, rank_references, read_judgments
from sacrecap.judgments.agreement_statistics import preference
from sacrecap.judgments.judged_rows import Row
from sacrecap.judgments.row_scorer import RowScorer, drawn_references
from sacrecap.metrics import CiderD, Combine, Metric
from sacrecap.report.agreement_report import render
from sacrecap.report.html import render_html
from sacrecap.report.pictures.agreement_charts import curve, scatter, wins
from sacrecap.report.pictures.charts import LeftOutError

PAIRS = pairs([1, -1, 1, 1, 0, 1])


def value(found: Agreement, name: str, statistic: str = "all") -> float:
    [measured] = [one for one in found.measured if one.name == name]
    return measured.statistics[statistic].value


def test_a_metric_is_right_where_it_prefers_what_people_prefer() -> None:
    found = agreement(PAIRS, "rouge-1, cider-d", interval=None)
    # Every metric prefers the good caption, which people refuse in pair 1 (HC); pair 4 (HM) is undecided.
    assert value(found, "rouge-1") == 4 / 5
    assert value(found, "cider-d", "HC") == 2 / 3
    assert value(found, "cider-d", "HM") == 1
    assert found.primary == "all"


@pytest.mark.parametrize(("ties", "credit"), [("wrong", 0), ("half", 0.5)])
def test_a_metric_without_a_score_prefers_neither_caption(ties: str, credit: float) -> None:
    """References that name no colour have no score by colours: a tie, whichever caption people preferred."""
    rows = [Row(str(number), ("a dog runs", "the dog is running"), number) for number in range(4)]
    b, c = ["a red dog"] * 4, ["a dog"] * 4
    judged = Pairs("pairs", "test", rows, b, c, [1, -1, 1, -1], ["HC", "HM", "HI", "MM"], in_file=4)
    [colour] = agreement(judged, "spice(category=color)", ties=ties, interval=None).measured
    assert {name: one.value for name, one in colour.statistics.items()} == dict.fromkeys(colour.statistics, credit)
    assert colour.ties is not None
    assert (colour.ties["all"], colour.unscored) == (4, 4)
    one_sided = {"b": np.array([1.0, np.nan, -1.0, np.nan]), "c": np.array([np.nan, 1.0, np.nan, -1.0])}
    assert preference(one_sided).tolist() == [0, 0, 0, 0]


def test_objects_may_come_with_the_judgments() -> None:
    objects = {"0": ["dog", "beach"], "1": ["man"], "2": ["bus"], "3": ["apple"], "4": ["cat"], "5": ["plane"]}
    with_them = pairs([1, 1, 1, 1, 1, 1], objects=objects)
    own = agreement(with_them, "vifidel", interval=None)
    given = agreement(pairs([1, 1, 1, 1, 1, 1]), "vifidel", objects=objects, interval=None)
    assert value(own, "vifidel") == value(given, "vifidel") > 0.5
    with pytest.raises(UsageError, match="VIFIDEL needs the objects of each image"):
        agreement(PAIRS, "vifidel", interval=None)
    with pytest.raises(DataError, match="but not of any of the 6 images"):
        agreement(PAIRS, "vifidel", objects={"x": ["dog"]}, interval=None)


@pytest.mark.parametrize(("name", "way"), [("interval_method", "jackknife")])
def test_ways_to_resample_that_judgments_do_not_have_are_refused(name: str, way: str) -> None:
    with pytest.raises(UsageError, match=f"{name} '{way}' is not for agreement, whose intervals are percentiles"):
        agreement(PAIRS, "rouge-l", **{name: way})


def test_scores_are_those_of_a_corpus_of_rows() -> None:
    scores = RowScorer((CiderD(),)).score(PAIRS, [row.references for row in PAIRS.rows]).scores
    rows = {str(number): list(row.references) for number, row in enumerate(PAIRS.rows)}
    alone = sacrecap.score(rows, {str(number): caption for number, caption in enumerate(PAIRS.b)}, "cider-d")
    assert (scores["cider-d"]["b"] == alone["cider-d"].per_image).all()


def test_documents_may_be_images() -> None:
    doubled = ratings([(1,), (2,), (3,)] * 4)  # six images, twice each
    rows = [type(row)(str(number % 6), row.references, row.place) for number, row in enumerate(doubled.rows)]
    doubled = type(doubled)(**{**vars(doubled), "rows": rows})
    references = [row.references for row in rows]
    metrics = tuple(sacrecap.metrics.registry.parse_metrics("cider-paper, cider-d, rouge-l"))
    found, signatures, _ = RowScorer(metrics, documents="images").score(doubled, references)
    assert list(found) == ["cider-paper", "cider-d", "rouge-l"]
    assert re.search(r"\|df:[0-9a-f]{8}\(6\)\|", signatures["cider-d"])
    by_image = {str(number): list(own) for number, own in enumerate(REFERENCES)}
    for key in found:
        frequencies = sacrecap.DocumentFrequency.build(by_image, stem=key == "cider-paper")
        alone = sacrecap.score(
            {str(number): own for number, own in enumerate(references)},
            {str(number): caption for number, caption in enumerate(doubled.captions)},
            key,
            document_frequency=frequencies,
            interval=None,
        )
        assert (found[key]["caption"] == alone[key].per_image).all()
    with pytest.raises(UsageError, match="documents must be one of rows, images, got 'pairs'"):
        agreement(PAIRS, documents="pairs")


def test_numbers_of_references() -> None:
    found = agreement(PAIRS, "rouge-l", references=[1, 2], draws=5, interval=None)
    assert [one.references for one in found.measured] == [1, 2]
    alone = pairs([1, -1, 1, 1, 0, 1])
    alone = Pairs(**{**vars(alone), "rows": [type(r)(r.image_id, r.references[:1], r.place) for r in alone.rows]})
    assert value(agreement(alone, "rouge-l", interval=None), "rouge-l") == found.measured[0].statistics["all"].value
    draws = found.measured[1].draws
    assert draws is not None
    assert draws["all"] == [found.measured[1].statistics["all"].value] * 5  # two of two
    document = found.to_dict()["metrics"]["rouge-l"]
    assert [entry["references"] for entry in document] == [1, 2]
    assert document[1]["draws"]["all"] == {"mean": draws["all"][0], "band": [draws["all"][0]] * 2, "draws": 5}


def test_draws_are_the_same_for_all_rows_of_an_image() -> None:
    rows = [type(row)(str(number // 2), REFERENCES[number // 2], row.place) for number, row in enumerate(PAIRS.rows)]
    drawn = drawn_references(rows, 1, np.random.default_rng(0))
    assert all(len(own) == 1 for own in drawn)
    assert drawn[0] == drawn[1]
    assert {len(drawn_references(rows, 2, np.random.default_rng(seed))[0]) for seed in range(3)} == {2}


def test_numbers_of_references_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="references must be from 0 to 2, as many as the judgments have, got 3"):
        agreement(PAIRS, references=[3])
    with pytest.raises(UsageError, match="draws are of a number of references"):
        agreement(PAIRS, draws=3)
    with pytest.raises(UsageError, match="samples must be a whole number of at least 1, got 0"):
        agreement(PAIRS, samples=0)
    with pytest.raises(UsageError, match="at least 0"):
        agreement(PAIRS, halves=-1)
    fewer = pairs([1, 1])
    fewer.rows[0] = type(fewer.rows[0])("0", ["a dog"], 0)
    with pytest.warns(SacrecapWarning, match="1 rows have fewer than 2 references"):
        agreement(fewer, "rouge-1", references=[2], interval=None)


def test_halves_put_people_and_metrics_on_equal_terms() -> None:
    votes = [[1, 1], [-1, -1], [1, 1], [1, 1], [-1, 1], [1, 1]]
    judged = pairs([1, -1, 1, 1, 0, 1], votes=votes, reference_votes=votes)
    found = agreement(judged, "rouge-1", halves=40, interval=None)
    assert found.halves is not None
    # One vote against the other: always the same, except in pair 4, where it is always the opposite.
    assert found.halves["people"]["all"].value == 5 / 6
    assert found.halves["people"]["HC"].value == 1
    assert 0.6 < found.halves["rouge-1"]["all"].value < 0.9
    assert "halves" in found.to_dict()
    alone = pairs([1, 1], votes=[[1], [1]], reference_votes=[[1], [1]])
    with pytest.raises(UsageError, match="test has no vote on each of several references"):
        agreement(alone, halves=1)
    with pytest.raises(UsageError, match="test has no vote on each of several references"):
        agreement(PAIRS, halves=1)


def test_the_table_says_who_agrees_best() -> None:
    against_people = {"b": [0.0] * 6, "c": [1.0] * 6}
    found = agreement(pairs([1] * 6), "rouge-1", scores={"contrary": against_people}, samples=200)
    text = {line.split()[0]: line for line in render(found, "table").splitlines() if line.strip()}
    assert value(found, "rouge-1") == 1
    assert value(found, "contrary") == 0
    assert " best" in text["ROUGE-1"]
    assert " best" not in text["contrary"]
    for _, pair in found.comparisons:  # the one minus the other, all of the accuracy
        assert pair.delta == value(found, pair.a, pair.statistic) - value(found, pair.b, pair.statistic)
        assert pair.interval == (pair.delta, pair.delta)
        assert abs(pair.delta) == 1


@pytest.mark.parametrize("fitted", [Fitted(), Combine(Fitted(), CiderD())], ids=["itself", "as a member"])
def test_a_metric_fitted_to_the_judgments_is_marked_and_not_the_best(fitted: Metric) -> None:
    judged = pairs([1] * 6)
    found = agreement(judged, [fitted, "rouge-1"], scores={"contrary": {"b": [0.0] * 6, "c": [1.0] * 6}}, samples=200)
    assert value(found, fitted.key) == 1
    for format_ in ("table", "markdown", "latex"):
        [row] = [line for line in render(found, format_).splitlines() if "(fitted to these)" in line]
        assert row.strip(" |").startswith(fitted.label)
        assert "best" not in row
        [best] = [line for line in render(found, format_).splitlines() if "best" in line and "ROUGE-1" in line]
        assert best is not row
    assert f"{fitted.label}: fitted to these judgments, so it agrees with others less" in render(found, "table")
    said = {name: entry.get("fitted") for name, entry in found.to_dict()["metrics"].items()}
    assert said == {fitted.key: True, "rouge-1": None, "contrary": None}
    elsewhere = agreement(replace(judged, dataset="pascal-50s"), [fitted, "rouge-1"], samples=200)
    assert "fitted" not in render(elsewhere, "table").replace("Fitted", "")
    assert " best" in next(line for line in render(elsewhere, "table").splitlines() if line.startswith(fitted.label))


@pytest.mark.parametrize("declared", ["pairs", ["pascal-50s", "pairs"]])
def test_a_function_declares_what_it_was_fitted_to(monkeypatch: pytest.MonkeyPatch, declared: str | list[str]) -> None:
    monkeypatch.setattr(sacrecap.metrics.registry, "_ADDED", {})

    @sacrecap.metric(name="remembers", trained_on=declared)
    def remembers(references: list[str], candidate: str) -> float:
        return 1.0

    [measured] = agreement(PAIRS, [remembers()], interval=None).measured
    assert measured.fitted
    assert "(fitted to these)" in render_html(agreement(PAIRS, [remembers()], interval=None))


def test_a_split_that_decides_nothing_counts_for_nobody() -> None:
    """Of two votes against two, the judging half is tied at times: then a metric's tie is not half right, either."""
    rows = [Row(str(number), REFERENCES[number] * 2, number) for number in range(4)]
    captions = ["a dog"] * 4  # both of a pair: every metric ties
    votes = [[1, -1, 1, -1]] * 4
    judged = Pairs("pairs", "test", rows, captions, captions, [1, -1, 1, -1], ["HC"] * 4, in_file=4, votes=votes)
    split = replace(judged, reference_votes=judged.votes)
    for ties, credit in (("half", 0.5), ("wrong", 0)):
        found = agreement(split, "rouge-1", halves=40, ties=ties, interval=None).halves
        assert found is not None
        assert found["rouge-1"]["all"].value == credit
        assert found["people"]["all"].value == 0  # what one half decides, the other decides the other way


def test_metrics_are_compared_on_the_same_draws() -> None:
    found = agreement(PAIRS, "rouge-1, rouge-l, bleu-4", samples=50)
    compared = {(c.a, c.b, c.statistic) for _, c in found.comparisons}
    assert len(compared) == 3 * 3
    [same] = [c for _, c in found.comparisons if (c.a, c.b, c.statistic) == ("rouge-1", "rouge-l", "all")]
    assert (same.delta, same.interval, same.p, same.williams) == (0, (0, 0), 1, None)
    assert agreement(PAIRS, "rouge-1, rouge-l", interval=None).comparisons == []


def test_correlations_are_compared_by_williams_too(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = ratings([(1, 2), (3, 3), (2, 5), (4, 4), (5, 4), (1, 1), (3, 2), (2, 2)])
    found = agreement(judged, "rouge-1, bleu-1, cider-d", samples=50)
    pearson = [c for _, c in found.comparisons if c.statistic == "pearson"]
    assert all(c.williams is not None and c.williams.n == 8 and 0 <= c.williams.p <= 1 for c in pearson)
    assert all(c.williams is None for _, c in found.comparisons if c.statistic != "pearson")
    monkeypatch.setitem(__import__("sys").modules, "scipy.special", None)
    with pytest.warns(SacrecapWarning, match="no Williams' tests: .* pip install 'sacrecap\\[study\\]'"):
        without = agreement(judged, "rouge-1, bleu-1", samples=50)
    assert without.comparisons[0][1].p is not None


def test_the_same_seed_gives_the_same_numbers() -> None:
    judged = ratings([(1, 2), (3, 3), (2, 5), (4, 4), (5, 4), (1, 1), (3, 2), (2, 2)])
    one, same = (agreement(judged, "rouge-1", samples=40, seed=3, threads=t).to_dict() for t in (1, 3))
    other = agreement(judged, "rouge-1", samples=40, seed=4).to_dict()
    assert json.dumps(one) == json.dumps(same)
    assert one["metrics"]["rouge-1"]["interval"] != other["metrics"]["rouge-1"]["interval"]


def test_what_is_undefined_is_null() -> None:
    found = agreement(ratings([(2,), (2,), (2,)]), "rouge-1", samples=20)
    document = found.to_dict()["metrics"]["rouge-1"]
    assert document["kendall_b"] is None
    assert document["interval"] == {}
    json.dumps(found.to_dict(), allow_nan=False)
    for format_ in ("table", "csv", "markdown", "latex", "json"):
        assert "nan" not in render(found, format_)


@pytest.mark.parametrize("format_", ["table", "csv", "markdown", "latex", "json"])
def test_every_format_shows_every_metric(format_: str) -> None:
    for judged in (PAIRS, ratings([(1, 2), (3, 3), (2, 5), (4, 4)])):
        text = render(agreement(judged, "rouge-1, cider-d(sigma=5)", samples=20, references=[1, 2]), format_)
        assert ("rouge-1" if format_ in ("csv", "json") else "ROUGE-1") in text
        assert "sigma=5" in text
    assert str(agreement(PAIRS, "rouge-1", samples=20)).startswith("metric")


# Scores that others computed


def scored(tmp_path: Path, text: str, judged: Any = PAIRS) -> Agreement:
    (tmp_path / "scores.csv").write_text(text, encoding="utf-8")
    return agreement(judged, "rouge-1", scores=tmp_path / "scores.csv", interval=None)


def test_scores_of_pairs(tmp_path: Path) -> None:
    found = scored(tmp_path, "mine.b,mine.c,gap\n1,0,1\n0,1,-1\n1,0,1\n1,0,1\n5,5,0\n1,1,0\n")
    assert value(found, "mine") == 4 / 5
    assert value(found, "gap") == 4 / 5
    assert [one.ties["all"] for one in found.measured if one.ties] == [0, 1, 1]
    assert re.search(r"^mine\|.*\|scores:[0-9a-f]{8}\|", found.measured[1].signature)


def test_scores_of_ratings(tmp_path: Path) -> None:
    judged = ratings([(1,), (2,), (3,), (4,)])
    assert value(scored(tmp_path, "row\tmine\n0\t.1\n1\t.2\n2\t.3\n3\t.4\n", judged), "mine", "spearman") == 1
    lines = "".join(json.dumps({"image_id": n, "mine": -n}) + "\n" for n in range(4))
    assert value(scored(tmp_path, lines, judged), "mine", "spearman") == -1


def test_scores_from_memory() -> None:
    mine = {"b": [1, 0, 1, 1, 5, 1], "c": (0, 1, 0, 0, 5, 1)}
    assert value(agreement(PAIRS, "rouge-1", scores={"mine": mine}, interval=None), "mine") == 4 / 5
    judged = ratings([(1,), (2,), (3,), (4,)])
    own = agreement(judged, "rouge-1", scores={"mine": {"caption": [0.1, 0.2, 0.3, 0.4]}}, interval=None)
    assert value(own, "mine", "spearman") == 1


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (
            {"b": [1] * 5, "c": [1] * 6},
            "scores 'mine', column 'b': 5 numbers for 6 judgments; give one number for each",
        ),
        ({"b": [1] * 6, "c": [1] * 7}, "scores 'mine', column 'c': 7 numbers for 6 judgments"),
        ({"b": 1.0, "c": [1] * 6}, r"column 'b': an array of shape \(\) for 6 judgments"),
        ({"b": [1] * 6}, "scores 'mine': got the columns 'b'; these judgments need {'b': numbers, 'c': numbers}"),
        ({"caption": [1] * 6}, "got the columns 'caption'; these judgments need {'b'"),
        ({"b": [1] * 6, "c": ["x"] * 6}, "column 'c': not a sequence of numbers"),
        ({"b": [1, 2, float("nan"), 1, 1, 1], "c": [1] * 6}, "column 'b': expected finite numbers, got nan at place 2"),
    ],
)
def test_unusable_scores_from_memory(scores: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        agreement(PAIRS, "rouge-1", scores={"mine": scores}, interval=None)


def test_scores_may_include_judgments_that_are_left_out(tmp_path: Path) -> None:
    judged = ratings([(1,), (2,), (3,)])
    judged = type(judged)(**{**vars(judged), "in_file": 4})
    judged.rows[2] = type(judged.rows[2])("2", REFERENCES[2], 3)
    assert value(scored(tmp_path, "mine\n1\n2\n9\n3\n", judged), "mine", "pearson") == pytest.approx(1)
    assert value(scored(tmp_path, "mine\n1\n2\n3\n", judged), "mine", "pearson") == pytest.approx(1)
    with pytest.raises(DataError, match=r"2 rows of scores for 4 judgments \(or 3, without those left out\)"):
        scored(tmp_path, "mine\n1\n2\n", judged)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no scores in it"),
        ("row\n0\n", "no column of scores in it; its columns: row"),
        ("a\n1\n2\n", "2 rows of scores for 6 judgments; give a row for each"),
        ("a.b\n" + "1\n" * 6, "column 'a.b' without its partner; scores of pairs are a.b and a.c"),
        ("a\n" + "1\n" * 5 + "x\n", "line 7, column a: expected a finite number, got 'x'"),
        ("a\n" + "1\n" * 5 + "inf\n", "line 7, column a: expected a finite number, got 'inf'"),
        ("a,b\n" + "1,2\n" * 5 + "1\n", "row 6 (line 7): has 1 fields where the header has 2"),
        ("a,a\n" + "1,2\n" * 6, "has 2 columns called a; give each a name"),
        ('{"a": 1}\n{"c": 1}\n', "line 2: not the columns of the first row (a)"),
        ('{"a": 1}\n[1]\n', "line 2: is a list, where the others are objects"),
        ('{"a": 1}\n{"a"\n', "line 3, column 1: the JSON ends early"),
    ],
)
def test_scores_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        scored(tmp_path, text)
    assert message in str(caught.value)


def test_scores_under_the_name_of_a_metric_have_another(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="name it scores:rouge-1"):
        found = scored(tmp_path, "rouge-1\n" + "1\n" * 6)
    assert "scores:rouge-1" in [one.name for one in found.measured]


# Files


def test_pairs_and_ratings_from_files(tmp_path: Path) -> None:
    found = agreement(write_lines(tmp_path / "pairs.jsonl", pair_lines()), "rouge-1", interval=None)
    assert value(found, "rouge-1") == 1
    judged = read_judgments(write_lines(tmp_path / "ratings.jsonl", rating_lines()))
    found = agreement(judged, "rouge-1", interval=None)
    assert value(found, "rouge-1", "in_image.kendall_b") == 1
    assert (found.primary, found.n) == ("kendall_c", 12)


# The curve


def test_the_curve_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn pictures are looked at in `report/test_pictures.py`."""
    from sacrecap.report.pictures import check_plot, write_plot

    found = agreement(PAIRS, "rouge-1, cider-d", references=[2, 1], draws=2, interval=None)
    monkeypatch.setattr("sacrecap.report.pictures._rendered", lambda figure, format_: format_.encode())
    for format_ in ("svg", "png", "pdf"):
        write_plot(found, str(tmp_path / f"curve.{format_}"))
        assert (tmp_path / f"curve.{format_}").read_text() == format_
    check_plot("curve.svg", PAIRS, [1, 2])
    with pytest.raises(UsageError, match="end the name in .svg, .png, .pdf"):
        check_plot("curve.gif", PAIRS, [1, 2])
    with pytest.raises(UsageError, match="at least two numbers of references, and test does not name three systems"):
        check_plot("curve.svg", PAIRS, [1])
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    with pytest.raises(MissingDependencyError, match="drawing pictures needs the extra 'plots'"):
        write_plot(found, str(tmp_path / "other.png"))
    assert not (tmp_path / "other.png").exists()


def test_the_curve_has_a_panel_for_each_category() -> None:
    found = agreement(PAIRS, "rouge-1, cider-d", references=[2, 1], draws=3, interval=None)
    chart = curve(found)
    panels = ["all", "HC", "HM"]
    assert [up.label for up in chart.y] == [f"accuracy, {name}" for name in panels]
    assert [(row["measure"], row["system"], row["references"]) for row in chart.rows] == [
        (f"accuracy, {name}", label, count) for name in panels for count in (1, 2) for label in ("ROUGE-1", "CIDEr-D")
    ]
    ordered = sorted(found.measured, key=lambda one: one.references or 0)
    for row, (name, measured) in zip(chart.rows, product(panels, ordered), strict=True):
        assert measured.draws is not None
        assert row["agreement"] == pytest.approx(np.mean(measured.draws[name]))
        assert row["agreement_lower"] - 1e-9 <= row["agreement"] <= row["agreement_upper"] + 1e-9
    one = agreement(replace(PAIRS, categories=[""] * 6), "rouge-1", references=[2, 1], interval=None)
    assert [up.label for up in curve(one).y] == ["accuracy"]
    with pytest.raises(LeftOutError, match="several numbers of references"):
        curve(agreement(PAIRS, "rouge-1", interval=None))


def test_wins_are_those_of_people_and_metrics() -> None:
    named = replace(PAIRS, b_system=["one", "two", "three"] * 2, c_system=["two", "three", "one"] * 2)
    found = agreement(named, "rouge-1, bleu-1", interval=None)
    assert found.systems is not None
    chart = wins(found)
    assert [(row["kind"], row["system"]) for row in chart.rows[::3]] == [
        ("system", "ROUGE-1"),
        ("system", "BLEU-1"),
        ("people", "people"),
    ]
    assert {row["measure"]: row["wins"] for row in chart.rows[:3]} == found.systems.metrics["rouge-1"]
    assert {row["measure"]: row["wins"] for row in chart.rows[6:]} == found.systems.people
    for format_ in ("table", "markdown", "latex"):
        text = render(found, format_)
        assert "Pearson r with people" in text
        assert "three" in text
    with pytest.raises(LeftOutError, match="three systems or more"):
        wins(agreement(PAIRS, "rouge-1", interval=None))


def test_the_fitted_line_is_that_of_least_squares() -> None:
    rated = ratings([(1, 2, 3), (5, 4, 4), (2, 2, 2), (3, 5, 3), (1, 1, 4), (5, 3, 1)])
    for raters in ("each", "mean"):
        found = agreement(rated, "rouge-1, wmd(similarity=false)", raters=raters, interval=None)
        chart = scatter(found)
        assert [up.label for up in chart.y] == ["ROUGE-1", "−WMD(similarity=no)"]
        for measured, line, up in zip(found.measured, chart.fitted, chart.y, strict=True):
            points = [(row["rating"], row["score"]) for row in chart.rows if row["measure"] == up.label]
            assert len(points) == found.n
            x, y = np.array(points).T
            assert np.corrcoef(x, y)[0, 1] == pytest.approx(measured.statistics["pearson"].value)
            assert line is not None
            (left, low), (right, high) = line
            slope, intercept = np.polyfit(x, y, 1)
            assert [left, right] == [x.min(), x.max()]
            assert [low, high] == pytest.approx([slope * left + intercept, slope * right + intercept])
    same = agreement(ratings([(2,)] * 6), "rouge-1", interval=None)
    assert scatter(same).fitted == [None]
    # One that would leave the scores ends where it meets the least, or the largest, of them: 0.
    for values, place in (([1, 2, 3, 4, 4, 5], 0), ([5, 4, 3, 2, 2, 1], 1)):
        for outside in (np.array([0, 0, 0, 0, 1, 2.0]), np.array([0, 0, 0, 0, -1, -2.0])):
            rated = ratings([(value,) for value in values])
            chart = scatter(agreement(rated, "rouge-1", scores={"own": {"caption": outside}}, interval=None))
            line = chart.fitted[chart.panels.index("own")]
            assert line is not None
            slope, intercept = np.polyfit(values, outside, 1)
            assert line[place] == pytest.approx((-intercept / slope, 0))
            assert line[1 - place] == pytest.approx((values[-1], intercept + slope * values[-1]))
    with pytest.raises(LeftOutError, match="people chose, and rated nothing"):
        scatter(agreement(PAIRS, "rouge-1", interval=None))


# References against each other

SENTENCES = {
    "1": ["a dog runs on the beach", "a dog runs on sand", "a dog on the beach", "birds"],
    "2": list(REFERENCES[1]),
}


def test_a_reference_without_a_score_comes_last() -> None:
    """The others of the first name no colour. They tie at 0, for none has a colour of the first one's."""
    ranking = rank_references({"1": ["a red dog", "a dog", "a dog runs"]}, metrics="spice(category=color)")
    [key] = ranking.images["1"][0].ranks
    assert [one.ranks[key] for one in ranking.images["1"]] == [3, 1, 1]
    assert [one.caption for one in ranking.order("1", key)] == ["a dog", "a dog runs", "a red dog"]


def test_the_reference_that_says_what_the_others_say_ranks_first() -> None:
    ranking = rank_references(SENTENCES, ["1"], "rouge-l, cider-d")
    for metric in ("rouge-l", "cider-d"):
        order = ranking.order("1", metric)
        assert order[0].caption == "a dog runs on the beach"
        assert order[-1].caption == "birds"
        assert [one.ranks[metric] for one in order] == [1, 2, 3, 4]
    assert list(ranking.images) == ["1"]


def test_a_rank_is_that_of_the_score_against_the_others() -> None:
    frequencies = sacrecap.DocumentFrequency.build(SENTENCES)
    ranking = rank_references(SENTENCES, metrics="cider-d, rouge-l")
    for number, one in enumerate(ranking.images["1"]):
        others = SENTENCES["1"][:number] + SENTENCES["1"][number + 1 :]
        alone = sacrecap.score(
            {"1": others}, {"1": one.caption}, "cider-d, rouge-l", document_frequency=frequencies, interval=None
        )
        assert one.scores == {key: score.value for key, score in alone.items()}


def test_equal_scores_share_a_rank() -> None:
    ranking = rank_references({"1": ["a dog", "a dog", "a cat"], "2": ["x", "y"]}, metrics="rouge-1, bleu-1")
    assert ranking.correlations() == {("rouge-1", "bleu-1"): pytest.approx(1)}  # image 2 has one rank alone
    assert ranking.to_dict()["spearman"] == [{"a": "rouge-1", "b": "bleu-1", "value": pytest.approx(1)}]
    assert [one.ranks["rouge-1"] for one in ranking.images["1"]] == [1, 1, 3]


def test_what_cannot_be_ranked() -> None:
    with pytest.raises(UsageError, match=r"no references of 1 image \(9\); the file has 2 images \(1, 2\)"):
        rank_references(SENTENCES, ["9"])
    with pytest.raises(DataError, match=r"1 image \(3\) with fewer than two references"):
        rank_references({**SENTENCES, "3": ["alone"]})
    ranking = rank_references(SENTENCES, ["1"], "rouge-1")
    with pytest.raises(UsageError, match="no image '2' among the 1 ranked ones"):
        ranking.order("2", "rouge-1")
    with pytest.raises(UsageError, match="'rouge-l' did not rank; ranked by: rouge-1"):
        ranking.order("1", "rouge-l")


def test_without_references_only_the_metrics_are_measured_that_can_do_without() -> None:
    """One line from 0 references on, as in Madhyastha et al. (2019), Fig. 4; it is that of the variant of this name."""
    objects = {row.image_id: ["dog"] for row in PAIRS.rows}
    found = agreement(PAIRS, "rouge-l, vifidel", references=[0, 1], objects=objects, interval=None, draws=2)
    assert [(one.name, one.references) for one in found.measured] == [("vifidel", 0), ("rouge-l", 1), ("vifidel", 1)]
    alone = agreement(PAIRS, "vifidel(references=no)", objects=objects, interval=None).measured[0]
    values = [{name: one.value for name, one in own.statistics.items()} for own in (found.measured[0], alone)]
    assert values[0] == values[1]
    assert found.measured[0].draws is None
    assert str(found.measured[0].signature).startswith("vifidel(references=no)|")
    assert curve(found).x.scale == "counts"
    drawn = curve(found)
    assert [row["references"] for row in drawn.rows if row["measure"] == drawn.y[0].label] == [0, 1, 1]
    images = agreement(PAIRS, "cider-d, vifidel", references=[0, 1], objects=objects, documents="images", interval=None)
    assert [one.name for one in images.measured] == ["vifidel", "cider-d", "vifidel"]
    both = agreement(PAIRS, "vifidel, vifidel(references=no)", references=[0, 1], objects=objects, interval=None)
    assert [one.references for one in both.measured] == [0, 0, 1, 1]
    with pytest.raises(UsageError, match="no metric of this call can do without references; leave out the number 0"):
        agreement(PAIRS, "rouge-l", references=[0])
