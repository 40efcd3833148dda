"""Image ids that files spell differently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sacrecap._core import Captions
from sacrecap.choices import IMAGE_IDS
from sacrecap.corpus.sets import of_known_images
from sacrecap.data.captions import CaptionFile
from sacrecap.data.image_ids import key, keyed, remedy_for_other_ids
from sacrecap.data.source import Reading
from sacrecap.errors import DataError


@pytest.mark.parametrize(
    ("image", "keys"),
    [
        ("391895", ["391895", "391895", "391895"]),
        ("000000391895", ["000000391895", "000000391895", "391895"]),
        (
            "val2014/COCO_val2014_000000391895.jpg",
            ["val2014/COCO_val2014_000000391895.jpg", "COCO_val2014_000000391895", "391895"],
        ),
        ("a\\b.c.png", ["a\\b.c.png", "b.c", None]),
        ("https://host/7/dog_007.jpg", ["https://host/7/dog_007.jpg", "dog_007", "7"]),
        ("0.jpg", ["0.jpg", "0", "0"]),
        (".jpg", [".jpg", ".jpg", None]),
        ("391895.0", ["391895.0", "391895", "391895"]),
    ],
)
def test_what_is_compared(image: str, keys: list[str | None]) -> None:
    assert [key(image, how) for how in IMAGE_IDS] == keys


def test_captions_keep_their_order() -> None:
    captions = Captions.from_dict({"b_2.jpg": ["x", "y"], "a_1.jpg": ["z"]})
    assert list(keyed(captions, "number").to_dict().items()) == [("2", ["x", "y"]), ("1", ["z"])]
    assert keyed(captions, "text") is captions


def test_ids_that_become_the_same_are_refused() -> None:
    captions = Captions.from_dict({"a.jpg": "x", "a.png": "y"})
    with pytest.raises(DataError, match='a.jpg and a.png are both a by image_ids="stem"; .* image_ids="text"$'):
        keyed(captions, "stem")
    with pytest.raises(DataError, match=r'^no number in the id of 2 images \(a.jpg, a.png\); image_ids="stem"'):
        keyed(captions, "number")


def test_another_column_has_the_ids_that_the_captions_have(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    rows = [
        {"image_id": f"val/COCO_{number:06}.jpg", "caption": f"a dog {number}", "domain": domain}
        for number, domain in ((7, "near"), (10, "far"))
    ]
    path.write_text(json.dumps(rows))
    for how, images in (
        ("text", ["val/COCO_000007.jpg", "val/COCO_000010.jpg"]),
        ("stem", ["COCO_000007", "COCO_000010"]),
        ("number", ["7", "10"]),
    ):
        file = CaptionFile(path, Reading())
        assert file.candidates(image_ids=how).image_ids == images
        assert file.column("domain", image_ids=how) == dict(zip(images, ["near", "far"], strict=True))


def test_how_ids_would_meet() -> None:
    remedy = 'they match with image_ids="{}" of sacrecap.data.read_references and read_candidates'
    assert remedy_for_other_ids(["COCO_7.jpg"], ["7"]) == remedy.format("number")
    assert remedy_for_other_ids(["COCO_7.jpg"], ["COCO_7"]) == remedy.format("stem")
    assert remedy_for_other_ids(["a.jpg"], ["7"]) == "are these files of the same data set?"


def test_only_known_images() -> None:
    references = Captions.from_dict({"1": "x", "2": "y"})
    candidates = Captions.from_dict({"2": "a", "3": "b"}).named("file")
    assert of_known_images(candidates, references).to_dict() == {"2": ["a"]}
    assert of_known_images(candidates, references).source == "file"
    others = Captions.from_dict({"3": "b"})
    assert of_known_images(others, references) is others, "so that the error of foreign files is told"
