"""Folders of captioned images as references: the captions of a split, without the images."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sacrecap.data import read_references
from sacrecap.data.captioned import read_captioned
from sacrecap.errors import DataError, UsageError


def flickr(folder: Path) -> Path:
    names = ("a.jpg", "b.jpg", "c.jpg")
    lines = [f"{name}#{number}\t{name[0]} said {number}" for name in names for number in range(2)]
    (folder / "Flickr8k.token.txt").write_text("\n".join(lines) + "\n")
    for split, name in zip(("train", "dev", "test"), names, strict=True):
        (folder / f"Flickr_8k.{split}Images.txt").write_text(name + "\n")
    return folder


def karpathy(folder: Path) -> Path:
    rows = [
        {"filename": f"{split}.jpg", "split": split, "sentences": [{"raw": f"{split} {n}"} for n in range(2)]}
        for split in ("restval", "val", "test")
    ]
    (folder / "dataset.json").write_text(json.dumps({"images": rows}))
    return folder


def coco(folder: Path) -> Path:
    (folder / "annotations").mkdir()
    for number, split in enumerate(("train", "val")):
        annotations = [{"image_id": number, "caption": f"{split} {n}"} for n in range(2)]
        content = {"images": [{"id": number, "file_name": f"{number}.jpg"}], "annotations": annotations}
        (folder / "annotations" / f"captions_{split}2017.json").write_text(json.dumps(content))
    return folder


def test_the_split_of_each_form(tmp_path: Path) -> None:
    for make, split, expected in (
        (flickr, "test", {"c.jpg": ["c said 0", "c said 1"]}),
        (flickr, "val", {"b.jpg": ["b said 0", "b said 1"]}),  # the list is called dev
        (karpathy, "train", {"restval.jpg": ["restval 0", "restval 1"]}),
        (coco, "val", {"1": ["val 0", "val 1"]}),
    ):
        folder = tmp_path / f"{make.__name__}-{split}"
        folder.mkdir()
        read = read_references(make(folder), split=split)
        assert read.to_dict() == expected
        assert read.source == str(folder)


def test_the_only_split_need_not_be_named(tmp_path: Path) -> None:
    flickr(tmp_path)
    for name in ("train", "dev"):
        (tmp_path / f"Flickr_8k.{name}Images.txt").unlink()
    assert list(read_references(tmp_path).to_dict()) == ["c.jpg"]


def test_what_is_refused(tmp_path: Path) -> None:
    flickr(tmp_path)
    with pytest.raises(UsageError, match="the splits are val, test, train: choose by split of the readers in sac"):
        read_references(tmp_path)
    with pytest.raises(UsageError, match=r"no image is in the split 'tset'; .* test \(1 images\), train \(1 images\)$"):
        read_references(tmp_path, split="tset")
    with pytest.raises(UsageError, match="form is recognised; leave the format out$"):
        read_references(tmp_path, split="test", format="flickr")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="holds no captioned images; a folder has dataset"):
        read_captioned(empty)
