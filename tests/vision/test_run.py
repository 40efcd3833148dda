"""Runs over many images: batches, interruptions, corrupt images."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sacrecap.data import read_objects
from sacrecap.errors import DataError, DataWarning, UsageError
from sacrecap.vision import Detection, detect_images, find_images
from sacrecap.vision.image_folder import open_image


class Widths:
    """Finds as many dogs as the image is tens of pixels wide, and stops when it is told to."""

    name = "widths"
    labels = ("dog", "cat")
    threshold = 0.6

    def __init__(self, stop_after: int = 100) -> None:
        self.left = stop_after
        self.batches: list[int] = []

    def detect(self, images: Sequence[Image.Image]) -> list[list[Detection]]:
        self.batches.append(len(images))
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        dog, cat = Detection("dog", 0.6, (0.123, 0, 1, 1)), Detection("cat", 0.59, (0, 0, 1, 1))
        return [[*[dog] * (image.width // 10), cat] for image in images]


WHOLE = {f"scene_{number:04}.png": {"dog": 6 + 2 * number} for number in range(5)}


@pytest.mark.parametrize("batch", [1, 2, 5, 8])
def test_batches_do_not_matter(images: Path, tmp_path: Path, batch: int) -> None:
    output, seen = tmp_path / "objects.json", list[int]()
    detector = Widths()
    assert detect_images(detector, find_images(images), output, batch=batch, progress=seen.append) == 5
    assert read_objects(output) == WHOLE
    assert max(detector.batches) <= batch
    assert seen[-1] == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["images", "objects.json"]
    assert json.loads(output.read_text())[0]["detections"][0] == {"label": "dog", "score": 0.6, "box": [0.12, 0, 1, 1]}


def test_an_interrupted_run_goes_on(images: Path, tmp_path: Path) -> None:
    output = tmp_path / "objects.json"
    with pytest.raises(KeyboardInterrupt):
        detect_images(Widths(stop_after=2), find_images(images), output, batch=2)
    assert not output.exists()
    detector = Widths()
    detect_images(detector, find_images(images), output, batch=2)
    assert detector.batches == [1]
    assert read_objects(output) == WHOLE


def test_what_is_kept_serves_any_threshold(images: Path, tmp_path: Path) -> None:
    output, detector = tmp_path / "objects.json", Widths()
    detect_images(detector, find_images(images), output)
    for threshold, labels in ((0.5, {"dog": 6, "cat": 1}), (0.6, {"dog": 6}), (0.7, {})):
        detect_images(detector, find_images(images), output, threshold=threshold)
        assert read_objects(output)["scene_0000.png"] == labels
    assert detector.batches == [5]
    detect_images(detector, find_images(images), output, threshold=0.01)
    assert detector.batches == [5, 5], "what was below was not kept"


def test_a_folder_with_other_weights_is_another_detector(images: Path, tmp_path: Path) -> None:
    output, detector = tmp_path / "objects.json", Widths()
    (folder := tmp_path / "checkpoint").mkdir()
    detector.name = str(folder)
    for content in ("a", "a", "bb"):
        if not (folder / "weights").exists() or (folder / "weights").read_text() != content:
            (folder / "weights").write_text(content)
        detect_images(detector, find_images(images), output)
    assert detector.batches == [5, 5]


@pytest.mark.parametrize("content", [b"", b"nonsense", "cut"])
def test_a_corrupt_image_is_an_error_or_left_out(images: Path, tmp_path: Path, content: bytes | str) -> None:
    output, broken = tmp_path / "objects.json", images / "scene_0002.png"
    broken.write_bytes(content if isinstance(content, bytes) else broken.read_bytes()[:60])
    with pytest.raises(
        DataError, match=r"scene_0002\.png: cannot be read: .*; repair or remove it, or give on_corrupt=\"skip\"$"
    ):
        detect_images(Widths(), find_images(images), output, batch=1)
    assert not output.exists()
    with pytest.warns(DataWarning, match=r"left out, because they cannot be read: 1 image \(scene_0002\.png\)"):
        assert detect_images(Widths(), find_images(images), output, on_corrupt="skip") == 4
    assert read_objects(output) == {image: labels for image, labels in WHOLE.items() if image != "scene_0002.png"}


def test_image_ids(images: Path) -> None:
    assert list(find_images(images, ids="stem"))[1] == "scene_0001"
    assert list(find_images(images, ids="number")) == ["0", "1", "2", "3", "4"]
    assert list(find_images(images / "scene_0003.png")) == ["scene_0003.png"]
    (images / "other_3.jpg").touch()
    with pytest.raises(DataError, match=r"other_3\.jpg and .*scene_0003\.png both have the image id '3'"):
        find_images(images, ids="number")
    (images / "none.jpg").touch()
    with pytest.raises(DataError, match="has no number in its name"):
        find_images(images, ids="number")


def test_folders_without_images(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no image; image files end in .jpg"):
        find_images(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        find_images(tmp_path / "none")
    with pytest.raises(UsageError, match="must be one of name, stem, number"):
        find_images(tmp_path, ids="hash")


def in_tar(folder: Path, target: Path) -> Path:
    with tarfile.open(target, "w") as tar:
        tar.add(folder, "inside")
    return target


def in_parquet(folder: Path, target: Path) -> Path:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"path": file.name, "bytes": file.read_bytes()} for file in sorted(folder.glob("*.png"))]
    table = pyarrow.table({"image": rows, "caption": ["a dog"] * len(rows)})
    parquet.write_table(table, target, row_group_size=2)
    return target


@pytest.mark.parametrize("pack", [in_tar, in_parquet])
def test_tar_and_parquet_files_are_read_without_unpacking(
    images: Path, tmp_path: Path, pack: Callable[[Path, Path], Path]
) -> None:
    """What is no image in a tar file is left alone."""
    packed = pack(images, tmp_path / f"packed.{pack.__name__[3:]}")
    assert detect_images(Widths(), find_images(packed), tmp_path / "objects.json", batch=2) == 5
    assert read_objects(tmp_path / "objects.json") == WHOLE


def test_several_places_and_folders_in_folders(images: Path, tmp_path: Path) -> None:
    (images / "more").mkdir()
    (images / "scene_0004.png").rename(images / "more" / "scene_0004.png")
    alone = (images / "scene_0000.png").rename(tmp_path / "scene_0000.png")
    assert sorted(find_images(images, alone)) == list(WHOLE)
    with pytest.raises(DataError, match=r"scene_0001\.png and .*scene_0001\.png both have the image id"):
        find_images(images, images)


def test_a_parquet_file_without_images(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"caption": ["a dog"]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: has no column of images, which are structs of bytes and path"):
        find_images(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"nonsense")
    with pytest.raises(DataError, match=r"b\.parquet: not a whole parquet file"):
        find_images(tmp_path / "b.parquet")


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "YCbCr", "I", "I;16", "F"])
def test_images_of_every_mode(tmp_path: Path, mode: str) -> None:
    """Grey of 16 bits is not cut at 255."""
    file = tmp_path / ("grey.tif" if mode in ("CMYK", "YCbCr", "F", "I") else "grey.png")
    if mode in ("I", "I;16"):
        Image.fromarray(np.full((3, 4), 0x8000, np.uint16 if mode == "I;16" else np.int32)).save(file)
    else:
        Image.new("RGB", (4, 3), (128, 128, 128)).convert(mode).save(file)
    opened = open_image(file)
    assert (opened.mode, opened.size) == ("RGB", (4, 3))
    if mode not in ("1", "P"):  # of which Pillow makes a pattern
        assert np.abs(np.asarray(opened).astype(int) - 128).max() <= 1


def test_an_image_that_would_not_fit_into_memory_is_an_error(images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(DataError, match="scene_0000.png: cannot be read: Image size"):
        open_image(images / "scene_0000.png")


def test_images_are_turned_as_the_camera_says(tmp_path: Path) -> None:
    image = Image.new("RGB", (40, 20))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "turned.jpg", exif=exif)
    assert open_image(tmp_path / "turned.jpg").size == (20, 40)


def test_a_file_that_cannot_be_read_is_left_out_like_a_corrupt_one(images: Path, tmp_path: Path) -> None:
    chosen, output = find_images(images), tmp_path / "objects.json"
    (images / "scene_0003.png").unlink()
    with pytest.raises(DataError, match=r"scene_0003\.png"):
        detect_images(Widths(), chosen, output)
    with pytest.warns(DataWarning, match=r"scene_0003\.png"):
        assert detect_images(Widths(), chosen, output, on_corrupt="skip") == 4
    assert read_objects(output) == {name: counts for name, counts in WHOLE.items() if name != "scene_0003.png"}
