"""The report of caption sets in a browser, opened from its file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opened import Opened, data_of

import sacrecap
from sacrecap import example
from sacrecap.report import diversity_page as page_module
from sacrecap.report.html import render_html, write_report
from sacrecap.report.pictures.charts import by_score
from sacrecap.scoring.diversity_result import Diversity

pytestmark = pytest.mark.browser

HOSTILE = [
    "</script><script>window.ran = true</script>",
    "<img src=x onerror='window.ran = true'>",
    "$x$ كلب 🐶",
    "w" * 300,
]
ROWS = ".images tr.image"


def open_page(browser: Any, path: Path, **options: Any) -> Opened:
    """The page, drawn; its `close` asserts that the console and the network stayed silent."""
    opened = Opened(browser, path, **options)
    opened.page.wait_for_selector(ROWS)
    return opened


@pytest.fixture(scope="module")
def result() -> Diversity:
    return by_score(sacrecap.diversity(example.caption_sets(), example.references(), samples=100))


@pytest.fixture(scope="module")
def written(result: Diversity, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "diversity.html"
    write_report(result, path)
    return path


@pytest.fixture
def page(browser: Any, written: Path) -> Iterator[Any]:
    opened = open_page(browser, written)
    yield opened.page
    opened.close()


def test_same_input_same_bytes_and_the_results_numbers(result: Diversity, written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert render_html(result) == text
    data = data_of(text)
    assert [system["name"] for system in data["systems"]] == ["safe", "varied", "wild", "people"]
    for place, image in enumerate(data["images"]):
        for number, system in enumerate(result.everybody()):
            assert image["captions"][number] == system.corpus.set_of(image["id"])
            assert image["diversity"][number] == pytest.approx(system["self-cider"].per_image[place], abs=5.1e-5)


def test_figures_on_the_page(page: Any, result: Diversity) -> None:
    first = page.locator("#figures tbody th").all_inner_texts()
    assert first == ["Self-CIDEr", "Accuracy (CIDEr-D)", "F (β² = 5)", "Vocabulary"]
    for folded in ("All figures", "Differences"):
        page.get_by_text(folded, exact=True).click()
    rows = page.locator("#more tbody tr")
    for number, key in enumerate(result["varied"]):
        text = rows.nth(number).inner_text()
        for system in result.everybody():
            assert f"{system[key].value:.4f}" in text
            interval = system[key].interval
            assert interval is not None
            assert f"{interval[0]:.4f} – {interval[1]:.4f}" in text
    assert rows.filter(has_text="mBLEU-1").locator("th").inner_text() == "mBLEU-1 ↓"
    pair = next(pair for pair in result.pairs if pair.metric == "self-cider")
    assert f"{abs(pair.delta):.4f}" in page.locator("table.tests tbody tr").first.inner_text()


def test_every_picture_is_drawn(page: Any, result: Diversity) -> None:
    assert page.locator(".plots .chart:visible").count() == 3
    page.get_by_text("More pictures").click()
    names = page.locator(".picture strong").all_inner_texts()
    assert names == [
        "Diversity and accuracy",
        "F (β² = 5)",
        "Vocabulary and diversity",
        "Words by rank",
        "Diversity by number of captions",
        "Accuracy by number of captions",
        *(f"Captions by similarity: {name}" for name in ("safe", "varied", "wild", "people")),
    ]
    for number in range(len(names)):
        box = page.locator(".plots .chart").nth(number)
        assert box.bounding_box()["height"] > 200
        assert box.locator("[role=img]").count() >= 4
    mark = page.locator(".picture").first.locator(".mark").first
    mark.focus()
    safe = result["safe"]
    readout = page.locator(".picture").first.locator(".readout").inner_text()
    assert f"{safe['self-cider'].value:.4f}" in readout
    assert f"{safe['accuracy'].value:.4f}" in readout


def test_systems_are_hidden_everywhere(page: Any) -> None:
    page.get_by_text("More pictures").click()
    plane = page.locator(".picture").first
    assert plane.locator(".mark").count() == 4
    assert page.locator(".images thead th").count() == 5
    assert page.locator(".planes .picture:visible").count() == 4
    page.get_by_role("checkbox", name="safe").uncheck()
    assert page.locator(".planes .picture:visible").count() == 3
    assert plane.locator(".mark:visible").count() == 3
    assert page.locator(".images thead th").count() == 4
    for box in page.locator("#chooser input").all():
        box.uncheck()
    assert plane.locator(".mark:visible").count() == 0
    page.get_by_role("checkbox", name="wild").check()
    assert plane.locator(".mark:visible").count() == 1


def test_a_box_that_the_browser_restored_says_what_is_hidden(page: Any) -> None:
    box = page.get_by_role("checkbox", name="safe")
    box.evaluate("box => { box.checked = false; }")  # as a browser does that comes back to the page, without an event
    box.check()
    assert page.locator(".images thead th").count() == 5
    box.uncheck()
    assert page.locator(".images thead th").count() == 4


def test_planes_beside_each_other_are_on_one_line(page: Any) -> None:
    """However long the title of one is."""
    page.get_by_text("More pictures").click()
    page.locator(".planes strong").first.evaluate("title => { title.textContent = 'long '.repeat(40); }")
    one, other = (page.locator(".planes .chart").nth(number).bounding_box() for number in (0, 1))
    assert one["x"] < other["x"]
    assert one["y"] == other["y"]


def test_search_and_order(page: Any, result: Diversity) -> None:
    means = np.mean([system["self-cider"].per_image for system in result.values()], axis=0)
    first = page.locator(f"{ROWS} th").first
    assert first.inner_text() == result["varied"].image_ids[int(np.argmin(means))]
    page.get_by_label("Order").select_option(label="most diverse first")
    assert first.inner_text() == result["varied"].image_ids[int(np.argmax(means))]
    page.get_by_label("Search").fill("UMBRELLA street")
    everybody = result.everybody()
    expected = {
        image
        for image in result["varied"].image_ids
        if all(
            part in "\n".join([image, *(c for s in everybody for c in s.corpus.set_of(image))]).lower()
            for part in ("umbrella", "street")
        )
    }
    assert set(page.locator(f"{ROWS} th").all_inner_texts()) == expected
    page.get_by_label("Search").fill("no such words")
    assert "Nothing matches" in page.locator(".images").inner_text()


def test_an_image_opens_to_its_sets(page: Any, result: Diversity) -> None:
    page.get_by_label("Search").fill("beach-dog")
    button = page.get_by_role("button", name="beach-dog", exact=True)
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    sets = page.locator(".set")
    for number, system in enumerate(result.everybody()):
        own = sets.nth(number)
        system_name = "people" if system is result.human else system.name
        assert own.locator(".captions li").all_inner_texts() == system.corpus.set_of("beach-dog")
        matrix = system.image("beach-dog").matrix
        shown = own.locator(".cell").evaluate_all("cells => cells.map((cell) => +cell.getAttribute('fill-opacity'))")
        np.testing.assert_allclose(shown, np.maximum(matrix.round(2), 0.04).ravel(), atol=0.0051)
        assert own.locator("figure:has(.radar) strong").all_inner_texts() == [
            f"{one}: {system_name}" for one in ("LSA", "Self-CIDEr")
        ]
        assert own.locator(".radar .closed").count() == 2 * 5
    repeats = page.locator(".set-image .plane .mark").count()
    assert repeats == sum(len(set(system.image("beach-dog").tokens)) for system in result.everybody())
    sets.first.locator(".captions li").nth(2).focus()
    assert page.locator(".plane .mark.looked").count() == 1
    assert page.locator(".radar .closed.looked").count() == 2
    assert page.locator(".overview .readout").inner_text() == f"safe: {result['safe'].corpus.set_of('beach-dog')[2]}"
    button.press("Enter")
    assert page.locator(".set").count() == 0


@pytest.mark.parametrize("options", [{"viewport": {"width": 360, "height": 740}}, {"color_scheme": "dark"}])
def test_fits_the_screen(browser: Any, written: Path, options: dict[str, Any]) -> None:
    opened = open_page(browser, written, **options)
    opened.page.locator(f"{ROWS} button").first.click()
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.close()


def test_hostile_names_and_captions_do_not_run(browser: Any, tmp_path: Path) -> None:
    sets = {name: {image: [image, f"a {image} dog", "a dog"] for image in HOSTILE} for name in HOSTILE}
    made = sacrecap.diversity(sets, {image: ["a dog on grass", "the dog runs"] for image in HOSTILE}, samples=20)
    write_report(made, tmp_path / "hostile.html", title=HOSTILE[0])
    opened = open_page(browser, tmp_path / "hostile.html", viewport={"width": 360, "height": 740})
    opened.page.locator(f"{ROWS} button").first.click()
    assert opened.page.locator("h1").inner_text() == HOSTILE[0]
    assert opened.page.locator("#chooser bdi").all_text_contents() == [*HOSTILE, "people"]
    assert opened.page.evaluate("window.ran") is None
    assert opened.page.locator("main img").count() == 0
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.close()


def test_without_references_what_is_lacking_is_said(browser: Any, tmp_path: Path) -> None:
    made = sacrecap.diversity({"a": {"1": ["a dog", "a cat"], "2": ["", ""]}}, interval=None)
    write_report(made, tmp_path / "alone.html")
    opened = open_page(browser, tmp_path / "alone.html")
    notes = opened.page.locator("#plots .note").all_inner_texts()
    assert [note.partition(" is left out")[0] for note in notes] == [
        "Diversity and accuracy",
        "F (β² = 5)",
        "Diversity by number of captions",
        "Accuracy by number of captions",
    ]
    assert all("references" in note and "--" not in note for note in notes)
    for button in opened.page.locator(f"{ROWS} button").all():
        button.click()
    assert opened.page.locator(".captions .nothing").count() == 2
    assert opened.page.locator("#tests").count() == 0
    opened.close()


def test_a_page_with_a_part_of_the_images_says_so(
    browser: Any, result: Diversity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "MOST_CAPTIONS", 600)
    monkeypatch.setattr(page_module, "MOST_SETS", 40)
    write_report(result, tmp_path / "part.html", draw=["beach-dog"])
    opened = open_page(browser, tmp_path / "part.html")
    data = data_of((tmp_path / "part.html").read_text(encoding="utf-8"))
    assert 30 <= len(data["images"]) <= 31
    assert "beach-dog" in {image["id"] for image in data["images"] if image["similarities"]}
    assert (
        f"This page holds {len(data['images'])} of the 60 images" in opened.page.locator("#images .note").inner_text()
    )
    plain = next(image["id"] for image in data["images"] if not image["similarities"])
    opened.page.get_by_label("Search").fill(plain)
    opened.page.get_by_role("button", name=plain, exact=True).click()
    assert re.search("are on the page for 1[01] images", opened.page.locator(".set-image").inner_text())
    opened.close()
