"""Readers of captioned images: Flickr's, Karpathy's and COCO's folders, tar files, and what is wrong with them."""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages


def picture(path: Path, colour: tuple[int, int, int] = (10, 20, 30)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), colour).save(path)
    return path


def flickr(folder: Path, names: tuple[str, ...] = ("a.png", "b.png", "c.png")) -> Path:
    lines = [f"{name}#{number}\t{name} said {number} ." for name in (*names, "stray.png") for number in range(2)]
    (folder / "Flickr8k.token.txt").write_text("\n".join(lines) + "\n")
    for split, name in zip(("train", "dev", "test"), names, strict=True):
        (folder / f"Flickr_8k.{split}Images.txt").write_text(name + "\n")
    return folder


def karpathy(path: Path, **changes: object) -> Path:
    row = {"filename": "a.png", "split": "restval", "sentences": [{"raw": "one"}, {"raw": "two"}], "cocoid": 7}
    path.write_text(json.dumps({"images": [{**row, **changes}]}))
    return path


def test_flickr_folder_with_images_in_a_folder_and_in_a_tar(tmp_path: Path) -> None:
    flickr(tmp_path)
    picture(tmp_path / "Flicker8k_Dataset" / "a.png", (1, 2, 3))
    with tarfile.open(tmp_path / "images.tar", "w") as tar:
        for name, colour in (("b.png", (4, 5, 6)), ("c.png", (7, 8, 9))):
            tar.add(picture(tmp_path / name, colour), f"some/{name}")
            (tmp_path / name).unlink()
    data = CaptionedImages.of_data_set(tmp_path)
    images = sorted(data, key=lambda image: image.id)
    assert [(image.id, image.split) for image in images] == [("a.png", "train"), ("b.png", "val"), ("c.png", "test")]
    assert images[1].references == ("b.png said 0 .", "b.png said 1 .")
    assert [data.open(image).getpixel((0, 0)) for image in images] == [(1, 2, 3), (4, 5, 6), (7, 8, 9)]


def test_karpathy_file_goes_by_cocoid_and_restval_is_for_training(tmp_path: Path) -> None:
    picture(tmp_path / "val2014" / "a.png")
    for path in (karpathy(tmp_path / "dataset_coco.json"), tmp_path):
        [image] = CaptionedImages.of_data_set(path)
        assert (image.id, image.split, image.references) == ("7", "train", ("one", "two"))


def test_coco_folder(tmp_path: Path) -> None:
    for split, number in (("train", 1), ("val", 2)):
        file = f"{number:012}.png"
        picture(tmp_path / f"{split}2017" / file)
        annotations = {
            "images": [{"id": number, "file_name": file}],
            "annotations": [{"image_id": number, "caption": f"{split} {i}"} for i in range(2)],
        }
        (tmp_path / "annotations").mkdir(exist_ok=True)
        (tmp_path / "annotations" / f"captions_{split}2017.json").write_text(json.dumps(annotations))
    data = CaptionedImages.of_data_set(tmp_path)
    assert Counter(image.split for image in data) == {"train": 1, "val": 1}
    assert data.split("val").references() == {"2": ["val 0", "val 1"]}


def test_objects_of_coco_lie_beside_its_captions(tmp_path: Path) -> None:
    """Of a Karpathy file too, whose images go by COCO's ids; labels that the file has itself come first."""
    boxes = [(7, 1), (7, 1), (7, 2), (8, 2)]
    instances = {
        "images": [{"id": 7}, {"id": 8}, {"id": 9}],
        "categories": [{"id": 1, "name": "dog"}, {"id": 2, "name": "ball"}],
        "annotations": [{"id": n, "image_id": image, "category_id": c} for n, (image, c) in enumerate(boxes)],
    }
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations" / "instances_val2014.json").write_text(json.dumps(instances))
    picture(tmp_path / "val2014" / "a.png")
    path = karpathy(tmp_path / "dataset_coco.json")
    for place in (path, tmp_path):
        [image] = CaptionedImages.of_data_set(place)
        assert sorted(image.objects) == ["ball", "dog", "dog"]
    [image] = CaptionedImages.of_data_set(karpathy(path, objects=["own"]))
    assert image.objects == ("own",)
    [image] = CaptionedImages.of_data_set(karpathy(path, cocoid=9))
    assert image.objects == ()
    path.unlink()
    captions = {"images": [{"id": 8, "file_name": "a.png"}], "annotations": [{"image_id": 8, "caption": "a ball"}]}
    (tmp_path / "annotations" / "captions_val2014.json").write_text(json.dumps(captions))
    [image] = CaptionedImages.of_data_set(tmp_path)
    assert image.objects == ("ball",)


