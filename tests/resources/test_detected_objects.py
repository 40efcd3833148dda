"""Objects that are found in the images of a call: the scores of `sacrecap detect`, kept results, broken pictures."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PIL import Image

import sacrecap
from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import DataError, MissingDependencyError, SacrecapWarning, UsageError
from sacrecap.report.score_page import page
from sacrecap.vision import Detection, detect_images, find_images
from sacrecap.vision.nanodet import NanoDet

CAPTIONS = {"a": "a dog with a frisbee", "b": "two cats", "c": "a bus"}
REFERENCES = {"a": ["a dog runs"], "b": ["cats"], "c": ["a red bus on a street"]}
FOUND = {
    20: [Detection("dog", 0.9, (0, 0, 9, 9)), Detection("frisbee", 0.3, (1, 1, 2, 2))],
    30: [Detection("cat", 0.8, (0, 0, 9, 9)), Detection("cat", 0.45, (0, 0, 5, 5))],
    40: [],
}
BY_HAND = {"a": ["dog"], "b": {"cat": 2}, "c": []}
ALONE = Corpus.without_references(
    _core.Captions.from_dict({image: [one] for image, one in CAPTIONS.items()}), tokenizer="ptb"
)
METRICS = ["vifidel(references=no)", "chair-i(gold=objects)", "chair-recall(gold=objects)"]


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three pictures, and a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "images"
    folder.mkdir()
    for name, width in zip("abc", FOUND, strict=True):
        Image.new("RGB", (width, 10), "white").save(folder / f"{name}.png")
    return folder


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The widths of the pictures that the detector was shown; it finds what `FOUND` says."""
    widths: list[int] = []

    def detect(_: NanoDet, pictures: Sequence[Image.Image]) -> list[list[Detection]]:
        widths.extend(picture.width for picture in pictures)
        return [FOUND[picture.width] for picture in pictures]

    monkeypatch.setattr(NanoDet, "detect", detect)
    return widths


def test_scores_are_those_of_the_objects_that_were_found(images: Path, looked: list[int]) -> None:
    given = sacrecap.score(ALONE, None, METRICS, objects=BY_HAND, interval=None)
    found = sacrecap.score(ALONE, None, METRICS, images=images, interval=None)
    assert {name: found[name].value for name in found} == {name: given[name].value for name in given}
    assert looked == [20, 30, 40]
    for name in found:
        assert "|detector:nanodet-g@.4|" in found[name].signature
        assert "detector:" not in given[name].signature
    lower = sacrecap.score(ALONE, None, METRICS, images=images, threshold=0.3, interval=None)
    assert lower["chair-i(gold=objects)"].value < found["chair-i(gold=objects)"].value
    assert "|detector:nanodet-g@.3|" in lower["chair-i(gold=objects)"].signature
    assert looked == [20, 30, 40]  # all detections are kept, whatever their score
    assert page(found).located == [FOUND[20][:1], FOUND[30], []]
    assert page(given).located == [(), (), ()]


def test_with_references_and_several_systems(images: Path, looked: list[int]) -> None:
    others = dict(zip(CAPTIONS, reversed(CAPTIONS.values()), strict=True))
    compared = sacrecap.compare(REFERENCES, {"one": CAPTIONS, "two": others}, ["vifidel", "chair-i"], images=images)
    for name, captions in {"one": CAPTIONS, "two": others}.items():
        given = sacrecap.score(REFERENCES, captions, ["vifidel", "chair-i"], objects=BY_HAND, interval=None)
        assert [compared[name][metric].value for metric in given] == [given[metric].value for metric in given]
    assert sorted(looked) == [20, 30, 40]


def test_metrics_that_need_no_objects_do_not_look(images: Path, looked: list[int]) -> None:
    sacrecap.score(REFERENCES, CAPTIONS, ["wmd", "chair-i(gold=references)"], images=images, interval=None)
    assert looked == []
    sacrecap.score(REFERENCES, CAPTIONS, ["wmd", "vifidel"], images=images, objects=BY_HAND, interval=None)
    assert looked == []


