"""Images without a score: every door says so, and none takes it for a number."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from opened import Opened

import sacrecap
from sacrecap.errors import UsageError
from sacrecap.judgments import agreement, rank_references
from sacrecap.judgments.judged_rows import Pairs, Ratings, Row
from sacrecap.report import score_page as page_module
from sacrecap.report.agreement_report import agreement_data
from sacrecap.report.comparison_page import comparison_data
from sacrecap.report.html import render_html, write_report
from sacrecap.report.per_image import write_per_image
from sacrecap.report.score_formats import render
from sacrecap.scoring.ranks import best_first
from sacrecap.scoring.result import Result
from scenes import CANDIDATES, GRAPHS, REFERENCES, give, graph

KEY = "spice(category=attribute)"
"""The references of `field` name no attribute."""
OF_ALL = "SPICE(category=attribute): 1 of 3 images has no score: their references have nothing in this category."


@pytest.fixture(autouse=True)
def _given(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, {**GRAPHS, "nothing": graph("dog")})


def scored(metrics: str = f"{KEY}, rouge-l", **options: Any) -> Result:
    return sacrecap.score(REFERENCES, CANDIDATES, metrics, **{"interval": None, **options})


def without_any(**options: Any) -> Result:
    return sacrecap.score(
        {"1": ["nothing"], "2": ["nothing"]}, {"1": "nothing", "2": "a b"}, f"{KEY}, rouge-l", **options
    )


def test_the_score_is_the_mean_over_the_others() -> None:
    score = scored()[KEY]
    assert score.per_image.tolist() == [0.0, 1.0, pytest.approx(math.nan, nan_ok=True)]
    assert (score.value, score.unscored) == (0.5, 1)
    assert scored()["rouge-l"].unscored == 0


def test_notes_say_how_many() -> None:
    result = scored()
    assert OF_ALL in result.notes
    assert OF_ALL in result.to_dict()["notes"]
    assert OF_ALL in str(result)


@pytest.mark.parametrize(("lower_is_better", "order"), [(False, ["b", "a", "none"]), (True, ["a", "b", "none"])])
def test_a_system_without_a_score_is_last(lower_is_better: bool, order: list[str]) -> None:
    metric = SimpleNamespace(lower_is_better=lower_is_better)
    scores = {"none": math.nan, "a": 0.1, "b": 0.2}
    results: Any = {
        name: {KEY: SimpleNamespace(value=value, metric=metric, unscored=0)} for name, value in scores.items()
    }
    assert best_first(results, KEY) == order


def test_files_of_single_images(tmp_path: Path) -> None:
    result = scored()
    for suffix in ("csv", "jsonl", "parquet"):
        write_per_image(result, tmp_path / f"a.{suffix}")
    with (tmp_path / "a.csv").open(newline="") as file:
        assert [row[KEY] for row in csv.DictReader(file)] == ["0.0", "1.0", ""]
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [line[KEY] for line in lines] == [0.0, 1.0, None]
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet")[KEY].to_pylist() == [0.0, 1.0, None]
    assert np.isnan(result.to_pandas()[KEY].to_numpy()).tolist() == [False, False, True]


def test_a_corpus_without_any_score(tmp_path: Path) -> None:
    result = without_any()
    assert math.isnan(result[KEY].value)
    assert result[KEY].interval is None
    document = json.loads(render(result, "json"))
    assert document["scores"][KEY] is None
    assert KEY not in document["intervals"]
    assert "2 of 2 images have no score" in " ".join(document["notes"])
    [row] = [line for line in str(result).splitlines() if line.startswith("SPICE(")]
    assert row.split() == ["SPICE(category=attribute)", "–"]
    assert next(csv.DictReader(render(result, "csv").splitlines()))["score"] == ""
    for format_ in ("markdown", "latex"):
        assert "nan" not in render(result, format_)
    write_per_image(result, tmp_path / "a.parquet")
    column = pyarrow.parquet.read_table(tmp_path / "a.parquet")[KEY]
    assert (column.to_pylist(), str(column.type)) == ([None, None], "double")
    metric = page_module.page(result).data["metrics"][0]
    assert (metric["median"], metric["scores"]) == (None, [None, None])
    assert render_html(result, title="none")


def test_the_page_of_a_result() -> None:
    metric = page_module.page(scored()).data["metrics"][0]
    assert (metric["unscored"], metric["median"], metric["scores"]) == (1, 0.5, [0.0, 1.0, None])
    first = render_html(scored()).partition('<figure class="histogram">')[2].partition("</figure>")[0]
    assert sum(map(int, re.findall(r'data-count="(\d+)"', first))) == 2


def test_images_without_a_score_are_neither_best_nor_worst() -> None:
    scores = np.array([0.3, math.nan, 0.1, 0.2, math.nan, 0.4])
    assert page_module._ordered(scores, range(6)) == [2, 3, 1, 4, 0, 5]


def test_a_comparison() -> None:
    systems = {"a": CANDIDATES, "b": {**CANDIDATES, "street": "something"}}
    comparison = sacrecap.compare(REFERENCES, systems, KEY, samples=50)
    assert comparison.pair("a", "b", KEY).delta == 0.5
    data = comparison_data(comparison)
    assert data["metrics"][0]["scores"] == [[0.0, 1.0, None], [0.0, 0.0, None]]
    assert OF_ALL in render_html(comparison)
    assert OF_ALL in comparison.to_dict()["notes"]
    assert OF_ALL in str(comparison)


def test_a_comparison_without_any_score() -> None:
    references = {"1": ["nothing"], "2": ["nothing"]}
    systems = {"a": {"1": "nothing", "2": "x"}, "b": {"1": "x", "2": "x"}}
    comparison = sacrecap.compare(references, systems, KEY, samples=50)
    pair = comparison.to_dict()["pairs"][0]
    assert (pair["delta"], pair["interval"], pair["significant"]) == (None, None, False)
    assert "nan" not in str(comparison)
    assert "NaN" not in json.dumps(comparison.to_dict())
    assert render_html(comparison, title="none")


def ratings() -> Ratings:
    rows = [Row(image, REFERENCES[image], place) for place, image in enumerate([*REFERENCES] * 2)]
    captions = [*CANDIDATES.values(), *["a dog runs along the beach with a red ball"] * 3]
    return Ratings("study", "study.csv", rows, captions, [(float(n),) for n in (2, 4, 9, 1, 3, 8)], 6)


def test_ratings_of_captions_without_a_score_are_left_out() -> None:
    found = agreement(ratings(), KEY, interval=0.9, samples=50)
    [measured] = found.measured
    own = ratings()
    kept = [n for n, row in enumerate(own.rows) if row.image_id != "field"]
    less = Ratings(
        "study",
        "study.csv",
        [own.rows[n] for n in kept],
        [own.captions[n] for n in kept],
        [own.ratings[n] for n in kept],
        4,
    )
    [expected] = agreement(less, KEY, interval=0.9, samples=50).measured
    assert {name: one.value for name, one in measured.statistics.items()} == pytest.approx(
        {name: one.value for name, one in expected.statistics.items()}, nan_ok=True
    )
    assert (measured.unscored, expected.unscored) == (2, 0)
    assert found.to_dict()["metrics"][KEY]["without_score"] == 2
    assert "SPICE(category=attribute): 2 of 6 captions have no score and are left out" in str(found)


def test_ratings_without_any_score_agree_with_nothing() -> None:
    rows = [Row("1", ["nothing"], 0), Row("2", ["nothing"], 1)]
    found = agreement(Ratings("study", "s.csv", rows, ["nothing", "x"], [(1.0,), (2.0,)], 2), KEY, samples=20)
    assert found.to_dict()["metrics"][KEY]["kendall_c"] is None


@pytest.mark.parametrize(("ties", "credit"), [("wrong", 0.5), ("half", 0.75)])
def test_pairs_without_a_score_are_ties(ties: str, credit: float) -> None:
    rows = [Row(image, REFERENCES[image], place) for place, image in enumerate(["street", "field"])]
    b, c = ["a red bus on a road", "horses"], ["something", "something"]
    pairs = Pairs("study", "study.csv", rows, b, c, [1, 1], ["", ""], 2)
    found = agreement(pairs, KEY, ties=ties, interval=None)
    [measured] = found.measured
    assert measured.statistics["all"].value == credit
    assert (measured.ties, measured.unscored) == ({"all": 1}, 1)
    assert "SPICE(category=attribute): 1 of 2 pairs have no score and count as ties" in str(found)


def test_ranked_references_without_a_score_are_last() -> None:
    references = {"1": ["a red bus on a road", "a red bus on a street", "horses"], "2": ["nothing", "nothing"]}
    found = rank_references(references, metrics=KEY)
    assert [one.ranks[KEY] for one in found.images["1"]] == [1, 1, 3]
    assert [one.ranks[KEY] for one in found.images["2"]] == [1, 1]
    assert "NaN" not in json.dumps(found.to_dict())


def test_accuracy_of_sets_takes_a_metric_that_scores_every_image() -> None:
    with pytest.raises(UsageError, match="cannot be the accuracy: an image may have no score by it"):
        sacrecap.diversity({"1": ["a", "b"]}, {"1": ["a"]}, accuracy=KEY)


def test_a_combination_has_none_where_a_member_has_none() -> None:
    score = scored(f"combine({KEY}, rouge-l)")[f"combine({KEY}, rouge-l)"]
    assert np.isnan(score.per_image).tolist() == [False, False, True]
    assert score.unscored == 1


@pytest.mark.browser
def test_the_page_says_no_score(browser: Any, tmp_path: Path) -> None:
    write_report(scored(), tmp_path / "report.html", title="no score")
    opened = Opened(browser, tmp_path / "report.html")
    page = opened.page
    assert "median 0.500 · 1 image without a score" in page.locator("figure.histogram").first.inner_text()
    head = page.locator("table.images thead button", has_text="SPICE")
    for _ in range(2):
        head.click()
        assert page.locator("tr.image th").last.inner_text() == "field"
        assert page.locator("tr.image").last.locator("td.score").first.inner_text() == "no score"
    page.locator("#extremes-metric").select_option(index=0)
    assert "field" not in page.locator("#extremes").inner_text()
    opened.close()
    write_report(without_any(), tmp_path / "none.html", title="none")
    opened = Opened(browser, tmp_path / "none.html")
    assert opened.page.locator("table.scores td.score").first.inner_text() == "–"
    opened.close()
    write_report(without_any(interval=0.9, samples=20), tmp_path / "none.html", title="none, beside an interval")
    opened = Opened(browser, tmp_path / "none.html")
    rows = opened.page.locator("table.scores tr")
    assert [rows.nth(n).locator("th, td").count() for n in range(rows.count())] == [4, 4, 4]
    opened.close()


@pytest.mark.browser
def test_the_page_of_a_comparison_says_no_score(browser: Any, tmp_path: Path) -> None:
    systems = {"a": CANDIDATES, "b": {**CANDIDATES, "street": "something"}}
    write_report(sacrecap.compare(REFERENCES, systems, KEY, samples=50), tmp_path / "c.html", title="no score")
    opened = Opened(browser, tmp_path / "c.html")
    page = opened.page
    assert OF_ALL in page.locator("#systems").inner_text()
    assert "better on 1 image" in page.locator(".tally").inner_text()
    rows = page.locator("table.images tr.image")
    assert rows.count() == 3
    assert rows.last.locator("th").inner_text() == "field"
    assert rows.last.locator("td.score").all_inner_texts() == ["no score", "no score", ""]
    opened.close()
    references = {"1": ["nothing"], "2": ["nothing"]}
    nothing = {"1": "nothing", "2": "x"}
    write_report(
        sacrecap.compare(references, {"a": nothing, "b": nothing}, KEY, samples=50), tmp_path / "n.html", title="none"
    )
    opened = Opened(browser, tmp_path / "n.html")
    assert opened.page.locator("table.systems td .value").all_inner_texts() == ["–", "–"]
    assert "–" in opened.page.locator("table.pairs button > .value").inner_text()
    opened.close()


def test_the_page_of_an_agreement() -> None:
    data = agreement_data(agreement(ratings(), f"{KEY}, rouge-l", interval=None))
    own, other = data["metrics"]
    assert [score is None for score in own["scores"][0]] == [False, False, True] * 2
    assert [gap is None for gap in own["gaps"]] == [False, False, True] * 2
    assert None not in other["gaps"]
    assert "NaN" not in json.dumps(data)


def test_no_evidence_and_no_rank_without_a_score() -> None:
    """p is 1, and the systems share all ranks."""
    candidates = {"1": "nothing", "2": "a b"}
    compared = sacrecap.compare(
        {"1": ["nothing"], "2": ["nothing"]}, {"a": candidates, "b": candidates}, KEY, interval=None, attempts=3
    )
    assert [(pair.p, pair.p_corrected, pair.significant) for pair in compared.pairs] == [(1.0, 1.0, False)]
    assert compared.ranks(KEY) == {"a": (1, 2), "b": (1, 2)}