def test_missing_images_are_an_error_that_counts_them_or_left_out(tmp_path: Path) -> None:
    flickr(tmp_path)
    picture(tmp_path / "a.png")
    with pytest.raises(DataError, match=r"no file for 2 images \(b.png, c.png\) of 3 \(1 of val, 1 of test\); .*skip"):
        CaptionedImages.of_data_set(tmp_path)
    data = CaptionedImages.of_data_set(tmp_path, on_missing="skip")
    assert Counter(image.split for image in data) == {"train": 1}
    with pytest.raises(UsageError, match=r"no image is in the split 'test'; .* are train \(1 images\)"):
        data.split("test")
    (tmp_path / "a.png").unlink()
    with pytest.raises(DataError, match="put their folder or tar file there"):
        CaptionedImages.of_data_set(tmp_path, on_missing="skip")


def test_checksum_follows_captions_and_splits(tmp_path: Path) -> None:
    picture(tmp_path / "a.png")
    sums = set()
    for change in ({}, {"split": "val"}, {"sentences": [{"raw": "one"}]}, {}):
        sums.add(CaptionedImages.of_data_set(karpathy(tmp_path / "dataset.json", **change)).checksum)
    assert len(sums) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentences": "one"}, 'row 1 of "images" must have "sentences"'),
        ({"filename": 3}, r'1 image \(7\) without a "filename", which is a text'),
        ({"split": None}, "or without a split"),
    ],
)
def test_broken_karpathy_rows(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        CaptionedImages.of_data_set(karpathy(tmp_path / "dataset.json", **change))


def test_what_is_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        CaptionedImages.of_data_set(tmp_path / "nothing")
    with pytest.raises(DataError, match="holds no captioned images; a folder has dataset"):
        CaptionedImages.of_data_set(tmp_path)
    (tmp_path / "dataset.json").write_text("[]")
    with pytest.raises(DataError, match="is not of format karpathy"):
        CaptionedImages.of_data_set(tmp_path)
    (tmp_path / "dataset.json").write_text("{")
    with pytest.raises(DataError, match="the JSON ends early"):
        CaptionedImages.of_data_set(tmp_path)
    karpathy(tmp_path / "dataset_b.json")
    with pytest.raises(DataError, match=r"several split files \(dataset.json, dataset_b.json\); name one"):
        CaptionedImages.of_data_set(tmp_path)


def test_a_broken_tar_two_files_of_one_name_and_a_broken_image(tmp_path: Path) -> None:
    dataset = karpathy(tmp_path / "dataset.json")
    picture(tmp_path / "x" / "a.png")
    picture(tmp_path / "y" / "a.png")
    with pytest.raises(DataError, match="two files are called a.png: .*remove one"):
        CaptionedImages.of_data_set(dataset)
    (tmp_path / "y" / "a.png").unlink()
    (tmp_path / "x" / "a.png").write_bytes(b"no picture")
    data = CaptionedImages.of_data_set(dataset)
    with pytest.raises(DataError, match=r"x/a\.png: cannot be read"):
        data.open(data[0])
    (tmp_path / "images.tar").write_bytes(b"no tar file" * 100)
    with pytest.raises(DataError, match="broken tar file"):
        CaptionedImages.of_data_set(dataset)


def test_flickr8k_as_it_is_released(shared: Path) -> None:
    folder = shared / "data" / "flickr8k"
    with pytest.raises(DataError, match=r"no file for 1,000 images .* of 8,000 \(1,000 of test\)"):
        CaptionedImages.of_data_set(folder)
    data = CaptionedImages.of_data_set(folder, on_missing="skip")
    assert Counter(image.split for image in data) == {"train": 6000, "val": 1000}
    assert data.open(data[0]).size == (128, 128)
    assert all(len(image.references) == 5 for image in data)
