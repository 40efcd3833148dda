"""Every metric on every judgment: resumable, by name, and the same figures as `agreement`."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

import pytest
from judged import GOOD, POOR, REFERENCES, Fitted, pairs, ratings

from runner import Runner
from sacrecap.choices import DATASETS
from sacrecap.errors import DataError, UsageError
from sacrecap.judgments import Pairs, Ratings, agreement, meta, read_judgments
from sacrecap.judgments.meta import PROTOCOLS, published
from sacrecap.report.html import render_html
from sacrecap.report.meta_report import overview, render

PAIRS = pairs([1, -1, 1, 1, 0, 1])
RATED = ratings([(1, 2), (3, 3), (2, 5), (4, 4)])


class FittedToPascal(Fitted):
    trained_on = ("pascal-50s",)


def test_figures_are_those_of_agreement_and_a_second_run_scores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = {"pascal-50s": PAIRS, "mine": RATED}
    first = meta(judged, "rouge-1, cider-d", results=tmp_path / "kept")
    for name, given in judged.items():
        own, alone = first.agreements[name], agreement(given, "rouge-1, cider-d")
        for one, other in zip(own.measured, alone.measured, strict=True):
            assert one.signature == other.signature
            for key, two in other.statistics.items():
                assert one.statistics[key].value == pytest.approx(two.value, abs=0, nan_ok=True)
    assert len(list((tmp_path / "kept").iterdir())) == 4

    def score(*_: object, **__: object) -> Any:
        raise AssertionError("scored again")

    monkeypatch.setattr("sacrecap.judgments.row_scorer.score_corpus", score)
    again = meta(judged, "rouge-1, cider-d", results=tmp_path / "kept")
    assert again.to_dict() == first.to_dict()
    with pytest.raises(AssertionError, match="scored again"):
        meta(judged, "rouge-1, cider-d(sigma=5)", results=tmp_path / "kept")
    with pytest.raises(AssertionError, match="scored again"):
        meta({"mine": ratings([(1,), (2,), (3,), (4,)], captions=POOR)}, "rouge-1", results=tmp_path / "kept")


def test_without_a_data_set_those_that_are_recognised_are_listed(tmp_path: Path) -> None:
    listed = Runner(tmp_path).ok("meta")
    assert [line.split(":")[0] for line in listed.splitlines()] == [*PROTOCOLS]
    assert {*PROTOCOLS} - {"polaris", "nebula", "composite"} == {*DATASETS}  # those are ratings, which a name tells


def test_a_metric_that_was_fitted_to_a_data_set_of_this_name_is_marked(tmp_path: Path) -> None:
    for name, fitted in (("pascal-50s", True), ("mine", False)):
        [measured] = meta({name: PAIRS}, [FittedToPascal()], results=tmp_path).agreements[name].measured
        assert measured.fitted is fitted


def test_published_figures_have_a_source_and_stand_beside_the_measured(tmp_path: Path) -> None:
    found = meta({"pascal-50s": PAIRS}, "rouge-1", results=tmp_path, resampling=None)
    document = found.to_dict()["datasets"]["pascal-50s"]
    assert document["protocol"] == PROTOCOLS["pascal-50s"]
    assert [one["metric"] for one in document["published"]] == ["CLIPScore", "RefCLIPScore"]
    assert all(one.source and 0 < one.value < 1 for name in PROTOCOLS for one in published(name))
    for format_ in ("table", "csv", "markdown", "latex", "json", "notebook"):
        shown = render(found, format_)
        assert "Hessel et al., EMNLP 2021" in shown
        assert "rouge-1" in shown.lower()
    with pytest.raises(UsageError, match="no judgments were given"):
        meta({}, results=tmp_path)


# Readers


def test_a_table_of_polaris_columns_is_read_as_ratings(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    images = [{"bytes": b"\x89PNG", "path": f"{n}.jpg"} for n in range(4)]
    columns = {"refs": [list(own) for own in REFERENCES[:4]], "cand": list(GOOD[:4]), "img": images}
    table = pyarrow.table({**columns, "human_score": [0.25, 0.5, 0.75, 1.0]})
    parquet.write_table(table, tmp_path / "test.parquet")
    (tmp_path / "test.csv").write_text(
        "imgid,cand,refs,human_score\n"
        + "".join(f'{n}.jpg,{GOOD[n]},"{list(REFERENCES[n])!r}",{(n + 1) / 4}\n' for n in range(4))
    )
    for name in ("test.parquet", "test.csv"):
        read = read_judgments(tmp_path / name)
        assert isinstance(read, Ratings)
        assert [row.image_id for row in read.rows] == [f"{n}.jpg" for n in range(4)]
        assert [tuple(row.references) for row in read.rows] == list(REFERENCES[:4])
        assert (read.captions, read.ratings) == (list(GOOD[:4]), [(0.25,), (0.5,), (0.75,), (1.0,)])


def test_d_foil_prefers_the_corrected_caption(tmp_path: Path) -> None:
    rows = [
        {
            "image_id": "1",
            "caption": REFERENCES[0][0],
            "hall_caption": POOR[0],
            "human_corrected_hall_caption": GOOD[0],
        },
        {
            "image_id": "2",
            "caption": REFERENCES[1][0],
            "hall_caption": GOOD[1],
            "human_corrected_hall_caption": GOOD[1],
        },
    ]
    (tmp_path / "d-foil.json").write_text(json.dumps(rows, indent=1))
    read = read_judgments(tmp_path / "d-foil.json")
    assert isinstance(read, Pairs)
    assert (read.dataset, read.b, read.c, read.preferred) == ("d-foil", [GOOD[0]], [POOR[0]], [1])
    assert (read.in_file, read.notes[0]) == (2, "captions in which nothing was corrected, left out: 1")
    (tmp_path / "broken.json").write_text(json.dumps([{**rows[0], "hall_caption": ""}]))
    with pytest.raises(DataError, match=r"broken.json, line 1: hall_caption must be a caption, got ''"):
        read_judgments(tmp_path / "broken.json")


def test_released_d_foil(shared: Path) -> None:
    found = agreement(read_judgments(shared / "data" / "long" / "d-foil-even.json.gz"), "cider-paper", interval=None)
    assert found.n == 101
    assert found.measured[0].statistics["all"].value > 0.95


def test_the_report_has_protocol_table_picture_and_published_figures_of_each_data_set(tmp_path: Path) -> None:
    found = meta({"pascal-50s": PAIRS, "mine": RATED}, ["rouge-1", FittedToPascal()], results=tmp_path / "kept")
    page = render_html(found)
    [across] = overview(found)
    assert across.columns[1].head == "pascal-50s: accuracy"
    firsts = [row[0] for row in across.cells()]
    assert {cell.value for cell in firsts} == {one.label for one in found.agreements["mine"].measured}
    assert page.index('id="across"') < page.index('id="pascal-50s"')
    for name, label in (("pascal-50s", "accuracy"), ("mine", "Kendall τ-c")):
        assert f'<section id="{name}"' in page
        assert escape(found.protocol(name)) in page
        assert f'aria-label="{name}, {label}: ' in page
    assert "accuracy, best first; * was fitted to these judgments" in page
    assert "Kendall τ-c, best first</strong>" in page
    assert 'id="pascal-50s-published"' in page
    assert 'id="mine-published"' not in page
    assert page.count("<script") == 2
    for one in published("pascal-50s"):
        assert one.source in page


def test_the_command_writes_its_report(tmp_path: Path) -> None:
    rows = [{"image_id": n, "references": list(REFERENCES[n]), "caption": GOOD[n], "rating": n} for n in range(4)]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Runner(tmp_path).ok("meta", "mine.jsonl", "--metrics", "rouge-1", "--samples", "20", "--report", "report.html")
    assert "1 metric on 1 data set" in (tmp_path / "report.html").read_text()
