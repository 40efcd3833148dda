"""Images alone, to be captioned: folders, patterns, webdataset, Parquet."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from sacrecap.data.captioned import is_captioned
from sacrecap.errors import DataError
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.scenes import write_scenes


def picture(shade: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (shade, 0, 0)).save(file, "PNG")
    return file.getvalue()


def put(folder: Path, **names: int) -> Path:
    for name, shade in names.items():
        place = folder / (name.replace("__", "/") + ".png")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(picture(shade))
    return folder


def tar(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w") as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return path


def shades(images: CaptionedImages) -> dict[str, int]:
    """The shade of each image by its id, opened, and from its bytes."""
    found = {}
    for image in images:
        first: Any = images.open(image).getpixel((0, 0))
        second: Any = Image.open(io.BytesIO(images.read(image))).convert("RGB").getpixel((0, 0))
        assert first == second
        found[image.id] = first[0]
    return found


def test_a_folder_and_patterns(tmp_path: Path) -> None:
    put(tmp_path, b=2, a=1, deeper__c=3)
    (tmp_path / "notes.txt").write_text("no image")
    (tmp_path / "._a.png").write_text("of another system")
    assert shades(CaptionedImages.alone(tmp_path)) == {"a": 1, "b": 2, "c": 3}
    assert list(shades(CaptionedImages.alone(tmp_path))) == ["a", "b", "c"]
    assert shades(CaptionedImages.alone(f"{tmp_path}/*.png")) == {"a": 1, "b": 2}
    assert shades(CaptionedImages.alone(f"{tmp_path}/**/*.png")) == {"a": 1, "b": 2, "c": 3}
    assert shades(CaptionedImages.alone(tmp_path / "b.png")) == {"b": 2}


def test_images_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    put(tmp_path, x__a=1, y__a=2, b=3)
    assert shades(CaptionedImages.alone(tmp_path)) == {"x/a": 1, "y/a": 2, "b": 3}


def test_webdataset(tmp_path: Path) -> None:
    tar(tmp_path / "shard-0.tar", {"0001.png": picture(1), "0001.txt": b"a dog", "0002.png": picture(2)})
    tar(tmp_path / "shard-1.tar", {"0003.png": picture(3), "0003.json": b"{}"})
    expected = {"0001": 1, "0002": 2, "0003": 3}
    assert (
        shades(CaptionedImages.alone(tmp_path)) == shades(CaptionedImages.alone(f"{tmp_path}/shard-*.tar")) == expected
    )
    assert shades(CaptionedImages.alone(tmp_path / "shard-1.tar")) == {"0003": 3}


def test_parquet_with_bytes_or_paths(tmp_path: Path) -> None:
    put(tmp_path / "photos", a=1, b=2)
    as_bytes = [{"bytes": picture(shade), "path": None} for shade in range(5)]
    parquet.write_table(
        pa.table({"image_id": [10, 11, 12, 13, 14], "image": as_bytes}), tmp_path / "hub.parquet", row_group_size=2
    )
    assert shades(CaptionedImages.alone(tmp_path / "hub.parquet")) == {str(10 + shade): shade for shade in range(5)}
    parquet.write_table(pa.table({"key": ["x", "y"], "jpg": [picture(7), picture(8)]}), tmp_path / "plain.parquet")
    assert shades(CaptionedImages.alone(tmp_path / "plain.parquet")) == {"x": 7, "y": 8}
    parquet.write_table(pa.table({"path": ["photos/a.png", "photos/b.png"]}), tmp_path / "paths.parquet")
    assert shades(CaptionedImages.alone(tmp_path / "paths.parquet")) == {"photos/a.png": 1, "photos/b.png": 2}
    parquet.write_table(pa.table({"image": [picture(1)]}), tmp_path / "bare.parquet")
    assert shades(CaptionedImages.alone(tmp_path / "bare.parquet")) == {"00000000": 1}


def test_stamps_change_with_the_files(tmp_path: Path) -> None:
    [image] = images = CaptionedImages.alone(put(tmp_path, a=1))
    before = images.stamp(image)
    (tmp_path / "a.png").write_bytes(picture(2) + b"\0")
    assert images.stamp(image) != before


def test_data_sets_with_captions_are_read_as_such(tmp_path: Path) -> None:
    write_scenes(tmp_path / "scenes", images=10, seed=1)
    assert is_captioned(tmp_path / "scenes")
    assert not is_captioned(put(tmp_path / "photos", a=1))
    assert not is_captioned(tmp_path / "photos" / "a.png")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda place: place, "no images are there"),
        (lambda place: place / "*.jpg", "no images are there"),
        (lambda place: place / "missing", "is neither a folder nor a file of"),
        (lambda place: place / "missing.png", "missing.png"),
        (lambda place: place.joinpath("x.tar").write_text("no tar") and place / "x.tar", "broken tar file"),
        (lambda place: place.joinpath("x.parquet").write_text("no") and place / "x.parquet", "is not a Parquet file"),
    ],
)
def test_what_holds_no_images(make: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        CaptionedImages.alone(make(tmp_path))


def test_parquet_without_images(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"text": ["a dog"]}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="has no column of images .*it has text"):
        CaptionedImages.alone(tmp_path / "x.parquet")
    parquet.write_table(pa.table({"id": ["a", "a"], "image": [picture(1)] * 2}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="several images are called 1 image \\(a\\)"):
        CaptionedImages.alone(tmp_path / "x.parquet")
    parquet.write_table(pa.table({"id": ["a"], "image": pa.array([None], pa.binary())}), tmp_path / "x.parquet")
    [image] = images = CaptionedImages.alone(tmp_path / "x.parquet")
    with pytest.raises(DataError, match="row 0 has no image in image"):
        images.open(image)
