"""The page of an agreement with people: what it holds, and how it behaves in a browser."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opened import HOSTILE, Opened, data_of

from sacrecap import example
from sacrecap.judgments import Agreement, Pairs, Ratings, agreement
from sacrecap.judgments.judged_rows import Row
from sacrecap.report import agreement_report
from sacrecap.report.agreement_report import agreement_data, lines, ordered, table
from sacrecap.report.html import render_html, write_report
from sacrecap.report.pictures.agreement_charts import scatter
from sacrecap.report.pictures.panels import panels_of
from sacrecap.report.printing.markup import html_table

ROWS = "tr.image"
METRICS = "rouge-l, cider-d, wmd(similarity=false)"
IDS = list(example.references())
CAREFUL, PLAIN = (example.systems()[name] for name in ("careful", "plain"))


def rows(count: int) -> list[Row]:
    """Rows over the example's images, each image twice."""
    return [Row(IDS[n // 2], example.references()[IDS[n // 2]], n) for n in range(count)]


@pytest.fixture(scope="module")
def rated() -> Agreement:
    captions = [(PLAIN if n % 2 else CAREFUL)[IDS[n // 2]] for n in range(80)]
    given: list[tuple[float, ...]] = [(float(n % 5), float(n % 3)) for n in range(80)]
    return ordered(agreement(Ratings("ratings", "test", rows(80), captions, given, 80), METRICS, samples=100))


@pytest.fixture(scope="module")
def chosen() -> Agreement:
    careful, plain = ([system[IDS[n // 2]] for n in range(60)] for system in (CAREFUL, PLAIN))
    preferred = [(1, -1, 0)[n % 3] for n in range(60)]
    categories = ["HC" if n < 30 else "HM" for n in range(60)]
    judgments = Pairs(
        "pairs",
        "test",
        rows(60),
        careful,
        plain,
        preferred,
        categories,
        60,
        votes=[[1, 1, -1]] * 60,
        b_system=["careful"] * 60,
        c_system=["plain"] * 60,
    )
    return ordered(agreement(judgments, METRICS, samples=100))


def written(found: Agreement, folder: Path) -> Path:
    write_report(found, folder / "page.html", title="judged")
    return folder / "page.html"


@pytest.fixture
def page(browser: Any, chosen: Agreement, tmp_path: Path) -> Iterator[Any]:
    opened = Opened(browser, written(chosen, tmp_path))
    yield opened.page
    opened.close()


# As text


def test_same_input_same_bytes(rated: Agreement, tmp_path: Path) -> None:
    text = written(rated, tmp_path).read_text(encoding="utf-8")
    assert text == render_html(rated, title="judged")
    assert data_of(text) == json.loads(json.dumps({**agreement_data(rated), "drawings": {}, "boxes": {}}))


def test_the_table_is_the_printed_one(chosen: Agreement) -> None:
    text = render_html(chosen)
    assert html_table(table(chosen), "agreement") in text
    assert all(html.escape(line) in text for line in lines(chosen))


def test_pairs_have_the_chosen_caption_first_and_no_undecided_ones(chosen: Agreement) -> None:
    data = agreement_data(chosen)
    decided = [n for n in range(60) if n % 3 < 2]
    assert len(data["items"]) == 40
    assert "This page holds" not in render_html(chosen)
    for place, n in enumerate(decided):
        item, image = data["items"][place], IDS[n // 2]
        assert data["images"][item["image"]]["id"] == image
        assert data["references"][item["references"]] == example.references()[image]
        sides = [(CAREFUL[image], "careful", "2 of 3 votes"), (PLAIN[image], "plain", "1 of 3 votes")]
        ordered = sides if n % 3 == 0 else sides[::-1]
        assert list(zip(item["candidates"], item["systems"], item["people"], strict=True)) == ordered
        for metric, measured in zip(data["metrics"], chosen.measured, strict=True):
            own = [measured.scores[column][n] for column in ("bc" if n % 3 == 0 else "cb")]
            assert [column[place] for column in metric["scores"]] == pytest.approx(own, abs=1e-6)
            assert metric["gaps"][place] == pytest.approx(own[0] - own[1], abs=1e-6)
    # Wrong or tied: what the accuracy counts as no right answer.
    for metric, measured in zip(data["metrics"], chosen.measured, strict=True):
        assert np.mean([gap > 0 for gap in metric["gaps"]]) == pytest.approx(measured.statistics["all"].value)
    assert [metric["turned"] for metric in data["metrics"]] == [False, True, False]


def test_ratings_and_scores_are_compared_by_their_places(rated: Agreement) -> None:
    data = agreement_data(rated)

    def place(values: list[float], n: int) -> float:
        return sum((value < values[n]) + (value == values[n]) / 2 for value in values) / len(values)

    means = [(n % 5 + n % 3) / 2 for n in range(80)]
    assert [item["mean"] for item in data["items"]] == means
    assert data["items"][7]["people"] == ["rated 2, 1"]
    for metric, measured in zip(data["metrics"], rated.measured, strict=True):
        scores = measured.scores["caption"].tolist()
        expected = [place(scores, n) - place(means, n) for n in range(80)]
        np.testing.assert_allclose(metric["gaps"], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["rated", "chosen"])
def test_of_many_judgments_the_most_disputed_are_kept(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Agreement = request.getfixturevalue(kind)
    whole = agreement_data(found)
    monkeypatch.setattr(agreement_report, "MOST_ITEMS", 20)
    monkeypatch.setattr(agreement_report, "EXTREMES", 9)
    data = agreement_data(found)
    assert len(data["items"]) == 20
    assert f"the {len(whole['items'])} {'pairs' if kind == 'chosen' else 'captions'} of" in render_html(found)
    kept = {gap for metric in data["metrics"] for gap in metric["gaps"]}
    for metric in whole["metrics"]:
        gaps = np.array(metric["gaps"])
        most = np.argsort(gaps if kind == "chosen" else -np.abs(gaps), kind="stable")[:3]
        assert set(gaps[most].tolist()) <= kept


def test_references_and_images_are_on_the_page_once() -> None:
    captions = ["a dog"] * 3000
    references = [f"reference {n} of a dog on the beach" for n in range(50)]
    judged = [Row(str(n % 10), list(references), n) for n in range(3000)]
    given: list[tuple[float, ...]] = [(float(n % 4),) for n in range(3000)]
    data = agreement_data(agreement(Ratings("ratings", "t", judged, captions, given, 3000), "rouge-1", interval=None))
    assert (len(data["images"]), len(data["references"]), len(data["items"])) == (10, 1, 3000)


def test_of_several_numbers_of_references_the_last_is_shown(rated: Agreement) -> None:
    found = agreement(rated.judgments, "rouge-l", references=[1, 2], interval=None)
    data = agreement_data(found)
    assert len(data["metrics"]) == 1
    assert "minus its place by people, against 2 references." in render_html(found)
    np.testing.assert_allclose(data["metrics"][0]["scores"][0], found.measured[1].scores["caption"], atol=1e-6)


# In a browser


def shown(page: Any) -> list[str]:
    return list(page.locator(f"{ROWS} th").all_inner_texts())


@pytest.mark.browser
def test_table_and_worst_pairs_of_a_metric(page: Any, chosen: Agreement) -> None:
    data = agreement_data(chosen)
    assert page.locator("table.agreement tbody tr").nth(1).locator("th, td").all_inner_texts() == [
        str(cell.value) for cell in table(chosen).cells()[1]
    ]
    for number, metric in enumerate(data["metrics"]):
        page.locator("#images select").first.select_option(str(number))
        gaps = metric["gaps"]
        wrong = sorted((place for place, gap in enumerate(gaps) if gap < 0), key=gaps.__getitem__)
        assert wrong
        assert shown(page) == [data["images"][data["items"][place]["image"]]["id"] for place in wrong[:25]]
        assert page.locator(".gap").all_inner_texts() == [f"−{-gaps[place]:.3f}" for place in wrong[:25]]
        assert page.locator("thead .score").nth(1).inner_text().startswith("−" if metric["turned"] else metric["label"])
        assert page.get_by_role("status").inner_text() == f"{len(wrong)} of 40 pairs"


@pytest.mark.browser
def test_search_category_and_kind_choose(page: Any, chosen: Agreement) -> None:
    data = agreement_data(chosen)
    page.get_by_label("Show").select_option(label="where it is right, clearest first")
    page.get_by_label("Category").select_option(label="HM")
    right = [item for item, gap in zip(data["items"], data["metrics"][0]["gaps"], strict=True) if gap > 0]
    in_category = [data["images"][item["image"]]["id"] for item in right if item["category"] == "HM"]
    assert sorted(shown(page)) == sorted(in_category)
    page.get_by_label("Search").fill(in_category[0].upper())
    assert set(shown(page)) == {in_category[0]}
    page.get_by_label("Search").fill("no such words")
    assert "Nothing matches" in page.locator("table.images").inner_text()


@pytest.mark.browser
def test_a_row_opens_to_people_and_all_metrics(page: Any, chosen: Agreement) -> None:
    data = agreement_data(chosen)
    gaps = data["metrics"][0]["gaps"]
    place = min(range(40), key=gaps.__getitem__)
    item = data["items"][place]
    page.locator(ROWS).first.locator(".caption").click()
    details = page.locator(".details")
    assert details.locator(".candidate").all_inner_texts() == item["candidates"]
    assert details.locator(".who").all_inner_texts() == [
        f"{who} · {said} · {system}"
        for who, said, system in zip(("people chose this", "the other"), item["people"], item["systems"], strict=True)
    ]
    values = [f"{metric['scores'][side][place]:.3f}" for side in (0, 1) for metric in data["metrics"]]
    assert details.locator("dd").all_inner_texts() == values
    assert details.locator("li").all_inner_texts() == data["references"][item["references"]]


@pytest.mark.browser
def test_ratings_by_both_sides(browser: Any, rated: Agreement, tmp_path: Path) -> None:
    opened = Opened(browser, written(rated, tmp_path))
    page, data = opened.page, agreement_data(rated)
    gaps = data["metrics"][0]["gaps"]
    most = max(range(80), key=lambda n: abs(gaps[n]))
    assert page.locator(".gap").first.inner_text().lstrip("+−") == f"{abs(gaps[most]):.3f}"
    page.get_by_label("Show").select_option(label="where it is below people")
    least = min(range(80), key=gaps.__getitem__)
    assert shown(page)[0] == data["images"][data["items"][least]["image"]]["id"]
    assert page.locator(f"{ROWS} .score.first").first.inner_text() == f"{data['items'][least]['mean']:.3f}"
    assert page.locator("table.agreement .people").count() == 1
    opened.close()


@pytest.fixture(scope="module")
def pictured(chosen: Agreement) -> Agreement:
    """With three systems, and two numbers of references."""
    assert isinstance(chosen.judgments, Pairs)
    names = {"b_system": ["one", "two", "three"] * 20, "c_system": ["two", "three", "one"] * 20}
    return agreement(replace(chosen.judgments, **names), METRICS, references=[1, 2], draws=2, interval=None)


def titles(page: str) -> list[str]:
    return re.findall(r"<figcaption><strong>([^<]*)", page)


def test_the_pictures_are_those_that_there_are_numbers_for(
    rated: Agreement, chosen: Agreement, pictured: Agreement
) -> None:
    assert 'id="plots"' not in render_html(chosen)
    assert [title.split(":")[0] for title in titles(render_html(rated))] == [
        "CIDEr-D",
        "−WMD(similarity=no)",
        "ROUGE-L",
    ]
    assert titles(render_html(pictured)) == [
        "Agreement by references: all",
        "Agreement by references: HC",
        "Agreement by references: HM",
        "Wins of each system",
    ]
    assert "Share of wins of each system" in render_html(pictured)


@pytest.fixture(scope="module")
def finely(rated: Agreement) -> Agreement:
    """The same with ratings of 80 values."""
    assert isinstance(rated.judgments, Ratings)
    given = [(float(n), float(n % 3)) for n in range(80)]
    return agreement(replace(rated.judgments, ratings=given), METRICS, samples=100)


def test_a_cloud_on_the_page_is_thinned(finely: Agreement, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = render_html(finely)
    monkeypatch.setattr(agreement_report, "MOST_POINTS", 50)
    thinned = render_html(finely)
    clouds = [re.findall(r'<path class="cloud[^>]*>', page) for page in (whole, thinned)]
    assert [[path.count("h.01") for path in paths] for paths in clouds] == [[160] * 3, [40] * 3]
    assert agreement_report._thinned(scatter(finely)).fitted == scatter(finely).fitted
    assert whole.count('class="fitted"') == thinned.count('class="fitted"') == 3
    assert thinned.count("The line across is that of least squares of all 160 points.") == 3


def test_ratings_of_few_values_have_a_box_each(rated: Agreement) -> None:
    """Of 17,000 points over four ratings, a cloud shows nothing."""
    chart = scatter(rated)
    for panel, up in zip(panels_of(chart), chart.y, strict=True):
        boxes = [line for line in panel.lines if line.kind == "area"]
        assert [mark.x for mark in panel.marks] == [0, 1, 2, 3, 4]
        for mark, box in zip(panel.marks, boxes, strict=True):
            own = [row["score"] for row in chart.rows if row["rating"] == mark.x and row["measure"] == up.label]
            first, median, last = np.quantile(own, (0.25, 0.5, 0.75))
            assert mark.y == pytest.approx(median, abs=1e-6)
            assert [point[1] for point in box.points] == pytest.approx([first, first, last, last], abs=1e-6)
            assert f"ratings {len(own)}, median" in mark.said
        assert not [line for line in panel.lines if line.kind == "cloud"]


@pytest.mark.browser
def test_pictures_have_clouds_lines_and_names(
    browser: Any, finely: Agreement, pictured: Agreement, tmp_path: Path
) -> None:
    opened = Opened(browser, written(finely, tmp_path))
    plots = opened.page.locator("#plots .chart")
    assert plots.count() == opened.page.locator("#plots .cloud").count() == 3
    assert opened.page.locator("#plots .fitted").count() == 3
    for name, wanted in (("cloud", "round"), ("fitted", "butt")):  # both are seen: they have a style
        drawn = opened.page.locator(f"#plots .{name}").first
        style = drawn.evaluate("node => (({stroke, strokeLinecap}) => [stroke, strokeLinecap])(getComputedStyle(node))")
        assert style[0].startswith("rgb")
        assert style[1] == wanted
    opened.page.get_by_label("CIDEr-D", exact=True).uncheck()
    assert opened.page.locator("#plots .cloud:visible").count() == 2
    opened.close()
    opened = Opened(browser, written(pictured, tmp_path))
    plots = opened.page.locator("#plots .chart")
    assert plots.count() == 4
    assert plots.nth(0).locator(".tick").all_text_contents()[:2] == ["1", "2"]
    assert plots.nth(3).locator(".tick").all_text_contents()[:3] == ["one", "three", "two"]
    assert plots.nth(3).locator(".mark").count() == 3 * 4  # three systems by people and by three metrics
    plots.nth(3).locator(".mark").first.focus()
    assert "share of wins" in opened.page.locator("#plots .readout").nth(3).inner_text()
    opened.close()


@pytest.mark.browser
@pytest.mark.parametrize("options", [{"viewport": {"width": 360, "height": 740}}, {"color_scheme": "dark"}])
def test_fits_the_screen(browser: Any, pictured: Agreement, tmp_path: Path, options: dict[str, Any]) -> None:
    opened = Opened(browser, written(pictured, tmp_path), **options)
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.close()


@pytest.mark.browser
def test_hostile_captions_do_not_run(browser: Any, tmp_path: Path) -> None:
    judged = [Row(f"{text} {n}", [text, f"{text} again"], n) for n, text in enumerate(HOSTILE)]
    ratings = Ratings("ratings", HOSTILE[0], judged, HOSTILE, [(float(n),) for n in range(4)], 4, system=HOSTILE)
    write_report(agreement(ratings, "rouge-l", interval=None), tmp_path / "page.html", title=HOSTILE[0])
    opened = Opened(browser, tmp_path / "page.html")
    for number in range(4):
        opened.page.locator(ROWS).nth(number).locator(".caption").click()
    assert set(opened.page.locator(".details .candidate").all_text_contents()) == set(HOSTILE)
    assert opened.page.evaluate("window.ran") is None
    assert opened.page.locator("main img, main svg[onload]").count() == 0
    opened.close()


@pytest.mark.browser
def test_a_sampled_page_says_so(
    browser: Any, rated: Agreement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreement_report, "MOST_ITEMS", 20)
    monkeypatch.setattr(agreement_report, "EXTREMES", 9)
    opened = Opened(browser, written(rated, tmp_path))
    note = opened.page.locator("#images .note").inner_text()
    assert note.startswith("This page holds 20 of the 80 captions of 40 images: the 9 on which a metric and people dis")
    opened.close()
