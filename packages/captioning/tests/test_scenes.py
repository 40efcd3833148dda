"""The made-up data set: drawn by code, the same for the same seed, readable as any other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacrecap.data import read_references
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.generation import caption_sets
from sacrecap_captioning.retrieval_model import train_retrieval
from sacrecap_captioning.scenes import COLOURS, SIDE, draw, make_scenes, write_scenes
from sacrecap_captioning.sweep import run_sweep
from sacrecap_captioning.training import train


def test_scenes_depend_on_seed_and_number_alone() -> None:
    few, many = make_scenes(20, seed=3), make_scenes(40, seed=3)
    assert many[:20] == few
    assert make_scenes(20, seed=4) != few


def test_splits_are_eight_one_one() -> None:
    splits = [one.split for one in make_scenes(50)]
    assert {split: splits.count(split) for split in splits} == {"train": 40, "val": 5, "test": 5}


def test_captions_are_varied_and_name_what_is_there() -> None:
    described = make_scenes(200)
    texts = [text for one in described for text in one.captions]
    assert len(set(texts)) > 0.9 * len(texts)
    words = {word for text in texts for word in text.split()}
    assert 85 < len(words) < 130
    for one in described:
        colours = {word for shape in one.scene.shapes for word in COLOURS[shape.colour][1]}
        others = {word for _, names in COLOURS.values() for word in names} - colours
        assert not any(set(text.split()) & others for text in one.captions)


def test_shapes_are_drawn_where_the_scene_says() -> None:
    for one in make_scenes(50):
        pixels = np.asarray(draw(one.scene))
        assert pixels.shape == (SIDE, SIDE, 3)
        for shape in one.scene.shapes:
            if shape.kind != "ring":
                assert tuple(pixels[shape.y, shape.x]) == COLOURS[shape.colour][0]


def test_the_folder_reads_as_captioned_images_and_as_references(tmp_path: Path) -> None:
    done: list[int] = []
    write_scenes(tmp_path, 20, seed=1, captions=3, progress=done.append)
    assert done[-1] == 20
    data = CaptionedImages.of_data_set(tmp_path)
    assert Counter(image.split for image in data) == {"train": 16, "val": 2, "test": 2}
    described = make_scenes(20, seed=1, captions=3)
    assert [image.references for image in data] == [one.captions for one in described]
    assert data[0].objects == tuple(shape.kind for shape in described[0].scene.shapes)
    assert data.open(data[5]).tobytes() == draw(described[5].scene).tobytes()
    assert read_references(tmp_path / "dataset.json", split="test").to_dict() == data.split("test").references()


def test_a_smaller_set_replaces_a_larger_one(tmp_path: Path) -> None:
    write_scenes(tmp_path, 20)
    write_scenes(tmp_path, 10, seed=2)
    assert len(CaptionedImages.of_data_set(tmp_path)) == 10


def test_scenes_of_one_shape_are_named_alike() -> None:
    one = make_scenes(40, seed=3, shapes=1)
    assert {len(each.scene.shapes) for each in one} == {1}
    assert [each.split for each in one] == [each.split for each in make_scenes(40, seed=3)]
    with pytest.raises(UsageError, match="1 to 3, got 4"):
        make_scenes(40, shapes=4)


def test_too_few_images_and_a_place_that_is_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="10 images and 1 caption per image at least, got 9 and 5"):
        make_scenes(9)
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be made: .*choose another place"):
        write_scenes(tmp_path / "file", 10)


@pytest.mark.parametrize("function", [caption_sets, run_sweep, train, train_retrieval, write_scenes])
def test_no_progress_is_none(function: Callable[..., Any], tmp_path: Path) -> None:
    assert signature(function).parameters["progress"].default is None
    if function is write_scenes:
        write_scenes(tmp_path, 10, progress=None)
        assert len(list((tmp_path / "images").iterdir())) == 10
