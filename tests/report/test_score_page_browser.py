"""The report in a browser, opened from its file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opened import HOSTILE, Opened

import sacrecap
from sacrecap import _core, example
from sacrecap.corpus.corpus import Corpus
from sacrecap.report import score_page as page_module
from sacrecap.report.html import write_report
from sacrecap.scoring.result import Result

pytestmark = pytest.mark.browser

ROWS = "tr.image"


@pytest.fixture(scope="module")
def result() -> Result:
    return sacrecap.score(example.references(), example.systems()["careful"])


@pytest.fixture(scope="module")
def written(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(result, path, title="careful")
    return path


@pytest.fixture
def page(browser: Any, written: Path) -> Iterator[Any]:
    opened = Opened(browser, written)
    yield opened.page
    opened.close()


def shown_ids(page: Any) -> list[str]:
    return list(page.locator(f"{ROWS} th").all_inner_texts())


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing(browser: Any, written: Path, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    opened = Opened(browser, written, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    opened.page.locator(ROWS).first.locator("button").first.click()
    found = axe.run(opened.page).response["violations"]
    assert [(violation["id"], violation["nodes"][0]["html"]) for violation in found] == []
    opened.close()


def test_scores_on_the_page(page: Any, result: Result) -> None:
    rows = page.locator("table.scores tbody tr")
    assert rows.count() == len(result)
    for number, score in enumerate(result.values()):
        text = rows.nth(number).inner_text()
        assert score.metric.label in text
        assert f"{score.value:.4f}" in text
        assert score.interval is not None
        assert f"{score.interval[0]:.4f} – {score.interval[1]:.4f}" in text
        assert score.metric.summary in text
    lines = page.locator(".signatures pre").text_content().splitlines()
    assert lines == [score.signature for score in result.values()]


def test_image_scores_on_the_page(page: Any, result: Result) -> None:
    cells = page.locator(ROWS).first.locator("td.score").all_inner_texts()
    number = result.image_ids.index(shown_ids(page)[0])
    assert cells == [f"{score.per_image[number]:.3f}" for score in result.values()]


def test_search_narrows_the_table(page: Any) -> None:
    assert page.get_by_role("status").inner_text() == "60 images"
    page.get_by_label("Search").fill("UMBRELLA street")
    references = example.references()
    candidates = example.systems()["careful"]
    texts = {image: "\n".join([image, candidates[image], *references[image]]).lower() for image in references}
    expected = {image for image, text in texts.items() if "umbrella" in text and "street" in text}
    assert set(shown_ids(page)) == expected
    assert page.get_by_role("status").inner_text() == f"{len(expected)} of 60 images"
    page.get_by_label("Search").fill("no such words")
    assert page.locator(ROWS).count() == 0
    assert "Nothing matches" in page.locator("table.images").inner_text()


def test_sorting_by_a_metric(page: Any, result: Result) -> None:
    order = np.argsort(-result["rouge-l"].per_image, kind="stable")
    head = page.locator("table.images thead button", has_text="ROUGE-L")
    head.click()
    assert shown_ids(page) == [result.image_ids[n] for n in order[:50]]
    assert page.locator("table.images th[aria-sort=descending]").inner_text().strip() == "ROUGE-L"
    head.press("Enter")
    lowest = result.image_ids[int(np.argmin(result["rouge-l"].per_image))]
    assert shown_ids(page)[0] == lowest
    assert page.locator("table.images th[aria-sort=ascending]").inner_text().strip() == "ROUGE-L"


def test_narrow_screens_sort_by_a_list(browser: Any, written: Path, result: Result) -> None:
    opened = Opened(browser, written, viewport={"width": 390, "height": 800})
    chooser = opened.page.get_by_label("Sort by")
    assert chooser.locator("option:checked").inner_text() == "CIDEr-D, highest first"
    for name, order in (
        ("Image, Z to A", sorted(result.image_ids, reverse=True)),
        ("Candidate, A to Z", sorted(result.image_ids, key=lambda image: example.systems()["careful"][image].lower())),
        (
            "ROUGE-L, lowest first",
            [result.image_ids[n] for n in np.argsort(result["rouge-l"].per_image, kind="stable")],
        ),
    ):
        chooser.select_option(label=name)
        assert shown_ids(opened.page) == order[:50]
        # One column of scores: that of the metric sorted by, or else of the one that leads.
        scores = result["rouge-l" if name.startswith("ROUGE") else "cider-d"].per_image
        shown = map(float, opened.page.locator("tr.image td.score:visible").all_inner_texts())
        assert [*shown] == pytest.approx([scores[result.image_ids.index(image)] for image in order[:50]], abs=6e-4)
    opened.close()


def test_pages(page: Any) -> None:
    first = shown_ids(page)
    assert len(first) == 50
    page.get_by_role("button", name="Next").click()
    second = shown_ids(page)
    assert len(second) == 10
    assert not set(first) & set(second)
    assert page.get_by_role("button", name="Next").is_disabled()


def test_a_row_opens_to_its_references(page: Any) -> None:
    row = page.locator(ROWS).nth(2)
    image = shown_ids(page)[2]
    row.locator("td.caption").click()
    assert page.locator("tr.details li").all_inner_texts() == example.references()[image]
    button = row.get_by_role("button")
    assert button.get_attribute("aria-expanded") == "true"
    button.press("Enter")
    assert page.locator("tr.details").count() == 0
    assert button.get_attribute("aria-expanded") == "false"


def test_a_bar_filters_the_table(page: Any, result: Result) -> None:
    scores = result["cider-d"].per_image
    edges, counts = page_module.histogram(scores, result["cider-d"].metric.largest)
    bin_ = int(np.argmax(counts))
    low, high = edges[bin_], edges[bin_ + 1]
    bar = page.locator("figure.histogram", has_text="CIDEr-D").locator(".bar").nth(bin_)
    assert bar.get_attribute("aria-label") == f"{low:g} to {high:g}: {counts[bin_]} images"
    bar.hover()
    assert f"{counts[bin_]} images" in page.locator("figure.histogram", has_text="CIDEr-D").inner_text()
    bar.click()
    assert bar.get_attribute("aria-pressed") == "true"
    expected = {result.image_ids[n] for n in range(60) if low <= scores[n] < high}
    assert len(expected) == counts[bin_]
    assert set(shown_ids(page)) == expected
    page.get_by_role("button", name="Remove the filter").click()
    assert page.get_by_role("status").inner_text() == "60 images"
    assert bar.get_attribute("aria-pressed") == "false"


def test_bars_by_keyboard(page: Any) -> None:
    bars = page.locator("figure.histogram").first.locator(".bar")
    places = "bars => bars.flatMap((bar, at) => (bar.getAttribute('tabindex') === '0' ? [at] : []))"
    assert bars.evaluate_all(places) == [0]  # one stop of the keyboard
    bars.first.focus()
    for key in ("End", "Enter"):
        page.keyboard.press(key)
    assert bars.last.get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press(" ")
    assert bars.nth(bars.count() - 3).get_attribute("aria-pressed") == "true"
    assert bars.evaluate_all(places) == [bars.count() - 3]
    assert bars.last.get_attribute("aria-pressed") == "false"


def test_best_and_worst(page: Any, result: Result) -> None:
    order = np.argsort(-result["cider-d"].per_image, kind="stable")
    assert page.locator(".best .card").first.locator(".id").inner_text() == result.image_ids[order[0]]
    assert page.locator(".worst .card").first.locator(".id").inner_text() == result.image_ids[order[-1]]
    page.get_by_role("button", name="Show more").click()
    assert page.locator(".best .card").count() == 8
    page.locator("#extremes-metric").select_option(label="BLEU-1")
    lowest = float(result["bleu-1"].per_image.min())
    assert page.locator(".worst .card .value").first.inner_text() == f"{lowest:.3f}"


@pytest.mark.parametrize("options", [{"viewport": {"width": 360, "height": 740}}, {"color_scheme": "dark"}])
def test_fits_the_screen(browser: Any, written: Path, options: dict[str, Any]) -> None:
    opened = Opened(browser, written, **options)
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.close()


def test_marked_words_are_those_of_no_reference(browser: Any, tmp_path: Path) -> None:
    references = {"a": ["A man's red KITE.", "the kite"], "b": ["grass"]}
    made = sacrecap.score(references, {"a": "the Man's kite, flown by Élodie", "b": ""}, interval=None)
    write_report(made, tmp_path / "marks.html", title="marks")
    opened = Opened(browser, tmp_path / "marks.html")
    assert opened.page.locator(".card mark").all_inner_texts() == ["flown", "by", "Élodie"]
    assert opened.page.locator(".card .candidate").first.inner_text() == "the Man's kite, flown by Élodie"
    assert opened.page.locator(".card .nothing").inner_text() == "empty caption"
    opened.close()


def test_the_marks_are_those_of_the_metric_that_counts_statements(browser: Any, tmp_path: Path) -> None:
    references = {"1": ["A small dog on a couch."], "2": ["A red bus."]}
    captions = {"1": "The picture shows a small cat 🐈 on the sofa.", "2": "A red bus."}
    write_report(sacrecap.score(references, captions, "long-f1", interval=None), tmp_path / "long.html")
    opened = Opened(browser, tmp_path / "long.html")
    assert opened.page.locator(".card mark").all_inner_texts() == ["small", "cat"]
    caption = opened.page.locator(".card .candidate", has_text="picture")
    assert caption.inner_text() == captions["1"]
    assert "no reference says" in opened.page.locator("#extremes").inner_text()
    opened.close()


def test_without_references_no_word_is_marked(browser: Any, tmp_path: Path) -> None:
    captions = _core.Captions.from_dict({"1": ["a dog on a bus"], "2": ["two cats"]})
    alone = Corpus.without_references(captions, tokenizer="ptb")
    result = sacrecap.score(alone, None, "chair-i(gold=objects)", objects={"1": ["dog"], "2": []}, interval=None)
    path = tmp_path / "alone.html"
    write_report(result, path)
    opened = Opened(browser, path)
    assert opened.page.locator(".candidate").first.inner_text() in ("a dog on a bus", "two cats")
    assert opened.page.locator("mark").count() == 0
    assert "no reference" not in opened.page.locator("main").inner_text()
    assert "References per image" not in opened.page.locator("#facts").inner_text()
    opened.close()


def test_hostile_captions_do_not_run(browser: Any, tmp_path: Path) -> None:
    references = {f"{text} {n}": [text, f"{text} again"] for n, text in enumerate(HOSTILE)}
    candidates = {image: captions[0] for image, captions in references.items()}
    made = sacrecap.score(references, candidates)
    write_report(made, tmp_path / "hostile.html", title=HOSTILE[0])
    opened = Opened(browser, tmp_path / "hostile.html")
    assert opened.page.locator("h1").inner_text() == HOSTILE[0]
    for number in range(len(HOSTILE)):
        opened.page.locator(ROWS).nth(number).locator("td.score").first.click()
    assert set(opened.page.locator("tr.details .candidate").all_text_contents()) == set(HOSTILE)
    assert opened.page.evaluate("window.ran") is None
    assert opened.page.locator("main img, main svg[onload]").count() == 0
    opened.close()


def test_a_sampled_page_says_so(browser: Any, result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "MOST_IMAGES", 30)
    monkeypatch.setattr(page_module, "EXTREMES", 5)
    write_report(result, tmp_path / "sampled.html", title="sampled")
    opened = Opened(browser, tmp_path / "sampled.html")
    note = opened.page.locator("#images .note").inner_text()
    assert "30 of the 60 images: the 5 best and the 5 worst by CIDEr-D" in note
    assert opened.page.locator("dl#facts").inner_text().split()[:2] == ["Images", "60"]
    opened.close()


def test_signatures_are_copied_or_selected(page: Any, result: Result) -> None:
    """All of them, by one button, a line each."""
    button = page.get_by_role("button", name="Copy all signatures")
    button.click()
    page.wait_for_function("document.querySelector('.signatures button').textContent !== 'Copy'")
    if button.text_content() == "Selected":
        chosen = page.evaluate("getSelection().toString()")
        assert all(score.signature in chosen for score in result.values())


def test_the_plan_of_vifidel_is_drawn(browser: Any, tmp_path: Path) -> None:
    references, objects = {"1": ["a dog on a beach"], "2": ["a cat"]}, {"1": ["dog", "person"], "2": []}
    result = sacrecap.score(references, {"1": "a dog runs", "2": "a cat"}, "vifidel", objects=objects, interval=None)
    write_report(result, tmp_path / "report.html", title="plans")
    opened = Opened(browser, tmp_path / "report.html")
    for row in range(2):
        opened.page.locator(".images tbody .id button").nth(row).click()
    figures = opened.page.locator("tr.details figure")
    assert figures.count() == 1  # image 2 has no objects
    flows = result.explanation("1").flows
    lines = figures.locator("line.flow")
    assert lines.count() == len(flows)
    widths = [lines.nth(k).evaluate("line => getComputedStyle(line).strokeWidth") for k in range(len(flows))]
    thickness = [float(width.removesuffix("px")) for width in widths]
    assert thickness == pytest.approx([26 * share for *_, share, _ in flows], abs=0.08)
    assert lines.first.locator("title").text_content().startswith("person → dog: share 0.500 × cost ")
    opened.check()
