"""SPICE's scene graphs, explained: in the result, on the command line and on the report's page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from opened import HOSTILE, Opened

import sacrecap
from command_line import run, write  # noqa: F401
from runner import Runner
from sacrecap.errors import UsageError
from sacrecap.report import score_page as page_module
from sacrecap.report.explanation_pictures import Part, match_figure, sides
from sacrecap.report.html import write_report
from sacrecap.scoring.result import Result
from scenes import CANDIDATES, GRAPHS, REFERENCES, give, graph


@pytest.fixture
def result(monkeypatch: pytest.MonkeyPatch) -> Result:
    give(monkeypatch, GRAPHS)
    return sacrecap.score(REFERENCES, CANDIDATES, "spice, spice(category=attribute)", interval=None)


def test_the_graphs_of_an_image(result: Result) -> None:
    assert "graph" in result.explains
    found = result.graph("street")
    assert [one.label for one in found.candidate if one.match is not None] == ["bus", "road", "bus – red"]
    assert found.score == pytest.approx(result["spice"].per_image[1], abs=1e-12)
    assert result.explain("street") == {"graph": found}
    assert json.loads(json.dumps(found.to_dict()))["candidate"][0] == {"parts": [["bus"]], "match": 0, "rule": "lemma"}
    without = sacrecap.score(REFERENCES, CANDIDATES, "rouge-l", interval=None)
    assert "graph" not in without.explains
    with pytest.raises(UsageError, match="scene graphs are SPICE's, which was not scored; scored: rouge-l"):
        without.graph("street")
    with pytest.raises(UsageError, match="street2"):
        result.graph("street2")


def test_both_sides_are_drawn_proposition_by_proposition(result: Result) -> None:
    found = result.graph("beach")
    for side, rows in zip((found.candidate, found.references), sides(found), strict=True):
        drawn = [
            (" – ".join([row[0].text] * (part.kind != "object") + part.text.split(" → ")), part.rule)
            for row in rows
            for part in row
        ]
        assert sorted(drawn) == sorted((proposition.label, proposition.rule or "none") for proposition in side)
    assert ("dog/hound", "lemma") in [(part.text, part.rule) for row in sides(found)[1] for part in row]
    assert found._repr_html_().count("<svg") == 2


def test_a_part_that_matches_another_name_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, {"a": graph("dog", "cat"), "b": graph("hound", "cat")})
    found = sacrecap.score({"1": ["b"]}, {"1": "a"}, "spice", tokenizer="none", interval=None).graph("1")
    titles = {part.text: (part.rule, part.title) for row in sides(found)[0] for part in row}
    assert titles == {"dog": ("synset", "dog ≈ hound"), "cat": ("lemma", "")}


def test_explain_on_the_command_line(run: Runner, monkeypatch: pytest.MonkeyPatch, result: Result) -> None:  # noqa: F811
    for name, content in (("r.json", REFERENCES), ("c.json", CANDIDATES)):
        (run.folder / name).write_text(json.dumps(content))
    score = ["score", "r.json", "c.json", "--metrics", "spice", "--interval", "none", "--explain", "street"]
    assert f"street\n{result.graph('street')}" in run.ok(*score)
    document = json.loads(run.ok(*score, "--explain", "field", "--format", "json"))
    assert list(document["graphs"]) == ["street", "field"]
    assert document["graphs"]["street"] == json.loads(json.dumps(result.graph("street").to_dict()))


def test_the_page_has_graphs_of_the_best_and_the_worst(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    found = page_module.page(result)
    assert found.data["unexplained"] == ""
    assert found.drawings[0] == match_figure(result.graph("beach"))
    monkeypatch.setattr(page_module, "MOST_EXPLAINED", 2)
    assert list(page_module.page(result).drawings) == [1, 2]


@pytest.mark.browser
def test_graphs_are_drawn(browser: Any, result: Result, tmp_path: Path) -> None:
    write_report(result, tmp_path / "report.html", title="graphs")
    opened = Opened(browser, tmp_path / "report.html")
    for row in range(3):
        opened.page.locator(".images tbody .id button").nth(row).click()
    figures = opened.page.locator("tr.details figure.graph")
    assert figures.count() == 3
    shown = opened.page.locator("tr.image .id button").all_inner_texts()
    for number, image in enumerate(shown):
        empty = [[Part("nothing", "no object", "none")]]
        drawn = [part for rows in sides(result.graph(image)) for row in rows or empty for part in row]
        groups = figures.nth(number).locator("svg g")
        assert groups.locator("text").all_text_contents() == [part.text for part in drawn]
        kinds = [groups.nth(k).get_attribute("class") for k in range(groups.count())]
        assert kinds == [f"{part.kind} {part.rule}" for part in drawn]
    assert f"SPICE {result['spice'].per_image[1]:.3f}" in figures.nth(shown.index("street")).inner_text()
    opened.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1200])
def test_a_wide_graph_scrolls_in_its_place(
    browser: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int
) -> None:
    names = [f"{'very ' * 40}long object number {number}" for number in range(25)]
    edges = [f"{one}, next to, {other}" for one, other in zip(names, names[2:], strict=False)]
    give(monkeypatch, {"a": graph(*names, *edges), "b": graph(names[0])})
    made = sacrecap.score({"1": ["a"]}, {"1": "b"}, "spice", tokenizer="none", interval=None)
    write_report(made, tmp_path / "wide.html", title="wide")
    opened = Opened(browser, tmp_path / "wide.html", viewport={"width": width, "height": 740})
    opened.page.locator(".images tbody .id button").click()
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = opened.page.locator("figure.graph .sacrecap-scroll").last
    assert box.evaluate("box => box.scrollWidth > box.clientWidth && box.clientWidth <= innerWidth")
    opened.close()


@pytest.mark.browser
def test_hostile_names_do_not_run(browser: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = [re.sub(r"[, ]", "_", text) for text in HOSTILE]
    give(monkeypatch, {"a": graph(*names)})
    made = sacrecap.score({"1": ["a"]}, {"1": "a"}, "spice", tokenizer="none", interval=None)
    write_report(made, tmp_path / "hostile.html", title="hostile")
    opened = Opened(browser, tmp_path / "hostile.html")
    opened.page.locator(".images tbody .id button").click()
    assert opened.page.locator("figure.graph svg").first.locator("text").all_text_contents() == names
    assert opened.page.evaluate("window.ran") is None
    opened.close()


def test_a_parsed_caption_from_end_to_end() -> None:
    """By the parser inside the package."""
    found = sacrecap.scene_graph("a brown dog runs along the beach")
    assert str(found).splitlines() == ["dog", "beach", "dog – brown", "dog – run along – beach"]
    assert found.to_svg().count("<g class=") == 4
    compared = sacrecap.score(
        {"1": ["a brown dog runs along the beach"]}, {"1": "the dog is brown"}, "spice", interval=None
    )
    assert [one.label for one in compared.graph("1").candidate if one.match is not None] == ["dog", "dog – brown"]