def test_what_was_found_is_kept_by_the_content_of_the_file(images: Path, looked: list[int]) -> None:
    for file in list(images.iterdir()):
        (images / f"copy_{file.name}").write_bytes(file.read_bytes())
    sacrecap.score(ALONE, None, METRICS[:1], images=images, interval=None)
    copies = {f"copy_{image}": [caption] for image, caption in CAPTIONS.items()}
    sacrecap.score(
        Corpus.without_references(_core.Captions.from_dict(copies), tokenizer="ptb"),
        None,
        METRICS[:1],
        images=images,
        interval=None,
    )
    assert looked == [20, 30, 40]


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_a_broken_picture_is_named_and_has_no_objects(images: Path, looked: list[int], content: bytes) -> None:
    (images / "b.png").write_bytes(content)
    with pytest.warns(
        SacrecapWarning, match=r"no objects were found in 1 image \(b\), which cannot be read: they count"
    ):
        found = sacrecap.score(ALONE, None, METRICS, images=images, interval=None)
    given = sacrecap.score(ALONE, None, METRICS, objects={**BY_HAND, "b": []}, interval=None)
    assert {name: found[name].value for name in found} == {name: given[name].value for name in given}


@pytest.mark.filterwarnings("ignore:CHAIR.* is left out:sacrecap.SacrecapWarning")
def test_pictures_that_are_not_there(images: Path, looked: list[int]) -> None:
    (images / "c.png").unlink()
    with pytest.raises(DataError, match=r"no file was found for 1 image \(c\)"):
        sacrecap.score(ALONE, None, METRICS, images=images)
    with pytest.raises(UsageError, match="loads no images from the network"):
        sacrecap.score(ALONE, None, METRICS, images="https://host/{image_id}.jpg")
    with pytest.warns(
        SacrecapWarning, match="VIFIDEL is left out of group fidelity: it needs the objects of each image"
    ):
        sacrecap.score(REFERENCES, CAPTIONS, ["fidelity"], images="https://host/{image_id}.jpg", interval=None)
    with pytest.raises(
        UsageError, match=r"VIFIDEL.* needs the objects of each image: give objects=FILE, or the images"
    ):
        sacrecap.score(ALONE, None, METRICS)


def test_the_file_of_detect_and_the_images_themselves_give_one_score(images: Path, tmp_path: Path) -> None:
    """With the detector itself."""
    for number, file in enumerate(sorted(images.iterdir())):
        Image.effect_mandelbrot((90 + number, 60), (-2, -1, 1, 1), 50).convert("RGB").save(file)
    detect_images(NanoDet(), find_images(images, ids="stem"), tmp_path / "objects.json", threshold=0.06)
    low = {"threshold": 0.07, "interval": None}
    of_file = sacrecap.score(ALONE, None, METRICS, objects=tmp_path / "objects.json", **low)
    pictures = {file.stem: Image.open(io.BytesIO(file.read_bytes())) for file in images.iterdir()}
    for source in (images, pictures):
        found = sacrecap.score(ALONE, None, METRICS, images=source, **low)
        assert {name: found[name].value for name in found} == {name: of_file[name].value for name in of_file}


@pytest.mark.filterwarnings("ignore:CHAIR.* is left out:sacrecap.SacrecapWarning")
def test_without_the_detector_a_group_leaves_out_what_needs_objects(
    images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sacrecap.resources.objects_of_images", "sacrecap.vision.nanodet"):
        monkeypatch.setattr(f"{module}.find_spec", lambda _: None)
    with pytest.warns(SacrecapWarning, match=r"VIFIDEL is left out of group fidelity: .*\(images=DIR, extra detect\)"):
        result = sacrecap.score(REFERENCES, CAPTIONS, ["fidelity"], images=images, interval=None)
    assert "vifidel" not in result
    with pytest.raises(MissingDependencyError, match=r"detecting objects needs the extra 'detect'"):
        sacrecap.score(REFERENCES, CAPTIONS, ["vifidel"], images=images)
