"""The images themselves on the pages: where they come from, what is said of those that are not there, and zooming."""

from __future__ import annotations

import base64
import io
import json
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opened import Opened, data_of
from PIL import Image

import sacrecap
from sacrecap import example
from sacrecap.errors import DataError, MissingDependencyError, SacrecapWarning
from sacrecap.judgments import Ratings, agreement
from sacrecap.judgments.judged_rows import Row
from sacrecap.report import photos
from sacrecap.report.html import render_html, write_report
from sacrecap.scoring.result import Result

IDS = list(example.references())
COLOURS = {image: f"#{40 + 3 * n:02x}80{200 - 2 * n:02x}" for n, image in enumerate(IDS)}


def picture(colour: str, size: tuple[int, int] = (64, 48)) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", size, colour).save(content, "JPEG")
    return content.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("photos")
    for image, colour in COLOURS.items():
        (place / f"{image}.jpg").write_bytes(picture(colour))
    return place


@pytest.fixture(scope="module")
def result() -> Result:
    return sacrecap.score(example.references(), example.systems()["careful"], "rouge-l, cider-d", interval=None)


def colour_of(content: bytes) -> tuple[int, ...]:
    return Image.open(io.BytesIO(content)).convert("RGB").getpixel((5, 5))  # type: ignore[return-value]


def near(image: str, content: bytes) -> bool:
    wanted = bytes.fromhex(COLOURS[image][1:])
    return all(abs(one - other) < 12 for one, other in zip(wanted, colour_of(content), strict=True))


def test_photos_are_inside_and_each_is_its_images(result: Result, folder: Path) -> None:
    text = render_html(result, title="careful", images=folder)
    assert text == render_html(result, title="careful", images=str(folder))
    data = data_of(text)
    assert len(data["images"]) == 60
    for image in data["images"]:
        head, _, content = image["photo"].partition(",")
        assert head == "data:image/webp;base64"
        assert near(image["id"], base64.b64decode(content))
    assert "img-src data:;" in text
    assert "self-contained: it loads nothing" in text


