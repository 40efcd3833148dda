"""`sacrecap metrics` lists every registered metric and explains each."""

from __future__ import annotations

import json

from runner import Runner
from sacrecap.metrics.registry import groups, own_metrics


def test_the_listing_names_every_metric(run: Runner) -> None:
    *lines, empty, hint, combinations = run.ok("metrics").splitlines()
    assert [line.split("  ")[0].strip() for line in lines] == [metric.name for metric in own_metrics()]
    for line, metric in zip(lines, own_metrics(), strict=True):
        assert line.endswith(metric.summary)
    assert (empty, hint) == ("", "sacrecap metrics NAME explains one.")
    assert combinations == "combine(NAME, 0.5*NAME, ...) is the weighted mean of several."


def test_the_pages_of_all(run: Runner) -> None:
    pages = run.ok("metrics", "all, rubric, judge, diversity, vendi").split("\n\n\n")
    text = "\n".join(pages)
    for metric in own_metrics():
        assert f"{metric.label}   ({metric.name}; groups: " in text
        assert metric.equation in text
        assert metric.source in text
        for declared in metric.parameters():
            assert f"  parameter   {declared.name}=" in text
            assert declared.meaning in text


def test_a_page(run: Runner) -> None:
    lines = run.ok("metrics", "cider-d").splitlines()
    assert lines[0] == "CIDEr-D   (cider-d; groups: coco, consensus, all)"
    assert lines[3].startswith("  equation    CIDEr-D = 10 · 1/4 Σ_n mean_j exp(")
    assert "  range       0 to 10, higher is better" in lines
    assert "  needs       references" in lines
    assert "  parameter   n=4: the longest n-gram; a whole number from 1 to 4" in lines
    assert any(line.startswith("  source      Vedantam et al.") for line in lines)
    assert any(line.startswith("  edge case   empty caption: ") for line in lines)


def test_the_page_of_a_combination(run: Runner) -> None:
    lines = run.ok("metrics", "combine(2*rouge-l, cider-d)").splitlines()
    assert lines[0] == "Combine(CIDEr-D, 2*ROUGE-L)   (combine; groups: none)"
    assert lines[3].startswith("  equation    Combine = (CIDEr-D + 2*ROUGE-L) / 3;  CIDEr-D = ")
    assert "  range       0 to 4, higher is better" in lines


def test_json(run: Runner) -> None:
    described = json.loads(run.ok("metrics", "--format", "json"))
    assert [metric["name"] for metric in described] == [metric.name for metric in own_metrics()]
    for metric in described:
        assert set(metric["groups"]) <= set(groups())
        last = "diversity" if metric["needs"] == ["caption sets"] else "all"
        assert metric["groups"][-1:] == ([] if metric["name"] in ("judge", "rubric", "vendi") else [last])
        below = {"bertscore": -1, "sentence": -1, "coverage": None, "precision": None, "long-f1": None}
        assert metric["range"][0] == below.get(metric["name"], 0)
    only = json.loads(run.ok("metrics", "cider-d", "--format", "json"))
    assert [metric["parameters"]["sigma"]["default"] for metric in only] == [6.0]
