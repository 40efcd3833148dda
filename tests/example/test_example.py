"""The example data set is whole, and its files agree with one another."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

from sacrecap import example

IMAGES = 60
JSON_FILES = [
    example.references_path(),
    example.objects_path(),
    *(example.system_path(name) for name in example.SYSTEMS),
    *(example.caption_set_path(name) for name in example.CAPTION_SETS),
]


def is_caption(text: object) -> bool:
    return isinstance(text, str) and bool(text) and text == " ".join(text.split())


def normal(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9']+", text.lower()))


def test_references() -> None:
    references = example.references()
    assert len(references) == IMAGES
    for image_id, captions in references.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", image_id)
        assert len(captions) == 5, image_id
        assert all(map(is_caption, captions)), image_id
        assert len(set(map(normal, captions))) == 5, image_id


def test_no_reference_serves_two_images() -> None:
    captions = [normal(c) for five in example.references().values() for c in five]
    assert len(set(captions)) == len(captions)


@pytest.mark.parametrize("name", example.SYSTEMS)
def test_system(name: str) -> None:
    captions = example.systems()[name]
    assert list(captions) == list(example.references())
    assert all(map(is_caption, captions.values()))


def test_systems_differ() -> None:
    systems = example.systems()
    assert tuple(systems) == example.SYSTEMS
    for one, other in itertools.combinations(systems.values(), 2):
        assert sum(one[i] == other[i] for i in one) < IMAGES // 10
    distinct = {name: len(set(captions.values())) for name, captions in systems.items()}
    assert distinct["careful"] == IMAGES
    assert distinct["template"] < IMAGES // 2


def test_no_system_copies_a_reference() -> None:
    references = example.references()
    for captions in example.systems().values():
        copies = [i for i, c in captions.items() if normal(c) in map(normal, references[i])]
        assert not copies


def test_objects() -> None:
    entries = example.objects()
    assert [entry["image_id"] for entry in entries] == list(example.references())
    for entry in entries:
        assert set(entry) == {"image_id", "objects"}
        assert 2 <= len(entry["objects"]) <= 6, entry["image_id"]
        for label, count in entry["objects"].items():
            assert re.fullmatch(r"[a-z]+( [a-z]+)*", label), entry["image_id"]
            assert type(count) is int, entry["image_id"]
            assert count > 0, entry["image_id"]


def test_objects_have_labels_of_several_words() -> None:
    labels = {label for entry in example.objects() for label in entry["objects"]}
    assert {"dining table", "potted plant", "wine glass", "sports ball"} <= labels


@pytest.mark.parametrize("name", example.CAPTION_SETS)
def test_caption_set(name: str) -> None:
    captions = example.caption_sets()[name]
    assert list(captions) == list(example.references())
    for image_id, five in captions.items():
        assert len(five) == 5, image_id
        assert all(map(is_caption, five)), image_id


def test_caption_sets_differ_in_their_repeats() -> None:
    sets = example.caption_sets()
    assert tuple(sets) == example.CAPTION_SETS
    assert all(len(set(five)) == 5 for five in sets["varied"].values())
    assert all(len(set(five)) == 5 for five in sets["wild"].values())
    assert all(1 < len(set(five)) < 5 for five in sets["safe"].values())


@pytest.mark.parametrize("path", JSON_FILES, ids=lambda path: path.name)
def test_files_are_ascii_json_without_repeated_keys(path: Path) -> None:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    text = path.read_bytes().decode("ascii")
    data = json.loads(text, object_pairs_hook=unique)
    assert text == json.dumps(data, indent=1) + "\n"


def test_the_folder_holds_only_what_is_listed() -> None:
    own = (path for path in example.PATH.rglob("*.json") if example.PATH / "papers" not in path.parents)
    assert sorted(own) == sorted(JSON_FILES)


def test_each_call_gives_a_fresh_copy() -> None:
    example.references().clear()
    assert len(example.references()) == IMAGES


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match="careful, plain, template"):
        example.system_path("../references")
    with pytest.raises(ValueError, match="varied, safe, wild"):
        example.caption_set_path("careful")
