"""Images by id, and their small copies."""

from __future__ import annotations

import io
import pickle
import tarfile
import zlib
from pathlib import Path

import pytest
from PIL import Image

from sacrecap.data.images import ImageSource
from sacrecap.data.thumbnails import SIDE, thumbnail
from sacrecap.errors import DataError, UsageError


def picture(size: tuple[int, int] = (40, 30), form: str = "JPEG", colour: str = "red", **options: object) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", size, colour).save(content, form, **options)
    return content.getvalue()


NAMES = (
    "dog.jpg",
    "val2014/COCO_val2014_000000391895.jpg",
    "000000000042.PNG",
    "flickr/1000268201_693b08cb0e.jpg",
    "7.webp",
)


@pytest.fixture(params=["folder", "tar", "tar.gz"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> ImageSource:
    folder = tmp_path / "photos"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    (folder / "notes.txt").write_text("no image")
    (folder / "._000000000042.PNG").write_bytes(b"what macOS keeps beside a file of a foreign disk")
    if request.param == "folder":
        return ImageSource.open(folder)
    place = tmp_path / f"photos.{request.param}"
    with tarfile.open(place, "w:gz" if request.param.endswith("gz") else "w") as tar:
        tar.add(folder, arcname=".")
    return ImageSource.open(str(place))


FOUND = {
    "dog.jpg": NAMES[0],
    "dog": NAMES[0],
    "COCO_val2014_000000391895.jpg": NAMES[1],
    "COCO_val2014_000000391895": NAMES[1],
    "val2014/COCO_val2014_000000391895.jpg": NAMES[1],
    "val2014/COCO_val2014_000000391895": NAMES[1],
    "391895": NAMES[1],
    "000000391895.jpg": NAMES[1],
    "42": NAMES[2],
    "COCO_val2014_000000000042.jpg": NAMES[2],
    "1000268201_693b08cb0e.jpg": NAMES[3],
    "007": NAMES[4],
    "dog.png": NAMES[0],
    "cat": None,
    "1": None,
    "": None,
    "COCO_train2014_000000391895.jpg": None,
    "notes": None,
    "../dog": None,
}


def test_ids_find_files_by_name_stem_and_number(source: ImageSource) -> None:
    for image_id, name in FOUND.items():
        found = source.find(image_id)
        assert (found and found.read().decode()) == name, image_id
        assert found is None or found.address is None


def test_an_id_that_fits_several_files_finds_none(tmp_path: Path) -> None:
    for name in ("a/1.jpg", "b/1.jpg", "a/x.jpg", "a/x.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    source = ImageSource.open(tmp_path)
    assert [source.find(image) for image in ("1", "1.jpg", "x")] == [None, None, None]
    assert source.find("a/1.jpg") is not None
    assert source.find("x.png") is not None


def test_patterns_of_files(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "0007.jpg").write_bytes(b"seven")
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    source = ImageSource.open(f"{tmp_path}/photos/{{image_id:04}}.jpg")
    found = source.find("7")
    assert found is not None
    assert found.read() == b"seven"
    assert source.find("8") is None
    plain = ImageSource.open(f"{tmp_path}/photos/{{image_id}}.jpg")
    for hostile in ("../secret", f"{tmp_path}/secret", "x/../../secret", "a\0b", "..\\secret"):
        assert plain.find(hostile) is None


def test_addresses_are_for_browsers(tmp_path: Path) -> None:
    source = ImageSource.open("https://images.example.org/val/COCO_{image_id:012}.jpg")
    assert source.are_addresses
    found = source.find("391895")
    assert found is not None
    assert found.address == "https://images.example.org/val/COCO_000000391895.jpg"
    with pytest.raises(UsageError, match="loads nothing from the network"):
        found.read()
    odd = ImageSource.open("https://h.example/{image_id}.jpg").find('a"><b c?d#e')
    assert odd is not None
    assert odd.address == "https://h.example/a%22%3E%3Cb%20c%3Fd%23e.jpg"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere", "no such file"),
        ("nowhere/{image}.jpg", r"a pattern has \{image_id\}"),
        ("https://host/", r"a pattern has \{image_id\}"),
        ("ftp://host/{image_id}", "begin with https://"),
        ("https://{image_id}/x.jpg", "after the name of the host"),
        ("https://a b;c/{image_id}.jpg", "after the name of the host"),
        ("file.txt", "images are in a folder, a tar file"),
    ],
)
def test_what_is_no_source(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file.txt").write_text("captions")
    with pytest.raises((DataError, UsageError), match=message):
        ImageSource.open(text)


def test_none_found_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "cat.jpg").write_bytes(b"")
    with pytest.raises(
        DataError, match=r"any of the 2 images; looked for '12' as file name, .* among 1 image files, such as 'cat.jpg'"
    ):
        ImageSource.open(tmp_path).find_all(["12", "13"])
    with pytest.raises(DataError, match="looked for '.*/12.png'"):
        ImageSource.open(f"{tmp_path}/{{image_id}}.png").find_all(["12", "13"])
    assert list(ImageSource.open(tmp_path).find_all(["12", "cat"])) == ["cat"]


def test_hostile_tar_files(tmp_path: Path) -> None:
    place = tmp_path / "links.tar"
    with tarfile.open(place, "w") as tar:
        link = tarfile.TarInfo("passwd.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        hard = tarfile.TarInfo("hard.jpg")
        hard.type, hard.linkname = tarfile.LNKTYPE, "../../etc/passwd"
        tar.addfile(hard)
        good = tarfile.TarInfo("../up.jpg")
        good.size = 2
        tar.addfile(good, io.BytesIO(b"ok"))
    source = ImageSource.open(place)
    assert (source.find("passwd"), source.find("hard")) == (None, None)
    assert (found := source.find("up.jpg"))
    assert found.read() == b"ok"
    cut = tmp_path / "cut.tar"
    with tarfile.open(cut, "w") as tar:
        large = tarfile.TarInfo("large.jpg")
        large.size = 5000
        tar.addfile(large, io.BytesIO(b"x" * 5000))
    cut.write_bytes(cut.read_bytes()[:2000])
    with pytest.raises(DataError, match=r"cut\.tar"):
        _ = [file.read() for file in ImageSource.open(cut).find_all(["large"]).values()]


def test_huge_files_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.jpg").open("wb") as file:
        file.truncate(65 * 2**20)
    found = ImageSource.open(tmp_path).find("huge")
    assert found is not None
    with pytest.raises(DataError, match="65 MB; images are read up to 64 MB"):
        found.read()


# Thumbnails


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
@pytest.mark.parametrize(
    ("size", "small"), [((1000, 500), (SIDE, SIDE // 2)), ((40, 30), (40, 30)), ((9, 900), (3, SIDE))]
)
def test_thumbnails_keep_their_shape(form: str, size: tuple[int, int], small: tuple[int, int]) -> None:
    made = Image.open(io.BytesIO(thumbnail(picture(size, form), "x")))
    assert made.format == "WEBP"
    assert made.size == small
    red, green, blue = made.convert("RGB").getpixel((made.width // 2, made.height // 2))  # type: ignore[misc]
    assert (red > 230, green < 25, blue < 25) == (True, True, True)


def test_cameras_turn_and_nothing_of_theirs_stays() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "a maker of cameras"
    content = picture((60, 20), exif=exif)
    assert b"a maker" in content
    small = thumbnail(content, "x")
    assert Image.open(io.BytesIO(small)).size == (20, 60)
    assert b"a maker" not in small


def test_transparent_parts_are_white() -> None:
    content = io.BytesIO()
    Image.new("RGBA", (20, 20), (0, 0, 0, 0)).save(content, "PNG")
    pixel = Image.open(io.BytesIO(thumbnail(content.getvalue(), "x"))).convert("RGB").getpixel((10, 10))
    assert min(pixel) > 250  # type: ignore[type-var, arg-type]


def bomb() -> bytes:
    """A PNG of 60,000 × 60,000 pixels in a few bytes."""
    header = b"IHDR" + (60_000).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    chunks = [header, b"IDAT" + zlib.compress(bytes(1000)), b"IEND"]
    parts = [(len(c) - 4).to_bytes(4, "big") + c + zlib.crc32(c).to_bytes(4, "big") for c in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GIF89a",
        b"<svg onload='alert(1)'/>",
        picture()[:200],
        picture(form="PNG")[:-30],
        bomb(),
        b"\xff\xd8" + bytes(500),
    ],
    ids=["empty", "head", "svg", "cut JPEG", "cut PNG", "bomb", "noise"],
)
def test_broken_images_are_named(content: bytes) -> None:
    with pytest.raises(DataError, match=r"^photo 7: "):
        thumbnail(content, "photo 7")


def test_the_same_image_gives_the_same_bytes() -> None:
    content = picture((500, 400))
    assert thumbnail(content, "x") == thumbnail(content, "y")


def test_a_folder_and_a_tar_list_the_ids_of_their_images(tmp_path: Path) -> None:
    for name in ("b.jpg", "below/a.png", "below/notes.txt"):
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / name).write_bytes(b"x")
    with tarfile.open(tmp_path / "photos.tar", "w") as tar:
        tar.add(tmp_path / "photos", "photos")
    for place in ("photos", "photos.tar"):
        assert sorted(ImageSource.open(tmp_path / place).image_ids()) == ["a", "b"]
    with pytest.raises(UsageError, match="a pattern does not say which images there are"):
        ImageSource.open(f"{tmp_path}/{{image_id}}.jpg").image_ids()


def test_a_folder_of_images_goes_to_another_process(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"a picture")
    source = pickle.loads(pickle.dumps(ImageSource.open(tmp_path)))
    assert source.find("a").read() == b"a picture"
