"""Images in folders, tar and Parquet files: their ids and pixels."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, TypeVar

from sacrecap.data.cache import digest
from sacrecap.data.image_ids import key
from sacrecap.data.images import SUFFIXES, ByImage, ImageFile, ImageSource
from sacrecap.data.rows import whole
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError, MissingDependencyError, accepted_name

if TYPE_CHECKING:
    from PIL.Image import Image

    from sacrecap.data.cache import Cache

V = TypeVar("V")

IMAGE_IDS = ("name", "stem", "number")
"""How image ids come from file names: dog_007.jpg is ``dog_007.jpg``, ``dog_007`` or ``7``."""


def find_images(*places: PathLike, ids: str = "name") -> dict[str, ImageFile]:
    """Images by image id, in the order of the places, and of their names there.

    Args:
        *places: folders with their subfolders, tar files, Parquet files, or images.
        ids: one of `IMAGE_IDS`.

    Raises:
        DataError: a place does not exist, has no image, or two images have the same id.
        UsageError: no such way to form ids.
    """
    accepted_name("the way to form image ids", ids, IMAGE_IDS)
    images: dict[str, ImageFile] = {}
    for place in [os.fspath(place) for place in places]:
        if place.lower().endswith((".parquet", ".pq")):
            files = list(parquet_images(place))
        elif place.lower().endswith(SUFFIXES):
            with reading(place):
                os.stat(place)
            files = ByImage({place: place}).files()
        else:
            files = ImageSource.open(place).files()
        if not files:
            raise DataError(f"{place}: holds no image; image files end in {', '.join(SUFFIXES)}")
        for name, file in files:
            image = key(os.path.basename(name), "text" if ids == "name" else ids)
            if image is None:
                raise DataError(f"{file.name}: has no number in its name; form the ids from the name or stem")
            if image in images:
                both = f"{images[image].name} and {file.name} both have the image id {image!r}"
                raise DataError(f"{both}; rename one, or form the ids from the whole name")
            images[image] = file
    return images


def parquet_images(path: str) -> Iterator[tuple[str, ImageFile]]:
    """The images of a Parquet file as Hugging Face writes them, each bytes and path, by path or number of row."""
    with reading(path), whole("parquet", f"{path}: "):
        from pyarrow import parquet, types

        file = parquet.ParquetFile(path)
        columns = (field for field in file.schema_arrow if types.is_struct(field.type))
        column = next((field.name for field in columns if field.type.get_field_index("bytes") >= 0), None)
        if column is None:
            raise DataError(f"{path}: has no column of images, which are structs of bytes and path")

        @lru_cache(maxsize=1)
        def pictures(group: int) -> list[Any]:
            return file.read_row_group(group, columns=[f"{column}.bytes"]).column(0).to_pylist()  # type: ignore[no-any-return]

        def content(group: int, row: int) -> bytes:
            return (pictures(group)[row] or {}).get("bytes") or b""

        first = 0
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, columns=[f"{column}.path"]).column(0).to_pylist()
            for row, value in enumerate(rows):
                name = (value or {}).get("path") or str(first + row)
                yield name, ImageFile(f"{path}: {name}", _open=partial(content, group, row))
            first += len(rows)


def results_by_content(
    files: Mapping[str, ImageFile], cache: Cache[bytes, V], run: Callable[[list[Image]], Iterable[V]], *, at_once: int
) -> Iterator[dict[str, tuple[V | DataError, bytes]]]:
    """What `run` makes of each image, with the digest of its file; `at_once` images are open at the same time.

    Results are taken from the cache, and kept there. An image that cannot be read has its error.
    """
    from concurrent.futures import ThreadPoolExecutor

    def opened(file: tuple[bytes, str]) -> Image | DataError:
        try:
            return decoded(io.BytesIO(file[0]), file[1])
        except DataError as error:
            return error

    image_ids = iter(files)
    while chosen := list(islice(image_ids, at_once)):
        results: dict[str, tuple[V | DataError, bytes]] = {}
        digests: dict[str, bytes] = {}
        contents: dict[bytes, tuple[bytes, str]] = {}
        for image in chosen:
            try:
                content = files[image].read()
                digests[image] = digest(content)
                contents[digests[image]] = content, files[image].name
            except DataError as error:
                results[image] = error, b""
        known: dict[bytes, V | DataError] = {**cache.find(list(contents))}
        pictures: dict[bytes, Image] = {}
        rest = {file: content for file, content in contents.items() if file not in known}
        # Pillow warns about unusual files. Warnings are switched off here, because doing so in threads is not safe.
        with warnings.catch_warnings(), ThreadPoolExecutor(os.cpu_count()) as pool:
            warnings.simplefilter("ignore")
            for file, picture in zip(rest, pool.map(opened, rest.values()), strict=True):
                if isinstance(picture, DataError):
                    known[file] = picture
                else:
                    pictures[file] = picture
        new = dict(zip(pictures, run(list(pictures.values())), strict=True))
        cache.keep(new)
        known |= new
        results |= {image: (known[file], file) for image, file in digests.items()}
        yield {image: results[image] for image in chosen}


def open_image(file: PathLike | IO[bytes], name: str | None = None) -> Image:
    """The whole image in RGB, rotated as its camera noted.

    Pillow warns about unusual files; these warnings are switched off, which is not safe in threads.

    Args:
        file: a path, or an open file.
        name: its name in messages; the path by default.

    Raises:
        DataError: it is corrupt, not an image, or too large.
        MissingDependencyError: Pillow is not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return decoded(file, name)


def decoded(file: PathLike | IO[bytes], name: str | None = None) -> Image:
    """Like `open_image`, with Pillow's warnings."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        raise MissingDependencyError("reading images", extra="detect") from None
    label = str(file) if name is None else name
    try:
        with reading(label), Image.open(file) as image:
            turned = ImageOps.exif_transpose(image)
            if turned.mode.startswith("I"):  # grey of 16 bits, of which Pillow would make everything above 255 white
                turned = turned.convert("I").point(lambda value: value * (1 / 256)).convert("L")
            return turned.convert("RGB")
    except DataError as error:
        if isinstance(error.__context__, UnidentifiedImageError):  # of which Pillow tells an address in memory
            raise DataError(f"{label}: cannot be read: no image of a known format") from None
        raise
    except (Image.DecompressionBombError, SyntaxError, EOFError, MemoryError, TypeError) as error:
        raise DataError(f"{label}: cannot be read: {error}") from None
