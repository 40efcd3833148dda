"""The report as text: what it holds, that it loads nothing, and that captions stay captions."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opened import data_of

import sacrecap
from corpora import embeddings
from sacrecap import example
from sacrecap.errors import DataError
from sacrecap.report import score_page as page
from sacrecap.report.html import render_html, write_report
from sacrecap.report.printing.markup import PAGES, SITE
from sacrecap.scoring.result import Result

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>alert(1)",
    "</SCRIPT ><img src=x onerror=alert(1)>",
    "line\u2028and paragraph\u2029separators",
    "$style ${data} $$ \\u003c \\ \" ' &amp; \r\t",
]


@pytest.fixture(scope="module")
def result() -> Result:
    return sacrecap.score(example.references(), example.systems()["careful"])


def test_same_input_same_bytes(result: Result, tmp_path: Path) -> None:
    again = sacrecap.score(example.references(), example.systems()["careful"])
    write_report(result, tmp_path / "a.html", title="careful")
    write_report(again, tmp_path / "b.html", title="careful")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == render_html(result, title="careful")


def counted(page: str) -> list[int]:
    """The images in each histogram."""
    drawn = re.findall('<figure class="histogram">.*?</figure>', page, re.DOTALL)
    return [sum(map(int, re.findall(r'data-count="(\d+)"', one))) for one in drawn]


def test_data_equal_the_result(result: Result) -> None:
    data = data_of(render_html(result, title="careful"))
    assert [metric["label"] for metric in data["metrics"]] == [score.label for score in result.values()]
    assert data["metrics"][data["lead"]]["label"] == "CIDEr-D"
    for metric, score in zip(data["metrics"], result.values(), strict=True):
        np.testing.assert_allclose(metric["scores"], score.per_image, rtol=0, atol=5.1e-7)
    assert counted(render_html(result)) == [60] * len(result)
    for image, image_id in zip(data["images"], result.image_ids, strict=True):
        assert image["id"] == image_id
        assert (image["candidates"][0], image["references"]) == result.corpus.captions(image_id)


def test_hostile_text_stays_data() -> None:
    references = {f"<b>{n}</b>": [text, text] for n, text in enumerate(HOSTILE)}
    candidates = {f"<b>{n}</b>": text for n, text in enumerate(HOSTILE)}
    hostile = sacrecap.score(references, candidates, interval=None)
    text = render_html(hostile, title=HOSTILE[0])
    data = data_of(text)
    assert [image["candidates"][0] for image in data["images"]] == HOSTILE
    assert [image["id"] for image in data["images"]] == list(candidates)
    assert "alert(1)</script" not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert "\u2028" not in text
    assert "\u2029" not in text


def test_title_that_is_not_unicode(result: Result) -> None:
    assert "<h1>caf?</h1>" in render_html(result, title="caf\udce9")


def test_policy_names_the_only_style_and_script(result: Result) -> None:
    text = render_html(result, title="careful")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    for element in ("style", 'script type="module"'):
        inside = re.search(f"<{element}>(.*?)</", text, re.DOTALL)
        assert inside
        digest = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]


def test_browsers_without_light_dark_have_the_same_colours(result: Result) -> None:
    page = render_html(result)
    both = re.findall(r"(--[a-z-]+): light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\);", page)
    older = page.partition("@supports not (color: light-dark(")[2].partition("\n}\n")[0]
    light, dark = (dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]+);", part)) for part in older.split("@media screen"))
    assert len(both) == page.count("light-dark(") - 1
    assert {name: (light.pop(name), dark.pop(name)) for name, *_ in both} == {name: tuple(ends) for name, *ends in both}
    assert (light, dark) == ({}, {})


def test_nothing_is_loaded(result: Result) -> None:
    text = render_html(result, title="careful")
    addresses = set(re.findall(r"https?://[^\s\"'<)]*", text))
    pages = {address for address in addresses if address.startswith(SITE)}
    assert addresses - pages <= {"http://www.w3.org/2000/svg"}, "only the name of SVG's elements"
    assert pages == set(re.findall('<a href="([^"#]*)', text)) - {""}, "what the reader may follow"
    assert re.findall(r"\bsrc\s*=|@import|url\(|\bfetch\(|XMLHttpRequest|\bimport\b|innerHTML|\beval\(", text) == []
    assert re.findall(r"<link[^>]*>", text) == ['<link rel="icon" href="data:,">']


def test_terms_lead_to_pages_of_the_documentation(result: Result) -> None:
    folder = Path(page.__file__).parent
    modules = [*folder.glob("*_page.py"), *folder.glob("*_report.py")]
    lines = "".join(module.read_text(encoding="utf-8") for module in modules)
    pages = {*PAGES.values(), *re.findall(r"\]\(([a-z][^)]*)\)", lines)}
    assert len(pages) > 20
    for place in pages:
        name, _, heading = place.partition("/#")
        text = Path("docs", f"{name.strip('/')}.md").read_text(encoding="utf-8")
        assert not heading or f"## {heading}" in text.lower()
    shown = render_html(result)
    for name in ("reference/metrics/bleu/", "reference/metrics/cider-d/", "explanation/intervals/"):
        assert f'<a href="{SITE}{name}">' in shown


def made_up(images: int, words: int = 10) -> tuple[dict[str, list[str]], dict[str, str]]:
    """References and candidates of so many images, with captions of so many words."""
    rng = random.Random(0)
    known = [f"word{n}" for n in range(500)]
    captions = [" ".join(rng.choices(known, k=words)) for _ in range(997)]
    references = {str(n): [captions[(n * 5 + k) % 997] for k in range(5)] for n in range(images)}
    return references, {image: captions[(int(image) * 3) % 997] for image in references}


@pytest.mark.filterwarnings("ignore:.*labels of objects are not in the vocabulary:sacrecap.SacrecapWarning")
@pytest.mark.filterwarnings("ignore:.*no caption names an object:sacrecap.SacrecapWarning")
def test_size_of_five_hundred_images() -> None:
    references, candidates = made_up(500)
    words = [f"word{n}" for n in range(500)]
    objects = {n: random.Random(int(n)).sample(words, 3) for n in references}
    five_hundred = sacrecap.score(
        references, candidates, "consensus, fidelity", objects=objects, embeddings=embeddings(words), interval=None
    )
    # SPICE's graphs take most of it.
    assert len(render_html(five_hundred, title="large").encode()) < 2_600_000


def test_alignments_and_plans_are_found_for_the_best_and_worst_only(monkeypatch: pytest.MonkeyPatch) -> None:
    references, candidates = made_up(400)
    objects = {n: ["word1", "word2"] for n in references}
    vectors = embeddings([f"word{n}" for n in range(500)])
    scored = sacrecap.score(
        references, candidates, "meteor, vifidel", objects=objects, embeddings=vectors, interval=None
    )
    asked: list[str] = []
    explained = Result.explain
    monkeypatch.setattr(Result, "explain", lambda self, image: (asked.append(image), explained(self, image))[1])
    data = page.page(scored)
    order = [scored.image_ids[n] for n in np.argsort(scored["meteor"].per_image.round(6), kind="stable")]
    assert set(asked) == {*order[:50], *order[-50:]}
    assert len(asked) == page.MOST_EXPLAINED
    assert data.data["unexplained"].startswith("Figures that explain scores are on the page for 100 images")
    drawn = {data.data["images"][number]["id"]: drawing for number, drawing in data.drawings.items()}
    assert drawn.keys() == set(asked)
    assert all("METEOR: candidate above" in drawing and "VIFIDEL: objects" in drawing for drawing in drawn.values())
    few = sacrecap.score(*made_up(60), "meteor", interval=None)
    assert len(page.page(few).drawings) == 60, "all of a small corpus"


@pytest.mark.parametrize(
    ("total", "words", "most", "share"),
    [
        (800, 60, 600, 10),
        pytest.param(8_000, 60, 6_000, 1, marks=pytest.mark.soak),
        pytest.param(100_000, 10, 20_000, 1, marks=pytest.mark.soak),
    ],
)
def test_large_corpora_make_a_page_of_bounded_size(
    total: int, words: int, most: int, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a tenth of each limit, and of the images."""
    for limit in ("MOST_IMAGES", "MOST_TEXT", "EXTREMES"):
        monkeypatch.setattr(page, limit, getattr(page, limit) // share)
    scored = sacrecap.score(*made_up(total, words), "bleu-1, cider-d", tokenizer="none", interval=None)
    text = render_html(scored, title="large")
    data = data_of(text)
    assert most / 2 < len(data["images"]) <= most
    assert len({image["id"] for image in data["images"]}) == len(data["images"])
    ends = f"{1_000 // share:,}"
    assert f"of the {total:,} images: the {ends} best and the {ends} worst by CIDEr-D" in text
    assert len(text.encode()) < 25_000_000 // share


def test_captions_of_any_length_leave_two_images_on_a_page() -> None:
    """The best and the worst: half of two is one, and half of one would be none."""
    assert page.fitting(20_000, ["a", "b", "c"], lambda _: ["x" * (2 * page.MOST_TEXT)]) == 2


def test_larger_corpora_are_sampled(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_IMAGES", 30)
    monkeypatch.setattr(page, "EXTREMES", 5)
    data = data_of(render_html(result, title="careful"))
    assert data == data_of(render_html(result, title="careful"))
    assert len(data["images"]) == 30
    shown = [image["id"] for image in data["images"]]
    assert shown == sorted(shown, key=result.image_ids.index), "in the corpus's order"
    order = [result.image_ids[n] for n in np.argsort(result["cider-d"].per_image)]
    assert {*order[:5], *order[-5:]} <= set(shown)
    assert len(set(shown)) == 30, "the sample is of the others"
    for metric in data["metrics"]:
        assert len(metric["scores"]) == 30
    assert counted(render_html(result)) == [60] * len(result), "histograms are of all images"


def test_a_page_of_few_images_has_the_best_and_the_worst(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_IMAGES", 6)
    monkeypatch.setattr(page, "EXTREMES", 5)
    shown = {image["id"] for image in data_of(render_html(result, title="careful"))["images"]}
    order = [result.image_ids[n] for n in np.argsort(result["cider-d"].per_image)]
    assert shown == {*order[:3], *order[-3:]}


@given(st.lists(st.floats(-2, 100).map(lambda x: round(x, 6)), min_size=1), st.sampled_from([None, 1.0, 10.0]))
def test_histograms_count_every_score_once(scores: list[float], upper: float | None) -> None:
    edges, counts = page.histogram(np.array(scores), upper)
    assert sum(counts) == len(scores)
    assert len(counts) == len(edges) - 1 <= 32
    assert edges == sorted(set(edges))
    assert edges[0] <= min(scores)
    assert edges[-1] >= max(scores)
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        assert count == sum(low <= score < high or (high == edges[-1] and score == high) for score in scores)


def test_histogram_edges_are_round() -> None:
    assert page.histogram(np.array([0.0, 0.93]), 1.0)[0][:3] == [0.0, 0.05, 0.1]
    assert page.histogram(np.array([0.0, 0.93]), 1.0)[0][-1] == 1.0
    assert page.histogram(np.array([0.0, 4.56]), 10.0)[0][-3:] == [4.2, 4.4, 4.6]
    assert page.histogram(np.array([0.0]), None)[0][-1] == 1.0


def test_unwritable_place_is_a_data_error(result: Result, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder"):
        write_report(result, tmp_path / "absent" / "report.html", title="careful")


def test_what_makes_scores_doubtful_stands_before_everything_else() -> None:
    """What was left out and what was found, once, in a list above the facts; the scores that it is about say so."""
    references = example.references()
    images = sorted(references)
    captions = dict.fromkeys(images[3:], "a dog <unk>")
    result = sacrecap.score(references, captions, "rouge-l, bleu-4", on_missing="skip")
    compared = sacrecap.compare(
        references, {"odd": captions, "careful": example.systems()["careful"]}, "rouge-l", on_missing="skip"
    )
    [finding, *_] = [finding for finding in result.findings if "rouge-l" in finding.metrics]
    for written in (render_html(result), render_html(compared)):
        [doubts] = re.findall(r'<ul id="doubts".*?</ul>', written, re.DOTALL)
        assert written.index(doubts) < written.index('<dl id="facts">')
        assert "<li>left out: 3 images without candidate</li>" in doubts
        assert f"found, {finding.kind}: " in doubts
        assert written.count(f"found, {finding.kind}: ") == doubts.count(f"found, {finding.kind}: ")
    doubted = {key for finding in result.findings for key in finding.metrics} & {*result}
    assert render_html(result).count("doubtful: see above") == len(doubted) > 0
    whole = sacrecap.score(references, example.systems()["careful"], "rouge-l")
    assert 'id="doubts"' not in render_html(whole)
    assert "doubtful" not in render_html(whole)
