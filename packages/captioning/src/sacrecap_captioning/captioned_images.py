"""Captioned images: the usual folders, read into one form.

    data = CaptionedImages.of_data_set("flickr8k")
    train = data.split("train")
    train[0].references, train.open(train[0])

The forms are those of `sacrecap.data.captioned`. Files of images lie in any folder below, or in tar files. Images
without captions are found wherever `CaptionedImages.alone` looks.

Features that were computed elsewhere are `.npz` files:

    np.savez("clip.npz", ids=ids, pooled=vectors, grid=regions)     # (N,), (N, D), (N, R, D)
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
import os
import tarfile
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from sacrecap.data.captioned import CaptionedImage, is_captioned, of_split, read_captioned
from sacrecap.data.source import reading
from sacrecap.errors import DataError, accepted_name, of_extra, some
from sacrecap.vision.image_folder import open_image
from sacrecap_captioning.settings import PathLike, Progress, Settings

if TYPE_CHECKING:
    from PIL.Image import Image

_IDS = ("image_id", "id", "key", "__key__", "filename", "file_name", "path")
"""Columns of Parquet files that name an image, the first that is there."""
_IMAGES = ("image", "jpg", "jpeg", "png", "webp", "bytes", "img", "image_path", "path", "file_name", "filename")
"""Columns that hold an image, or where it lies."""
_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".tar", ".parquet")


class _Place(NamedTuple):
    """The place of an image: a file, or part of a tar or Parquet file."""

    name: str
    """The path of its file, or its id."""
    stem: str
    """That name without folder and suffix, or its id."""
    file: str
    read: Callable[[], bytes]
    part: str = ""
    """The part of the file that is the image; empty for the whole of it."""


def _part(file: str, start: int = 0, size: int = -1) -> bytes:
    with reading(file), open(file, "rb") as opened:
        opened.seek(start)
        return opened.read(size)


def _of_parquet(path: str) -> Iterator[_Place]:
    """The images of a Parquet file, of which the last group of rows that was read stays in memory.

    Their ids are the numbers of rows where no column has some.
    """
    with of_extra("parquet", f"reading {path}"):
        from pyarrow import parquet
    with reading(path):
        try:
            file = parquet.ParquetFile(path)
        except (ValueError, OSError) as error:
            raise DataError(f"{path}: is not a Parquet file, or broken ({error})") from None
    names = file.schema_arrow.names
    column = next((name for name in _IMAGES if name in names), None)
    if column is None:
        raise DataError(f"{path}: has no column of images ({', '.join(_IMAGES)}); it has {', '.join(names)}")
    lock = threading.Lock()

    @lru_cache(maxsize=1)
    def values(group: int, column: str) -> list[Any]:
        return list(file.read_row_group(group, columns=[column]).column(0).to_pylist())

    def read(group: int, place: int, row: int) -> bytes:
        with lock:
            value = values(group, column)[place]
        content, image = (value.get("bytes"), value.get("path")) if isinstance(value, dict) else (value, value)
        if isinstance(content, bytes):
            return content
        if not isinstance(image, str):
            raise DataError(f"{path}: row {row} has no image in {column}: neither bytes nor a path")
        return _part(os.path.join(os.path.dirname(path), image))

    ids, row = next((name for name in _IDS if name in names), None), 0
    for group in range(file.num_row_groups):
        rows = range(row, row + file.metadata.row_group(group).num_rows)
        for place, name in enumerate([f"{row:08}" for row in rows] if ids is None else map(str, values(group, ids))):
            yield _Place(name, name, path, partial(read, group, place, rows[place]), f"row {rows[place]}")
        row = rows.stop


def files_below(folder: Path, names_sought: Collection[str]) -> dict[str, _Place]:
    """The files below a folder that have wanted names: in folders at any depth, or in tar files.

    Raises `DataError` if a tar file is broken, or two files have the same wanted name.
    """
    places: dict[str, _Place] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            if name in names_sought or name.endswith(".tar"):
                for place in _inside(os.path.join(parent, name), parent):
                    base = os.path.basename(place.name)
                    if base in names_sought and (first := places.setdefault(base, place)) is not place:
                        raise DataError(f"two files are called {base}: {first.file} and {place.file}; remove one")
    return places


def _inside(file: str, base: str) -> Iterator[_Place]:
    """The images of a file, which is one, or a tar file or a Parquet file of several."""
    with reading(file):
        os.stat(file)
    if file.lower().endswith(".parquet"):
        yield from _of_parquet(file)
    elif file.lower().endswith(".tar"):
        try:
            with reading(file), tarfile.open(file) as tar:
                for member in tar:
                    if member.isreg() and _has_images(member.name):
                        part = (member.offset_data, member.size)
                        yield _Place(member.name, _stem(member.name), file, partial(_part, file, *part), str(part))
        except tarfile.TarError as error:
            raise DataError(f"{file}: broken tar file ({error}); copy or download it again") from None
    else:
        yield _Place(os.path.relpath(file, base or "."), _stem(file), file, partial(_part, file))


def _stem(name: str) -> str:
    return os.path.splitext(os.path.basename(name))[0]


def _has_images(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES) and not os.path.basename(name).startswith(".")


SUFFIX = ".npz"
_OTHER_SUFFIXES = tuple(".npy .safetensors .pt .pth .bin .h5 .hdf5 .pkl .tsv .csv .json .zip .tar".split())
_PARTS = ("pooled", "grid")
_LAYOUT = "np.savez(FILE, ids=…, pooled=…, grid=…) makes it: ids (N,), with pooled (N, D), grid (N, R, D) or both"
FloatArray: TypeAlias = npt.NDArray[np.float32]


class FeatureFile:
    """The vectors of images in a file, which is read as a whole: its `path`, `ids`, and `feature`, D, their size."""

    def __init__(self, path: PathLike) -> None:
        """Raises `DataError` if it cannot be read, or has another form; the message says which form is accepted."""
        self.path = os.fspath(path)
        if not self.path.endswith(SUFFIX):
            raise DataError(f"{self.path}: is not a file of features; these are called {SUFFIX}: {_LAYOUT}")
        with reading(path):
            try:
                with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
                    self._parts: dict[str, npt.NDArray[Any]] = dict(arrays)
            except (zipfile.BadZipFile, ValueError, EOFError, TypeError, AttributeError) as error:
                raise DataError(
                    f"{self.path}: is not an .npz file, or damaged ({error}); write it with np.savez"
                ) from None
        ids, arrays = self._parts.pop("ids", None), self._parts
        if ids is None or not ids.size:
            raise DataError(f"{self.path}: holds no ids; {_LAYOUT}")
        if ids.dtype.kind not in "iuU" or ids.ndim != 1:
            raise DataError(
                f"{self.path}: ids must be a list of strings or whole numbers, and is of another type; "
                "ids=np.array(ids, dtype=str)"
            )
        self.ids = tuple(map(str, ids.tolist()))
        if twice := [image for image, count in Counter(self.ids).items() if count > 1]:
            raise DataError(f"{self.path}: has {some(twice)} twice; give each once")
        self._numbers = {image: number for number, image in enumerate(self.ids)}
        if not arrays or not arrays.keys() <= set(_PARTS):
            raise DataError(f"{self.path}: holds ids, {', '.join(arrays) or 'and nothing else'}; {_LAYOUT}")
        for name, array in arrays.items():
            if array.dtype.kind != "f" or array.ndim != _PARTS.index(name) + 2 or not array.size:
                kind = "floats" if array.dtype.kind == "f" else "other values than floats"
                raise DataError(f"{self.path}: {name} is {array.shape} of {kind}; {_LAYOUT}")
            if len(array) != len(self.ids):
                raise DataError(f"{self.path}: {name} has {len(array):,} rows for {len(self.ids):,} ids")
        sizes = [array.shape[-1] for array in arrays.values()]
        if len(set(sizes)) > 1:
            raise DataError(
                f"{self.path}: {' and '.join(arrays)} have vectors of {' and '.join(map(str, sizes))} numbers; "
                "captioners take vectors of one size: leave one of the two out"
            )
        self.feature = int(sizes[0])

    def __contains__(self, image: str) -> bool:
        return image in self._numbers

    def rows(self, images: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """(B, D) vectors and (B, R, D) regions of these images.

        An image without its own vector gets the mean of its regions; one without regions gets its vector as the only
        region.

        Raises:
            DataError: a number is infinite or none; the message says of which image.
        """
        numbers = [self._numbers[image] for image in images]
        parts = {name: np.asarray(array[numbers], np.float32) for name, array in self._parts.items()}
        for part in parts.values():
            whole = np.isfinite(part.reshape(len(images), -1)).all(1)
            if not whole.all():
                raise DataError(
                    f"{self.path}: the features of {images[int(np.argmin(whole))]!r} have numbers that are infinite or "
                    "none (NaN); compute them again"
                )
        pooled = parts["pooled"] if "pooled" in parts else parts["grid"].mean(1)
        return pooled, parts.get("grid", pooled[:, None])


def is_feature_file(place: PathLike) -> bool:
    """Whether this names a file, not a folder: it exists as a file, or does not exist and has the suffix of a data
    file.

    Suffixes of other formats count too, although `FeatureFile` refuses them: nobody wants a folder with such a name.
    """
    return os.path.isfile(place) or (
        not os.path.isdir(place) and os.fspath(place).lower().endswith((SUFFIX, *_OTHER_SUFFIXES))
    )


class CaptionedImages(Sequence[CaptionedImage]):
    """Captioned images in the order of their data set, and the files of their pixels."""

    def __init__(self, images: Iterable[CaptionedImage], files: dict[str, _Place] | None) -> None:
        """Without `files` the images cannot be opened."""
        self._images = tuple(images)
        self.files = files

    @classmethod
    def of_data_set(
        cls, path: PathLike, *, on_missing: str = "error", features: FeatureFile | None = None
    ) -> CaptionedImages:
        """Reads a data set, by its folder or its Karpathy split file; `on_missing` is what an image without a file is,
        `error`, or `skip`; features replace the files of images, which are then not needed.

        Raises:
            DataError: no data set is recognised there, it is broken, or images have no file, or no features.
            UsageError: no such way to treat missing images.
        """
        accepted_name("what to do about missing images", on_missing, ("error", "skip"))
        images = read_captioned(path)
        if features is not None:
            present, files = {image.id for image in images if image.id in features}, None
        else:
            folder = Path(path) if os.path.isdir(path) else Path(path).parent
            files = files_below(folder, {image.file for image in images})
            present = {image.id for image in images if image.file in files}
        missing = [image for image in images if image.id not in present]
        if missing and (on_missing == "error" or len(missing) == len(images)):
            splits = dict.fromkeys(image.split for image in missing)
            counts = ", ".join(f"{sum(image.split == split for image in missing):,} of {split}" for split in splits)
            if features is not None:
                raise DataError(
                    f"{features.path}: no features of {some([image.id for image in missing])} of {len(images):,} in "
                    f"{os.fspath(path)} ({counts}); features there are of {some(features.ids)}; compute those that are "
                    "missing, or leave these images out (--on-missing skip)"
                )
            remedy = "put them there, or leave these images out (--on-missing skip)"
            if len(missing) == len(images):
                remedy = "put their folder or tar file there"
            raise DataError(
                f"{os.fspath(path)}: no file for {some([image.file for image in missing])} of {len(images):,} "
                f"({counts}); {remedy}"
            )
        return cls((image for image in images if image.id in present), files)

    @classmethod
    def alone(cls, what: PathLike, split: str = "test") -> CaptionedImages:
        """The images of a folder and its subfolders, of names with `*`, of tar files, or of a Parquet file.

        The id of an image is the name of its file without suffix, or what a Parquet file's column of ids says. Where
        two have the same name, the ids are the names with their folders.

        Raises:
            DataError: there is no image, a file is broken, or two images have one id.
            MissingDependencyError: a Parquet file needs pyarrow.
        """
        text = os.fspath(what)
        if os.path.isdir(text):
            paths = (os.path.join(folder, name) for folder, _, names in os.walk(text) for name in names)
            files, base = sorted(filter(_has_images, paths)), text
        elif os.path.exists(text) or not glob.has_magic(text):
            files, base = [text], os.path.dirname(text)
            if not _has_images(text):
                raise DataError(
                    f"{text}: is neither a folder nor a file of {', '.join(_SUFFIXES)}, and no data set with captions"
                )
        else:
            files, base = sorted(filter(_has_images, glob.glob(text, recursive=True))), ""
        places = [place for file in files for place in _inside(file, base)]
        if not places:
            raise DataError(
                f"{text}: no images are there; images are a folder, names such as 'photos/*.jpg', tar files of "
                "webdataset, or Parquet files"
            )
        stems = Counter(place.stem for place in places)
        ids = [place.stem if stems[place.stem] == 1 else os.path.splitext(place.name)[0] for place in places]
        if twice := [image for image, count in Counter(ids).items() if count > 1]:
            raise DataError(f"{text}: several images are called {some(twice)}; give them names of their own")
        return cls((CaptionedImage(image, image, split, ()) for image in ids), dict(zip(ids, places, strict=True)))

    @overload
    def __getitem__(self, number: int) -> CaptionedImage: ...
    @overload
    def __getitem__(self, number: slice) -> CaptionedImages: ...
    def __getitem__(self, number: int | slice) -> CaptionedImage | CaptionedImages:
        chosen = self._images[number]
        return CaptionedImages(chosen, self.files) if isinstance(chosen, tuple) else chosen

    def __len__(self) -> int:
        return len(self._images)

    def split(self, name: str) -> CaptionedImages:
        """The images of a split. Raises `UsageError` if none is in it, and says which splits there are."""
        return CaptionedImages(of_split(self, name), self.files)

    def first(self, number: int | None) -> CaptionedImages:
        """At most this many images of each split, in their order; all of them for None."""
        if number is None:
            return self
        chosen: dict[str, list[CaptionedImage]] = {}
        for image in self:
            chosen.setdefault(image.split, []).append(image)
        first = {image.id for images in chosen.values() for image in images[:number]}
        return CaptionedImages((image for image in self if image.id in first), self.files)

    def _place(self, image: CaptionedImage) -> _Place:
        if self.files is None:
            raise DataError(f"{image.id}: of these images the features are known alone, and their files not looked for")
        return self.files[image.file]

    def read(self, image: CaptionedImage) -> bytes:
        """The bytes of its file. Raises `DataError` if it cannot be read, or only its features are known."""
        return self._place(image).read()

    def open(self, image: CaptionedImage) -> Image:
        """The whole image in RGB. Raises as `read`, and `MissingDependencyError` if Pillow is not installed."""
        place = self._place(image)
        return open_image(io.BytesIO(place.read()), name=f"{place.file}: {image.file}" if place.part else place.file)

    def stamp(self, image: CaptionedImage) -> str:
        """Changes when the image's file does: its size, or the image's part of it, and the time of its last change."""
        place = self._place(image)
        info = os.stat(place.file)
        return f"{place.part or info.st_size}:{info.st_mtime_ns}"

    def references(self) -> dict[str, list[str]]:
        """The captions by image id, as `sacrecap.score` takes them."""
        return {image.id: list(image.references) for image in self}

    @property
    def checksum(self) -> str:
        """The same for the same images, splits and captions in the same order."""
        rows = [[image.id, image.split, *image.references] for image in self]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def images_to_caption(
    data: PathLike, *, split: str = "test", on_missing: str = "error", features: FeatureFile | None = None
) -> CaptionedImages:
    """All images of a data set with captions, or images alone, which then are of this split.

    Arguments and errors are those of `CaptionedImages.of_data_set` and `CaptionedImages.alone`.
    """
    if features is None and not is_captioned(data):
        return CaptionedImages.alone(data, split)
    return CaptionedImages.of_data_set(data, on_missing=on_missing, features=features)


def images_of_run(
    run: PathLike, settings: Settings, data: PathLike | None = None, *, split: str = "test", on_missing: str = "error"
) -> CaptionedImages:
    """Those of `data`, or of the run in this folder, with these settings, as `images_to_caption` takes them."""
    if data is None and not os.path.exists(settings.data):
        raise DataError(
            f"{os.fspath(run)}: its images are not at {settings.data}, as seen from this folder; say where "
            "(--images FOLDER)"
        )
    place = settings.data if data is None else data
    return images_to_caption(place, split=split, on_missing=on_missing, features=given_features(settings))


def read_images(settings: Settings) -> CaptionedImages:
    """The images that a run uses, of all splits."""
    features = given_features(settings)
    images = CaptionedImages.of_data_set(settings.data, on_missing=settings.on_missing, features=features)
    return images.first(settings.images)


def given_features(settings: Settings) -> FeatureFile | None:
    """The file of features of a run, where it has one instead of an encoder."""
    return None if settings.features is None else FeatureFile(settings.features)


def counted(progress: Progress, step: str, images: CaptionedImages) -> Callable[[int], None]:
    """Tells the number of finished images of a step."""
    return lambda finished: progress(step, finished, len(images))
