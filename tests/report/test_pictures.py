"""The pictures of caption sets: their data, their files, and what keeps them from being drawn."""

from __future__ import annotations

import csv
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import sacrecap
from sacrecap import example
from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.metrics import Lsa
from sacrecap.report import diversity_page, pictures
from sacrecap.report.pictures import charts, check_pictures, single_images, write_charts, write_pictures
from sacrecap.report.pictures.panels import looks_of, panels_of, round_values
from sacrecap.report.pictures.style import COLOURS, MARKS, elided, look
from sacrecap.scoring.diversity_result import Diversity

SETS = example.references_path().parent / "sets"
SYSTEMS = {name: str(SETS / f"{name}.json") for name in ("varied", "safe")}
WHOLE = ("plane", "f", "vocabulary", "words", "captions", "plane-lsa", "measures", "ranking")
DRAWN = ("plane", "words", "ranking", "scaling", "topics-1")
"""One of each way to draw; the others are drawn as one of these, and only described."""
DRAWN_AGAIN = ("words", "topics-1")
WITH_TEXT = ("plane", "ranking")
"""Pictures with the names of systems in every place where a picture has one; those of images and words: `topics-1`."""
HOSTILE = [
    "<script>alert(1)</script>",
    r"$\frac{1}{$ costs 5 & 10 %",  # an even number of dollars: some programs would take it for a formula
    "كلب على الشاطئ 🐶 🏖️",
    "_hidden",
    "a\nb\tc" + "w" * 300,
]


@pytest.fixture(scope="module")
def result() -> Diversity:
    return sacrecap.diversity(SYSTEMS, example.references(), samples=100)


