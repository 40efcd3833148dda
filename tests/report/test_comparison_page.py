"""The page of a comparison: what it holds, and how it behaves in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opened import HOSTILE, Opened, data_of

import sacrecap
from sacrecap import example
from sacrecap.report import comparison_page
from sacrecap.report.comparison_page import comparison_data
from sacrecap.report.html import render_html, write_report

ROWS = "tr.image"


@pytest.fixture(scope="module")
def compared() -> sacrecap.Comparison:
    return sacrecap.compare(example.references(), example.systems(), samples=200)


@pytest.fixture(scope="module")
def written(compared: sacrecap.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("comparison") / "page.html"
    write_report(compared, path, title="three systems")
    return path


@pytest.fixture
def page(browser: Any, written: Path) -> Iterator[Any]:
    opened = Opened(browser, written)
    yield opened.page
    opened.close()


# As text


def test_same_input_same_bytes(compared: sacrecap.Comparison, written: Path) -> None:
    again = sacrecap.compare(example.references(), example.systems(), samples=200)
    assert render_html(again, title="three systems") == written.read_text(encoding="utf-8")


def test_data_equal_the_comparison(compared: sacrecap.Comparison, written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    data = data_of(text)
    assert data["systems"] == list(compared)
    for metric, key in zip(data["metrics"], compared.metrics, strict=True):
        for scores, result in zip(metric["scores"], compared.values(), strict=True):
            np.testing.assert_allclose(scores, result[key].per_image, rtol=0, atol=5.1e-7)
    image = data["images"][7]
    captions = [result.corpus.captions(image["id"]) for result in compared.values()]
    assert image["candidates"] == [candidate for candidate, _ in captions]
    assert image["references"] == captions[0][1]
    assert data["pairs"][0] == [0, 1]


def test_of_many_images_those_that_differ_are_kept(
    compared: sacrecap.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison_page, "MOST_CAPTIONS", 90)
    monkeypatch.setattr(comparison_page, "EXTREMES", 10)
    data = comparison_data(compared)
    scores = np.array([result["cider-d"].per_image for result in compared.values()])
    differ = np.argsort(scores.min(axis=0) - scores.max(axis=0))[:10]
    kept = {image["id"] for image in data["images"]}
    assert len(kept) == 30
    assert "the 10 on which the systems differ most by CIDEr-D" in render_html(compared)
    assert kept > {compared.image_ids[number] for number in differ}


# In a browser


def shown(page: Any) -> list[str]:
    return list(page.locator(f"{ROWS} th").all_inner_texts())


def gaps(compared: sacrecap.Comparison, a: str, b: str, metric: str) -> dict[str, float]:
    values = compared[a][metric].per_image - compared[b][metric].per_image
    return dict(zip(compared.image_ids, values.tolist(), strict=True))


def choose(page: Any, row: int, column: int) -> None:
    page.locator("table.pairs tbody tr").nth(row).locator("button").nth(column).click()


@pytest.mark.browser
def test_scores_ranks_and_marks(page: Any, compared: sacrecap.Comparison) -> None:
    table = page.locator("table.systems tbody tr")
    for number, (name, result) in enumerate(compared.items()):
        row = table.nth(number)
        assert row.locator("th").inner_text() == name
        for column, (key, score) in enumerate(result.items()):
            cell = row.locator("td").nth(column)
            first, last = compared.ranks(key)[name]
            assert first == last == number + 1
            assert cell.locator(".before").inner_text() == str(first)
            assert cell.locator("> .value").inner_text() == f"{score.value:.4f}" + ("†" if number else "*")
            assert score.interval is not None
            assert cell.locator(".below").inner_text() == f"{score.interval[0]:.4f} – {score.interval[1]:.4f}"


@pytest.mark.browser
def test_a_cell_of_the_heat_map_chooses_pair_and_metric(page: Any, compared: sacrecap.Comparison) -> None:
    pair = compared.pair("plain", "template", "bleu-4")
    choose(page, 2, 3)
    cell = page.locator("table.pairs tbody tr").nth(2).locator("button").nth(3)
    assert cell.get_attribute("aria-pressed") == "true"
    assert page.locator("table.pairs [aria-pressed=true]").count() == 1
    assert cell.locator("> .value").inner_text() == f"+{pair.delta:.4f}"
    assert pair.p_corrected < 0.001
    assert cell.locator(".below").inner_text() == "<0.001!"
    assert "p <0.001, corrected <0.001" in cell.locator("..").get_attribute("title")
    selects = page.locator(".choices select")
    assert [selects.nth(n).locator("option:checked").inner_text() for n in range(3)] == ["plain", "template", "BLEU-4"]
    between = gaps(compared, "plain", "template", "bleu-4")
    largest = max(between, key=lambda image: abs(between[image]))
    assert shown(page)[0] == largest
    assert page.locator(f"{ROWS} .gap").first.inner_text() == f"{between[largest]:+.3f}".replace("-", "−")
    better = sum(gap > 1e-6 for gap in between.values())
    assert page.locator(".tally").inner_text().startswith(f"plain better on {better} images, template on")


@pytest.mark.browser
def test_hovering_a_point_shows_its_captions(page: Any, compared: sacrecap.Comparison) -> None:
    chart = page.locator("svg.scatter")
    chart.scroll_into_view_if_needed()
    place = page.evaluate("""() => {
      const box = document.querySelector("svg.scatter").getBoundingClientRect();
      return [box.x, box.y, box.width, box.height];
    }""")
    left, top, width, height = place
    seen = set()
    for across in range(60, int(width), 40):
        for down in range(20, int(height), 40):
            page.mouse.move(left + across, top + down)
            seen.add(page.locator(".point h3").inner_text())
    assert len(seen) > 10
    image = page.locator(".point h3").inner_text()
    assert page.locator(".point .candidate").all_inner_texts() == [
        example.systems()[name][image] for name in ("careful", "plain")
    ]
    assert page.locator(".point li").all_inner_texts() == example.references()[image]
    value = compared["careful"]["cider-d"].per_image[compared.image_ids.index(image)]
    assert page.locator(".point .value").first.inner_text() == f"{value:.3f}"


@pytest.mark.browser
def test_arrow_keys_go_from_image_to_image(page: Any, compared: sacrecap.Comparison) -> None:
    between = gaps(compared, "careful", "plain", "cider-d")
    order = sorted(between, key=lambda image: -between[image])
    page.locator("svg.scatter").focus()
    assert page.locator(".point h3").inner_text() == order[0]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator(".point h3").inner_text() == order[2]
    page.keyboard.press("ArrowLeft")
    assert page.locator(".point h3").inner_text() == order[1]


@pytest.mark.browser
def test_search_and_side_filter_table_and_points(page: Any, compared: sacrecap.Comparison) -> None:
    between = gaps(compared, "careful", "plain", "cider-d")
    page.locator("#images select").select_option(label="where plain is better")
    worse = sorted((image for image in between if between[image] < 0), key=lambda image: between[image])
    assert shown(page) == worse
    assert page.get_by_role("status").nth(1).inner_text() == f"{len(worse)} of 60 images"
    assert f"careful better on 0 images, plain on {len(worse)}" in page.locator(".tally").inner_text()
    page.locator("#images select").select_option(label="largest differences first")
    page.get_by_label("Search").fill("UMBRELLA street")
    texts = {
        image: "\n".join([image, *(system[image] for system in example.systems().values()), *captions]).lower()
        for image, captions in example.references().items()
    }
    assert set(shown(page)) == {image for image, text in texts.items() if "umbrella" in text and "street" in text}
    page.get_by_label("Search").fill("no such words")
    assert "Nothing matches" in page.locator("table.images").inner_text()
    assert page.locator(".point").inner_text() == "No image matches."


@pytest.mark.browser
def test_a_row_opens_to_the_captions_of_all_systems(page: Any) -> None:
    image = shown(page)[1]
    page.locator(ROWS).nth(1).locator(".caption").click()
    assert page.locator(".details .candidate").all_inner_texts() == [
        system[image] for system in example.systems().values()
    ]
    assert page.locator(".details li").all_inner_texts() == example.references()[image]
    page.get_by_role("button", name=image).press("Enter")
    assert page.locator(".details").count() == 0
    page.get_by_role("button", name="Next").click()
    assert page.locator(".place").inner_text() == "26–50 of 60"


@pytest.mark.browser
@pytest.mark.parametrize("options", [{"viewport": {"width": 360, "height": 740}}, {"color_scheme": "dark"}])
def test_fits_the_screen(browser: Any, written: Path, options: dict[str, Any]) -> None:
    opened = Opened(browser, written, **options)
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert opened.page.locator("table.pairs tbody th").first.bounding_box()["width"] > 80
    opened.close()


@pytest.mark.browser
def test_hostile_names_and_captions_do_not_run(browser: Any, tmp_path: Path) -> None:
    references = {f"{text} {n}": [text, f"{text} again"] for n, text in enumerate(HOSTILE)}
    systems = {text: {image: f"{text} {captions[0]}" for image, captions in references.items()} for text in HOSTILE}
    compared = sacrecap.compare(references, systems, "rouge-l", samples=200)
    write_report(compared, tmp_path / "hostile.html", title=HOSTILE[0])
    opened = Opened(browser, tmp_path / "hostile.html")
    choose(opened.page, 5, 0)
    opened.page.locator(ROWS).first.locator(".caption").click()
    assert opened.page.locator("table.systems tbody th").all_inner_texts() == compared.ranking("rouge-l")
    assert opened.page.evaluate("window.ran") is None
    assert opened.page.locator("main img, main svg[onload]").count() == 0
    opened.close()


@pytest.mark.browser
def test_five_systems_on_five_thousand_images(browser: Any, tmp_path: Path) -> None:
    known, captions = example.references(), example.systems()
    ids = list(known)
    references = {f"{number}": known[ids[number % 60]] for number in range(5_000)}
    systems = {
        f"system {s}": {
            image: captions["plain" if (number * 7 + s * number // 60) % (s + 2) else "careful"][ids[number % 60]]
            for number, image in enumerate(references)
        }
        for s in range(5)
    }
    compared = sacrecap.compare(references, systems, "bleu-4, rouge-l, cider-d", samples=200)
    write_report(compared, tmp_path / "large.html", title="large")
    assert (tmp_path / "large.html").stat().st_size < 6e6
    opened = Opened(browser, tmp_path / "large.html")
    assert "5,000 images" in opened.page.locator(".status").inner_text()
    # A browser on a busy machine takes a fraction of this; elements by the thousand would take more.
    assert opened.page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") < 5_000
    assert opened.page.evaluate("document.querySelectorAll('*').length") < 1_000
    opened.close()


@pytest.mark.browser
def test_without_differences_and_intervals(browser: Any, tmp_path: Path) -> None:
    same = {"1": "", "2": ""}
    compared = sacrecap.compare({"1": ["a dog"], "2": ["a cat"]}, {"a": same, "b": same}, "rouge-l", interval=None)
    write_report(compared, tmp_path / "same.html", title="same")
    opened = Opened(browser, tmp_path / "same.html")
    assert "equal on 2" in opened.page.locator(".tally").inner_text()
    assert opened.page.locator("table.pairs .below").inner_text() == "1.000"
    assert opened.page.locator("table.systems .below").count() == 0
    opened.close()