def test_many_photos_are_beside_the_page(
    result: Result, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "my page's-photos"
    beside.mkdir()
    (beside / "009999.webp").write_text("of a page before")
    for name in ("mine.txt", "mine.webp", "12345.webp"):
        (beside / name).write_text("kept")
    monkeypatch.setattr(photos, "MOST_EMBEDDED", 3_000)
    monkeypatch.setattr(photos, "_AT_ONCE", 7)
    write_report(result, tmp_path / "my page's.html", title="careful", images=folder)
    text = (tmp_path / "my page's.html").read_text(encoding="utf-8")
    data = data_of(text)
    assert "data:image" not in text
    for image in data["images"]:
        place, _, name = image["photo"].partition("/")
        assert place == "my%20page%27s-photos"
        assert near(image["id"], (beside / name).read_bytes())
    assert len(list(beside.iterdir())) == 63, "those of a page before are gone, other files are not"
    assert {(beside / name).read_text() for name in ("mine.txt", "mine.webp", "12345.webp")} == {"kept"}
    assert "it loads the photos of the folder my page&#x27;s-photos next to it" in text


def test_absent_and_broken_files_are_named(result: Result, folder: Path, tmp_path: Path) -> None:
    for image in IDS[:10]:
        (tmp_path / f"{image}.jpg").write_bytes((folder / f"{image}.jpg").read_bytes())
    (tmp_path / f"{IDS[3]}.jpg").write_bytes(b"<script>alert(1)</script>")
    with pytest.warns(SacrecapWarning, match=rf"1 of the image files cannot be shown: .*{IDS[3]}\.jpg: cannot"):
        text = render_html(result, title="careful", images=tmp_path)
    data = data_of(text)
    assert f'<p class="note">No file was found in {tmp_path} for 50 images ({IDS[10]}, ' in text
    assert '<p class="note">1 of the files cannot be shown: ' in text
    shown = [bool(image["photo"]) for image in data["images"]]
    assert shown == [number < 10 and number != 3 for number in range(60)]


def test_addresses_are_left_to_the_browser(result: Result) -> None:
    text = render_html(result, title="careful", images="https://images.example.org/x/{image_id}.jpg")
    assert "img-src https://images.example.org;" in text
    assert "it loads the photos from https://images.example.org and nothing else" in text
    assert data_of(text)["images"][0]["photo"] == f"https://images.example.org/x/{IDS[0]}.jpg"


def test_without_any_file_and_without_pillow(
    result: Result, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match=f"for any of the 60 images; looked for '{IDS[0]}' as file name"):
        write_report(result, tmp_path / "page.html", title="careful", images=tmp_path)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'sacrecap\[images\]'"):
        write_report(result, tmp_path / "page.html", title="careful", images=folder)
    assert list(tmp_path.iterdir()) == []


# In a browser

Write = Callable[[Path, Path], None]


def write_score(path: Path, images: Path) -> None:
    scored = sacrecap.score(example.references(), example.systems()["careful"], "rouge-l, cider-d", interval=None)
    write_report(scored, path, title="photos", images=images)


def write_compare(path: Path, images: Path) -> None:
    compared = sacrecap.compare(example.references(), example.systems(), "rouge-l", samples=100)
    write_report(compared, path, title="photos", images=images)


def write_diversity(path: Path, images: Path) -> None:
    made = sacrecap.diversity({"a": example.caption_sets()["varied"]}, example.references(), interval=None)
    write_report(made, path, title="photos", images=images)


def write_judged(path: Path, images: Path) -> None:
    rows = [Row(image, captions, number) for number, (image, captions) in enumerate(example.references().items())]
    captions = list(example.systems()["careful"].values())
    rated = Ratings("ratings", "test", rows, captions, [(float(number % 5),) for number in range(60)], 60)
    write_report(agreement(rated, "rouge-l", interval=None), path, title="photos", images=images)


@pytest.mark.browser
@pytest.mark.parametrize("write", [write_score, write_compare, write_diversity, write_judged])
@pytest.mark.parametrize("beside", [False, True], ids=["inside", "beside"])
def test_photos_are_shown_and_enlarged(
    browser: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write, beside: bool
) -> None:
    if beside:
        monkeypatch.setattr(photos, "MOST_EMBEDDED", 0)
    write(tmp_path / "page.html", folder)
    opened = Opened(browser, tmp_path / "page.html")
    page = opened.page
    row = page.locator("tr.image").first
    row.scroll_into_view_if_needed()
    image = row.locator("img")
    page.wait_for_function("image => image.complete && image.naturalWidth === 64", arg=image.element_handle())
    name = row.locator(".id button:not(.photo)").inner_text()
    assert image.get_attribute("alt") in example.references()[name]
    row.locator(".photo").click()
    assert page.locator("tr.details").count() == 0, "the row stays shut"
    dialog = page.get_by_role("dialog", name=name)
    assert dialog.locator("img").get_attribute("src") == image.get_attribute("src")
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert page.evaluate("document.activeElement.className") == "photo row"
    for close in (lambda: page.keyboard.press("Enter"), lambda: dialog.locator("img").click()):
        page.keyboard.press("Enter")
        dialog.wait_for()
        close()
        dialog.wait_for(state="detached")
    row.locator(".id button:not(.photo)").click()
    large = page.locator("tr.details .photo.large img")
    assert large.get_attribute("alt") == image.get_attribute("alt")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert opened.complaints == []
    loaded = {address for address in opened.requests if not address.startswith("data:")}
    assert all(address == opened.url or "/page-photos/" in address for address in loaded)
    opened.leave()


BOXES = [("<dog>", 0.9, [10, 20, 400, 300]), ("cat", 0.3, [0, 0, 9, 9]), ("bus", 0.8, None)]
BOXES += [("cup", 0.7, [600, 300, 700, 500]), ("sky", 0.6, [700, 0, 900, 90]), ("air", 0.6, [10**400, 0, 0, 9])]


@pytest.fixture
def boxed(tmp_path: Path) -> Path:
    """Two pictures, of which the first is turned by its camera's note, and a file of objects with boxes."""
    turned = Image.Exif()
    turned[0x0112] = 6
    (tmp_path / "boxed").mkdir()
    Image.new("RGB", (480, 640), "grey").save(tmp_path / "boxed" / "a.jpg", exif=turned)
    Image.new("RGB", (30, 10), "grey").save(tmp_path / "boxed" / "b.jpg")
    detections = [{"label": label, "score": score, "box": box} for label, score, box in BOXES]
    objects = [{"image_id": "a", "detections": detections}, {"image_id": "b", "detections": []}]
    (tmp_path / "objects.json").write_text(json.dumps(objects))
    return tmp_path


def scored(metrics: str, boxed: Path) -> Result:
    captions, objects = {"a": "a dog", "b": "a cat"}, boxed / "objects.json"
    return sacrecap.score({"a": ["a dog"], "b": ["a cat"]}, captions, metrics, objects=objects, threshold=0.5)


def test_boxes_are_those_of_the_objects_that_count(boxed: Path) -> None:
    result = scored("vifidel, rouge-l", boxed)
    for one in (result, pickle.loads(pickle.dumps(result))):
        boxes = data_of(render_html(one, images=boxed / "boxed"))["boxes"]
        assert list(boxes) == ["0"], "b has no objects"
        assert 'viewBox="0 0 640 480"' in boxes["0"]
        assert 'aria-label="Objects: &lt;dog&gt;, bus, cup, sky, air"' in boxes["0"]
        places = re.findall(r'<title>(.*?)</title><rect x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"/>', boxes["0"])
        assert places == [("&lt;dog&gt; 0.90", "10", "20", "390", "280"), ("cup 0.70", "600", "300", "40", "180")]
    assert data_of(render_html(result))["boxes"] == {}
    assert data_of(render_html(scored("rouge-l", boxed), images=boxed / "boxed"))["boxes"] == {}


@pytest.mark.browser
def test_boxes_lie_on_the_opened_photo(browser: Any, boxed: Path) -> None:
    write_report(scored("vifidel", boxed), boxed / "page.html", images=boxed / "boxed")
    opened = Opened(browser, boxed / "page.html")
    page = opened.page
    page.get_by_role("button", name="a", exact=True).click()
    photo = page.locator("tr.details .photo.large")
    assert photo.locator("img").get_attribute("alt") == "a dog · Objects: <dog>, bus, cup, sky, air"
    image, box = photo.locator("img").bounding_box(), photo.locator("rect").first.bounding_box()
    assert (box["x"] - image["x"]) / image["width"] == pytest.approx(10 / 640, abs=0.02)
    assert box["width"] / image["width"] == pytest.approx(390 / 640, abs=0.02)
    assert photo.locator("[tabindex]").count() == 0, "nothing in a button takes the focus"
    photo.click()
    dialog = page.get_by_role("dialog", name="a")
    assert dialog.locator("svg.boxes text").all_text_contents() == ["<dog>", "cup"]
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.textContent") == "cup 0.70cup"
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    photo.click()
    assert dialog.locator("svg.boxes rect").count() == 2, "they are there again"
    opened.leave()