@pytest.fixture(scope="module")
def folder(result: Diversity, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of all pictures. They are not drawn, which takes a second each: those of `small_folder` are."""
    folder = tmp_path_factory.mktemp("pictures")
    for name, make in pictures._pictures(result, charts.chosen_images(result, ["beach-dog", "market-fruit"])):
        (folder / f"{name}.csv").write_text(make().csv(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def small() -> Diversity:
    """Two images, and a system that is called as people are."""
    sets = {"1": ["a dog", "a cat"], "2": ["ships", "a boat"]}
    return sacrecap.diversity({"human": sets}, {"1": ["a dog", "the dog"], "2": ["ships", "a sail"]}, samples=20)


@pytest.fixture(scope="module")
def small_folder(small: Diversity, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    described = dict(pictures._pictures(small, ["1"]))
    write_charts([described[name]() for name in DRAWN], folder)
    return folder


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("undrawn")
def test_every_picture_is_there_in_three_files(small: Diversity, folder: Path, tmp_path: Path) -> None:
    names = [*WHOLE, "scaling", "topics-1"]
    assert write_pictures(small, tmp_path, ["1"]) == []
    assert {path.name for path in tmp_path.iterdir()} == {f"{n}.{s}" for n in names for s in ("png", "svg", "csv")}
    assert {path.stem for path in folder.iterdir()} == {*names, "topics-2"}


def test_each_way_to_draw_makes_a_picture(small_folder: Path) -> None:
    assert len(list(small_folder.iterdir())) == 3 * len(DRAWN)
    for name in DRAWN:
        data = (small_folder / f"{name}.png").read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert data.endswith(b"IEND\xaeB`\x82")
        root = ET.fromstring((small_folder / f"{name}.svg").read_bytes())  # noqa: S314
        assert root.tag.endswith("}svg")
        assert len(list(root.iter())) > 20


def test_the_same_result_gives_the_same_bytes(small: Diversity, small_folder: Path, tmp_path: Path) -> None:
    """Of two pictures; the data of all that are drawn."""
    again = dict(pictures._pictures(small, ["1"]))
    write_charts([again[name]() for name in DRAWN_AGAIN], tmp_path)
    for name in DRAWN:
        assert again[name]().csv().encode() == (small_folder / f"{name}.csv").read_bytes().replace(b"\r\n", b"\n"), name
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (small_folder / path.name).read_bytes(), path.name


def test_data_of_the_plane_and_of_f_are_the_results_figures(result: Diversity, folder: Path) -> None:
    described = {"plane": ("self-cider", "accuracy"), "plane-lsa": ("lsa", "accuracy"), "f": ("f",)}
    for name, keys in {**described, "vocabulary": ("self-cider",)}.items():
        for row, system in zip(rows(folder, name), result.everybody(), strict=True):
            assert row["system"] == system.name
            assert row["kind"] == ("people" if system is result.human else "system")
            for key in keys:
                figure = system[key]
                assert figure.interval is not None
                assert (float(row[key]), float(row[f"{key}_lower"]), float(row[f"{key}_upper"])) == (
                    figure.value,
                    *figure.interval,
                )
    assert [int(row["vocabulary"]) for row in rows(folder, "vocabulary")] == [s.vocabulary for s in result.everybody()]


def test_the_page_draws_the_same_marks(result: Diversity, folder: Path) -> None:
    """A chart is described once: its panels on the page have the systems and the numbers of its CSV file."""
    page = diversity_page.page(result).sections[1].drawn
    shown = iter(re.findall(r"<figure.*?</figure>", page, re.DOTALL))
    for describe, titles in charts.ON_THE_PAGE.items():
        chart = describe(result)
        written = rows(folder, describe.__name__)
        for title in titles:
            drawn = next(shown)
            assert f"<strong>{title.format(beta2=5)}</strong>" in drawn
            told = re.findall(r"<title>([^<]*)</title>", drawn)
            names = {"people" if row["kind"] == "people" else row["system"] for row in written}
            assert {one.partition(":")[0] for one in told} == names
            assert len(told) == len(written) or chart.name == "words"
            heads = [chart.columns[field] if isinstance(chart.columns, dict) else field for field in chart.said]
            values = {spelled(row[head]) for row in written for head in heads}
            assert {
                number for one in told for number in re.findall(r"(?<= )\d[\d,]*\.\d{4}\b", one)
            } <= values | bounds(written)
    similar = list(shown)
    assert [one.partition("similarity: ")[2].partition("<")[0] for one in similar] == ["safe", "varied", "people"]


def spelled(value: str) -> str:
    return f"{float(value):.4f}" if "." in value else value


def bounds(written: list[dict[str, str]]) -> set[str]:
    """The ends of intervals, which a mark tells too."""
    return {spelled(value) for row in written for head, value in row.items() if head.endswith(("_lower", "_upper"))}


def test_data_of_measures_and_ranking(result: Diversity, folder: Path) -> None:
    figures = result["varied"].figures
    labels = {figure.label: key for key, figure in figures.items()}
    labels |= {f"1 − {figure.label}": key for key, figure in figures.items()}
    for name, first in (("measures", "self-cider"), ("ranking", "accuracy")):
        found = rows(folder, name)
        assert labels[found[0]["measure"]] == first
        for row in found:
            [system] = [one for one in result.everybody() if one.name == row["system"]]
            value = system[labels[row["measure"]]].value
            assert float(row["value"]) == (1 - value if row["measure"].startswith("1 − ") else value)
    assert {labels[row["measure"]] for row in rows(folder, "measures")} == {
        "self-cider",
        "lsa",
        "mbleu-mix",
        *(f"mbleu-{n}" for n in range(1, 5)),
        "div-1",
        "div-2",
    }
    for row in rows(folder, "ranking"):
        values = sorted((one[labels[row["measure"]]].value for one in result.everybody()), reverse=True)
        assert values[int(float(row["rank"])) - 1] == float(row["value"])


def test_equal_values_share_their_places() -> None:
    made = charts.ranking(
        [
            {"system": name, "kind": "system", "measure": "m", "value": value}
            for name, value in (("a", 0.5), ("b", 0.7), ("c", 0.5), ("d", 0.1))
        ]
    )
    assert [row["rank"] for row in made.rows] == [2.5, 1, 2.5, 4]


def test_data_of_words_are_the_commonest_words(result: Diversity, folder: Path) -> None:
    for system in result.everybody():
        own = [row for row in rows(folder, "words") if row["system"] == system.name]
        counts = system.word_counts()
        assert [(row["word"], int(row["count"])) for row in own] == counts[:5000]
        assert [int(row["rank"]) for row in own] == list(range(1, len(own) + 1))
        shares = np.array([count for _, count in counts]) / sum(count for _, count in counts)
        np.testing.assert_allclose([float(row["per_thousand_words"]) for row in own], 1000 * shares, rtol=1e-12)


def test_a_line_of_words_ends_at_the_5000th() -> None:
    made = sacrecap.diversity({"1": [" ".join(f"w{n}" for n in range(5_001)), "a"]}, metrics="distinct", interval=None)
    chart = charts.words(made)
    assert len(chart.rows) == 5_000
    assert "or at the 5,000th" in chart.note


def test_data_of_captions_are_the_curve_and_all_captions(result: Diversity, folder: Path) -> None:
    found = {(row["system"], int(row["captions"])): row for row in rows(folder, "captions")}
    for name, system in result.items():
        assert system.curve
        for most, figures in system.curve.items():
            assert float(found[name, most]["self-cider"]) == figures["self-cider"]
            assert float(found[name, most]["accuracy"]) == figures["accuracy"]
    assert result.human
    assert float(found["human", 5]["self-cider"]) == result.human["self-cider"].value


def test_scaling_keeps_distances_that_fit_into_a_plane() -> None:
    # Three different captions without a word in common are equally far from one another: nothing is lost.
    captions = ["a red dog runs", "two cats sleep here", "two cats sleep here", "big ships sail slowly"]
    made = sacrecap.diversity({"a": {"1": captions, "2": ["nothing like it"]}}, interval=None)
    sets = single_images.spectra(made, "1")
    marks, share = single_images.scale({"1": sets})
    assert [mark.captions for mark in marks] == [(0,), (1, 2), (3,)]
    assert share == 1
    for one in marks:
        for other in marks:
            similarity = sets[0].matrix[one.captions[0], other.captions[0]]
            assert np.hypot(one.x - other.x, one.y - other.y) == pytest.approx(1 - similarity, abs=1e-2)


def stress(apart: np.ndarray, places: np.ndarray) -> float:
    return sum((np.linalg.norm(places[i] - places[j]) - apart[i, j]) ** 2 for i in range(len(apart)) for j in range(i))


def test_scaling_has_little_stress_and_the_share_it_says(result: Diversity) -> None:
    images = ["beach-dog", "market-fruit", "couch-cat"]
    sets = {image: single_images.spectra(result, image) for image in images}
    marks, share = single_images.scale(sets)
    captions = [(image, system, number) for image in images for system in sets[image] for number in range(5)]
    vectors = single_images.joined([(sets[image][system], number) for image, system, number in captions])
    for image in images:
        for system in sets[image]:
            own = vectors[[one[:2] == (image, system) for one in captions]]
            np.testing.assert_allclose(own @ own.T, sets[image][system].matrix, atol=1e-12)
    apart = 1 - vectors @ vectors.T
    np.fill_diagonal(apart, 0)
    at = {(mark.image_id, mark.system, number): (mark.x, mark.y) for mark in marks for number in mark.captions}
    places = np.array([at[one] for one in captions])
    centre = np.eye(len(apart)) - 1 / len(apart)
    values, eigenvectors = np.linalg.eigh(-centre @ apart**2 @ centre / 2)
    classical = eigenvectors[:, -2:] * np.sqrt(values[-2:])
    assert stress(apart, places) < 0.6 * stress(apart, classical)
    generator = np.random.default_rng(0)
    for _ in range(20):  # no small step makes it better by more than the search's patience
        assert stress(apart, places + generator.normal(0, 0.02, places.shape)) > 0.999 * stress(apart, places)
    pairs = np.triu_indices(len(apart), 1)
    drawn = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert share == pytest.approx(np.corrcoef(apart[pairs], drawn[pairs])[0, 1] ** 2, rel=1e-4)


def test_the_plane_of_images_is_one_for_all_panels(result: Diversity, folder: Path) -> None:
    chart = charts.scaling(result, ["beach-dog", "market-fruit"])
    panels = panels_of(chart)
    assert [panel.title for panel in panels] == ["varied", "safe", "people"]
    assert len({panel.x.ends + panel.y.ends for panel in panels}) == 1
    assert [one.name for one in looks_of(chart)] == ["beach-dog", "market-fruit"]
    places = [(mark.x, mark.y) for panel in panels for mark in panel.marks]
    ends = np.array([panels[0].x.ends, panels[0].y.ends])
    assert np.ptp(ends, axis=1) == pytest.approx([1.12 * np.ptp(places, axis=0).max()] * 2)
    assert ends.mean(axis=1) == pytest.approx((np.min(places, axis=0) + np.max(places, axis=0)) / 2)
    for system, panel in zip(result.everybody(), panels, strict=True):
        own = [row for row in rows(folder, "scaling") if row["system"] == system.name]
        assert sorted((mark.x, mark.y) for mark in panel.marks) == sorted(
            (float(row["x"]), float(row["y"])) for row in own
        )
        assert sum(int(row["captions"]) for row in own) == 10
    # The safe system repeats itself: its clouds are narrower than people's.
    width = [
        sum(np.ptp([(m.x, m.y) for m in panel.marks if m.look == image], axis=0).sum() for image in (0, 1))
        for panel in panels
    ]
    assert width[1] < width[2]


def test_topics_are_signed_and_by_both_similarities(result: Diversity, folder: Path) -> None:
    for system in result.everybody():
        for space, metric in (("LSA", Lsa(stop=False)), ("Self-CIDEr", None)):
            spectrum = system.image("market-fruit", metric)
            own = [row for row in rows(folder, "topics-2") if (row["system"], row["space"]) == (system.name, space)]
            assert {row["image_id"] for row in own} == {"market-fruit"}
            for place, topic in enumerate(spectrum.topics(5), start=1):
                loads = [float(row["load"]) for row in own if int(row["topic"]) == place]
                vector = spectrum.eigenvectors[place - 1]
                sign = np.sign(vector @ loads)
                np.testing.assert_allclose(loads, sign * vector, rtol=0, atol=1e-12)
                assert sum(loads) > -1e-8
                words = next(row["words"] for row in own if int(row["topic"]) == place).replace("−", "").split(", ")
                assert words == [word for word, _ in topic.words[:3]]
                assert space == "Self-CIDEr" or not {"a", "the", "of"} & set(words)
    panels = panels_of(charts.topics(result, "topics", "market-fruit"))
    assert [panel.kind for panel in panels] == ["radar", "radar", "text"] * 3
    assert all(len(line.points) == 5 for panel in panels for line in panel.lines)
    low, high = panels[0].y.ends
    assert low == -high
    assert min(y for line in panels[0].lines for _, y in line.points) < 0


def test_lines_of_equal_f_have_that_f() -> None:
    marks = (("a", 0.3, 0.9), ("b", 1.4, 0.2))
    chart = charts.Chart(
        "plane",
        (),
        [{"system": name, "kind": "system", "accuracy": a, "diversity": d} for name, a, d in marks],
        "points",
        charts.of_accuracy("accuracy"),
        [charts.of_diversity("d")],
        beta2=5.0,
    )
    [panel] = panels_of(chart)
    assert len(panel.lines) >= 3
    for line in panel.lines:
        level = float(line.said.removeprefix("F "))
        for accuracy, diversity in line.points:
            assert 6 * diversity * accuracy / (5 * diversity + accuracy) == pytest.approx(level, rel=1e-4)


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0.3, 1.76, [0.5, 0.75, 1, 1.25, 1.5, 1.75]), (-1, 1, [-1, -0.5, 0, 0.5, 1])],
)
def test_ticks_are_round(low: float, high: float, values: list[float]) -> None:
    assert round_values(low, high) == values


def test_images_are_the_most_and_least_diverse_or_those_asked_for(result: Diversity) -> None:
    means = np.mean([system["self-cider"].per_image for system in result.values()], axis=0)
    order = [result["varied"].image_ids[n] for n in np.argsort(-means, kind="stable")]
    assert charts.chosen_images(result) == [*order[:5], *order[-5:]]
    assert charts.chosen_images(result, ["hill-kites", "beach-dog", "hill-kites"]) == ["hill-kites", "beach-dog"]
    with pytest.raises(UsageError, match=r"images names 1 image \(nowhere\) without caption sets"):
        charts.chosen_images(result, ["beach-dog", "nowhere"])


@pytest.mark.usefixtures("undrawn")
def test_what_cannot_be_drawn_is_left_out_and_says_why(tmp_path: Path) -> None:
    alone = sacrecap.diversity({"a": {"1": ["a dog", "a cat"], "2": ["ships"]}}, interval=None)
    lines = write_pictures(alone, tmp_path)
    assert [line.partition(" is left out: ")[0] for line in lines] == [
        "plane",
        "f",
        "captions",
        "plane-lsa",
        "measures",
        "ranking",
    ]
    assert all("give references" in line for line in lines[:4])
    assert all("it compares systems, and there is only one" in line for line in lines[4:])
    assert {path.stem for path in tmp_path.iterdir()} == {"vocabulary", "words", "scaling", "topics-1", "topics-2"}
    assert rows(tmp_path, "vocabulary")[0]["self-cider_lower"] == ""


@pytest.mark.usefixtures("undrawn")
def test_without_a_diversity_that_grows(tmp_path: Path) -> None:
    sets = {"1": ["a dog", "a cat"], "2": ["ships", "a boat"]}
    systems = {"a": sets, "varied": {"1": ["a cat", "two dogs"], "2": ["ships", "a boat"]}}
    made = sacrecap.diversity(systems, {"1": ["a dog"], "2": ["ships"]}, metrics="mbleu-4", interval=None)
    lines = write_pictures(made, tmp_path, ["1"])
    assert any(line.startswith("plane is left out: no diversity was scored; add one of self-cider") for line in lines)
    assert any(line.startswith("measures is left out: it compares measures of diversity; add") for line in lines)
    assert {row["measure"] for row in rows(tmp_path, "ranking")} == {made["varied"]["accuracy"].label}
    assert (tmp_path / "scaling.png").exists()


def test_one_caption_and_empty_captions_are_drawn(tmp_path: Path) -> None:
    made = sacrecap.diversity({"one": {"1": ["a dog"], "2": [""]}}, interval=None)
    described = dict(pictures._pictures(made, ["1", "2"]))
    write_charts([described[name]() for name in ("words", "scaling", "topics-1", "topics-2")], tmp_path)
    assert [row["captions"] for row in rows(tmp_path, "scaling")] == ["1", "1"]


def test_hostile_names_and_captions_are_text(tmp_path: Path) -> None:
    drawn = f"{HOSTILE[1]} {HOSTILE[-1]}"
    sets = {name: {image: [f"a {name} dog", name] for image in (drawn, HOSTILE[0])} for name in HOSTILE}
    references = {image: ["a dog on grass", "the dog runs"] for image in (drawn, HOSTILE[0])}
    made = sacrecap.diversity(sets, references, samples=20)
    described = {name: make() for name, make in pictures._pictures(made, [drawn])}
    alone = sacrecap.diversity({HOSTILE[1]: sets[HOSTILE[1]]}, references, samples=20)
    topics = charts.topics(alone, "topics-1", drawn)
    write_charts([*(described[name] for name in WITH_TEXT), topics], tmp_path)
    assert [row["system"] for row in rows(tmp_path, "plane")] == [*HOSTILE, "human"]
    for path in tmp_path.glob("*.svg"):
        root = ET.fromstring(path.read_bytes())  # noqa: S314
        assert not [node for node in root.iter() if node.tag.endswith("}script")]
        assert float(root.get("width", "0")) < 2000


def test_a_system_called_human_is_not_people(small_folder: Path) -> None:
    assert [(row["system"], row["kind"]) for row in rows(small_folder, "plane")] == [
        ("human", "system"),
        ("human", "people"),
    ]


def test_looks_differ_for_many_systems() -> None:
    looks = [look(number, "name", people=False) for number in range(len(COLOURS) * len(MARKS))]
    assert len({(one.colour, one.mark) for one in looks}) == len(looks)


@pytest.mark.parametrize(("text", "shown"), [("short", "short"), ("a\nb\x00 c", "a b c"), ("x" * 30, "x" * 9 + "…")])
def test_names_are_one_short_line(text: str, shown: str) -> None:
    assert elided(text, 10) == shown


def test_a_folder_that_cannot_be_written_in(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="it is a file; pictures go into a folder"):
        check_pictures(tmp_path / "file")
    with pytest.raises(DataError, match="this folder cannot be made"):
        check_pictures(tmp_path / "file" / "below")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_a_new_folder_is_made(tmp_path: Path) -> None:
    check_pictures(tmp_path / "new" / "er")
    assert (tmp_path / "new" / "er").is_dir()


def test_without_the_converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, result: Diversity) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'sacrecap\[plots\]'"):
        write_pictures(result, tmp_path / "none")
    assert not (tmp_path / "none").exists()
