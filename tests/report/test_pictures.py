"""The pictures of caption sets: their data, their files, and what keeps them from being drawn."""

from __future__ import annotations

import csv
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sacrecap
from sacrecap import example
from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.metrics import Lsa
from sacrecap.report import diversity_page
from sacrecap.report.pictures import charts, check_pictures, single_images, write_pictures
from sacrecap.report.pictures.style import COLOURS, MARKS, elided, look
from sacrecap.scoring.diversity_result import Diversity

SETS = example.references_path().parent / "sets"
SYSTEMS = {name: str(SETS / f"{name}.json") for name in ("varied", "safe")}
WHOLE = ("plane", "f", "vocabulary", "words", "captions", "measures", "ranking")
HOSTILE = [
    "<script>alert(1)</script>",
    r"$\frac{1}{$ costs 5 & 10 %",  # an even number of dollars: matplotlib would take it for a formula
    "كلب على الشاطئ 🐶 🏖️",
    "_hidden",
    "a\nb\tc" + "w" * 300,
]


@pytest.fixture(scope="module")
def result() -> Diversity:
    return sacrecap.diversity(SYSTEMS, example.references(), samples=100)


@pytest.fixture(scope="module")
def folder(result: Diversity, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    assert write_pictures(result, folder, ["beach-dog", "market-fruit"]) == []
    return folder


@pytest.fixture(scope="module")
def small() -> Diversity:
    """Two images, and a system that is called as people are."""
    sets = {"1": ["a dog", "a cat"], "2": ["ships", "a boat"]}
    return sacrecap.diversity({"human": sets}, {"1": ["a dog", "the dog"], "2": ["ships", "a sail"]}, samples=20)


@pytest.fixture(scope="module")
def small_folder(small: Diversity, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    assert write_pictures(small, folder, ["1"]) == []
    return folder


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_picture_is_there_in_three_files(folder: Path) -> None:
    names = [*WHOLE, "scaling", "topics-1", "topics-2"]
    assert {path.name for path in folder.iterdir()} == {f"{n}.{s}" for n in names for s in ("png", "svg", "csv")}
    for name in names:
        data = (folder / f"{name}.png").read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert data.endswith(b"IEND\xaeB`\x82")
        root = ET.fromstring((folder / f"{name}.svg").read_bytes())  # noqa: S314
        assert root.tag.endswith("}svg")
        assert len(list(root.iter())) > 20


def test_the_same_result_gives_the_same_bytes(small: Diversity, small_folder: Path, tmp_path: Path) -> None:
    write_pictures(small, tmp_path / "again", ["1"])
    names = {*WHOLE, "scaling", "topics-1"}
    assert {path.stem for path in small_folder.iterdir()} == names
    for path in small_folder.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name


def test_data_of_the_plane_and_of_f_are_the_results_figures(result: Diversity, folder: Path) -> None:
    for picture, keys in (("plane", ("self-cider", "accuracy")), ("f", ("f",)), ("vocabulary", ("self-cider",))):
        for row, system in zip(rows(folder, picture), result.everybody(), strict=True):
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
    data = diversity_page.diversity_data(result)
    panels = iter(data["pictures"])
    for describe, titles in charts.ON_THE_PAGE.items():
        written = rows(folder, describe.__name__)
        for title in titles:
            panel = next(panels)
            assert panel["title"] == title.format(beta2=5)
            shown = panel["chart"]
            assert shown is not None
            names = [data["systems"][number]["name"] for number in shown["systems"]]
            assert names == ["people" if row["kind"] == "people" else row["system"] for row in written]
            heads = describe(result).columns
            for field, values in shown["fields"].items():
                head = heads[field] if isinstance(heads, dict) else field
                for value, row in zip(values, written, strict=True):
                    expected = row[head] if isinstance(value, str) else pytest.approx(float(row[head]), abs=5.1e-7)
                    assert value == expected
            assert {shown["x"]["field"], *([shown["y"]["field"]] if shown["y"] else [])} <= set(shown["fields"])
    assert next(panels, None) is None


def test_data_of_measures_and_ranking(result: Diversity, folder: Path) -> None:
    labels = {figure.label: key for key, figure in result["varied"].figures.items()}
    for picture, first in (("measures", "self-cider"), ("ranking", "accuracy")):
        found = rows(folder, picture)
        assert labels[found[0]["measure"]] == first
        for row in found:
            [system] = [one for one in result.everybody() if one.name == row["system"]]
            assert float(row["value"]) == system[labels[row["measure"]]].value
    assert {labels[row["measure"]] for row in rows(folder, "measures")} == {
        "self-cider",
        "lsa",
        "mbleu-mix",
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
    # Three different captions without a word in common span a plane: nothing is lost.
    captions = ["a red dog runs", "two cats sleep here", "two cats sleep here", "big ships sail slowly"]
    made = sacrecap.diversity({"a": {"1": captions, "2": ["nothing like it"]}}, interval=None)
    sets = single_images.spectra(made, "1")
    plane = single_images.scale("1", sets)
    assert [mark.captions for mark in plane.marks] == [(0,), (1, 2), (3,)]
    assert plane.share == pytest.approx(1.0)
    vectors = single_images.joined(list(sets.values()))
    assert np.abs(vectors).max() > 0
    for one, i in zip(plane.marks, (0, 1, 3), strict=True):
        for other, j in zip(plane.marks, (0, 1, 3), strict=True):
            apart = np.hypot(one.x - other.x, one.y - other.y)
            assert apart == pytest.approx(np.linalg.norm(vectors[i] - vectors[j]), abs=1e-8)


def test_scaling_is_by_the_kernel_and_agrees_with_a_slow_one(result: Diversity, folder: Path) -> None:
    sets = single_images.spectra(result, "beach-dog")
    vectors = single_images.joined(list(sets.values()))
    for number, spectrum in sets.items():
        start = sum(len(other.tokens) for place, other in sets.items() if place < number)
        own = vectors[start : start + len(spectrum.tokens)]
        np.testing.assert_allclose(own @ own.T, spectrum.matrix, atol=1e-12)
    size = len(vectors)
    distances = np.array([[((a - b) ** 2).sum() for a in vectors] for b in vectors])
    centre = np.eye(size) - 1 / size
    values = np.linalg.eigvalsh(-centre @ distances @ centre / 2)[::-1]
    plane = single_images.scale("beach-dog", sets)
    x = np.repeat([mark.x for mark in plane.marks], [len(mark.captions) for mark in plane.marks])
    y = np.repeat([mark.y for mark in plane.marks], [len(mark.captions) for mark in plane.marks])
    assert (x @ x, y @ y) == (pytest.approx(values[0]), pytest.approx(values[1]))
    assert plane.share == pytest.approx(values[:2].sum() / values.sum())
    written = [row for row in rows(folder, "scaling") if row["image_id"] == "beach-dog"]
    assert [(float(row["x"]), float(row["y"])) for row in written] == [(mark.x, mark.y) for mark in plane.marks]
    assert sum(int(row["captions"]) for row in written) == size


def test_topics_are_those_of_the_words_without_stop_words(result: Diversity, folder: Path) -> None:
    for number, system in enumerate(result.everybody()):
        spectrum = system.image("market-fruit", Lsa(stop=False))
        own = [row for row in rows(folder, "topics-2") if row["system"] == system.name]
        assert {row["image_id"] for row in own} == {"market-fruit"}
        for place, topic in enumerate(spectrum.topics(5), start=1):
            loads = [float(row["load"]) for row in own if int(row["topic"]) == place]
            sign = -1 if sum(topic.captions) < 0 else 1
            np.testing.assert_allclose(loads, sign * np.array(topic.captions), rtol=0, atol=1e-15)
            words = next(row["words"].split() for row in own if int(row["topic"]) == place)
            assert words == [word for word, _ in topic.words[:3]]
            assert not {"a", "the", "of"} & set(words)
        assert number < 3


def test_images_are_the_most_and_least_diverse_or_those_asked_for(result: Diversity) -> None:
    means = np.mean([system["self-cider"].per_image for system in result.values()], axis=0)
    order = [result["varied"].image_ids[n] for n in np.argsort(-means, kind="stable")]
    assert single_images.chosen_images(result) == [*order[:3], *order[-3:]]
    assert single_images.chosen_images(result, ["hill-kites", "beach-dog", "hill-kites"]) == ["hill-kites", "beach-dog"]
    with pytest.raises(UsageError, match=r"images names 1 image \(nowhere\) without caption sets"):
        single_images.chosen_images(result, ["beach-dog", "nowhere"])


def test_what_cannot_be_drawn_is_left_out_and_says_why(tmp_path: Path) -> None:
    alone = sacrecap.diversity({"a": {"1": ["a dog", "a cat"], "2": ["ships"]}}, interval=None)
    lines = write_pictures(alone, tmp_path)
    assert [line.partition(" is left out: ")[0] for line in lines] == ["plane", "f", "captions", "measures", "ranking"]
    assert all("give references" in line for line in lines[:3])
    assert all("it compares systems, and there is only one" in line for line in lines[3:])
    assert {path.stem for path in tmp_path.iterdir()} == {"vocabulary", "words", "scaling", "topics-1", "topics-2"}
    assert rows(tmp_path, "vocabulary")[0]["self-cider_lower"] == ""


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
    write_pictures(made, tmp_path)
    assert [row["captions"] for row in rows(tmp_path, "scaling")] == ["1", "1"]


def test_hostile_names_and_captions_are_text(tmp_path: Path) -> None:
    drawn = f"{HOSTILE[1]} {HOSTILE[-1]}"
    sets = {name: {image: [f"a {name} dog", name] for image in (drawn, HOSTILE[0])} for name in HOSTILE}
    references = {image: ["a dog on grass", "the dog runs"] for image in (drawn, HOSTILE[0])}
    made = sacrecap.diversity(sets, references, samples=20)
    assert write_pictures(made, tmp_path, [drawn]) == []
    assert [row["system"] for row in rows(tmp_path, "plane")] == [*HOSTILE, "human"]
    for path in tmp_path.glob("*.svg"):
        root = ET.fromstring(path.read_bytes())  # noqa: S314
        assert not [node for node in root.iter() if node.tag.endswith("}script")]
        assert float(root.get("width", "0").removesuffix("pt")) < 1500


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


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, result: Diversity) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'sacrecap\[plots\]'"):
        write_pictures(result, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_readers_settings_of_matplotlib_stay(result: Diversity, folder: Path) -> None:
    matplotlib: Any = pytest.importorskip("matplotlib")
    assert matplotlib.rcParams["text.parse_math"] is True
    assert "matplotlib.pyplot" not in sys.modules
