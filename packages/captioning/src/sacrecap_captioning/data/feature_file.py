"""Features that were computed elsewhere, by image id: `.npz` and `.safetensors` files.

    np.savez("clip.npz", ids=ids, pooled=vectors, grid=regions)     # (N,), (N, D), (N, R, D)
    np.savez("clip.npz", **{"1.jpg": vector, "2.jpg": other})       # each (D,) or (R, D)

Uncompressed arrays (`np.savez`, safetensors) are mapped into memory: only the requested part is read. Compressed
ones (`np.savez_compressed`) are unpacked on first use, and then an array of all images stays in memory.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError, some

SUFFIXES = (".npz", ".safetensors")
_OTHER_SUFFIXES = (".npy", ".pt", ".pth", ".bin", ".h5", ".hdf5", ".pkl", ".tsv", ".csv", ".json", ".zip", ".tar")
_PARTS = ("pooled", "grid")
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"}
"""Types of safetensors that are read; bfloat16 as the upper half of a float32."""
_LAYOUTS = (
    "a file has ids (N,) with pooled (N, D), grid (N, R, D) or both; or per image an array (D,) or (R, D), called by "
    "the image's id"
)
FloatArray: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True)
class _Array:
    """An array that is not read yet."""

    shape: tuple[int, ...]
    kind: str
    """`f`, `i`, `u`, `U`: as NumPy's `dtype.kind`."""
    read: Callable[[], npt.NDArray[Any]]


class FeatureFile:
    """The vectors of images in a file.

    Attributes:
        path: of the file.
        ids: image ids, in the file's order.
        feature: D, the size of a vector.
        regions: R, vectors of a grid; 1 if an image has a single vector.
    """

    def __init__(self, path: PathLike) -> None:
        """Reads what is in the file, not the vectors.

        Raises:
            DataError: it cannot be read, or has another form; the message lists the accepted forms.
        """
        self.path = os.fspath(path)
        with reading(path):
            arrays, ids = _opened(self.path)
        if ids is None and "ids" in arrays:
            ids = self._ids(arrays.pop("ids"))
        self._columns = ids is not None
        self.ids = tuple(arrays) if ids is None else tuple(ids)
        self._arrays = arrays
        self._held: dict[str, npt.NDArray[Any]] = {}
        twice = [image for image, count in Counter(self.ids).items() if count > 1]
        if twice:
            raise DataError(f"{self.path}: has {some(twice)} twice; give each once")
        if not self.ids:
            raise DataError(f"{self.path}: holds no features; {_LAYOUTS}")
        self._numbers = {image: number for number, image in enumerate(self.ids)}
        self.regions, self.feature = self._sizes()

    def __contains__(self, image: str) -> bool:
        return image in self._numbers

    def rows(self, images: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """(B, D) vectors and (B, R, D) regions of these images.

        An image without its own vector gets the mean of its regions; one without regions gets its vector as the only
        region.

        Raises:
            DataError: a number is infinite or none; the message says of which image.
        """
        if self._columns:
            numbers = [self._numbers[image] for image in images]
            found = {name: _floats(self._read(name)[numbers]) for name in _PARTS if name in self._arrays}
        else:
            stacked = _floats(np.stack([self._read(image) for image in images]))
            found = {"pooled" if stacked.ndim == 2 else "grid": stacked}
        for part in found.values():
            whole = np.isfinite(part.reshape(len(images), -1)).all(1)
            if not whole.all():
                raise DataError(
                    f"{self.path}: the features of {images[int(np.argmin(whole))]!r} have numbers that are infinite or "
                    "none (NaN); compute them again"
                )
        pooled, grid = found.get("pooled"), found.get("grid")
        if grid is None:
            assert pooled is not None  # noqa: S101 - one of them is there
            return pooled, pooled[:, None]
        return grid.mean(1) if pooled is None else pooled, grid

    def _read(self, name: str) -> npt.NDArray[Any]:
        if name in self._held:
            return self._held[name]
        with reading(self.path):
            array = self._arrays[name].read()
        if self._columns:
            self._held[name] = array
        return array

    def _ids(self, array: _Array) -> list[str]:
        if array.kind not in "iuU" or len(array.shape) != 1:
            raise DataError(
                f"{self.path}: ids must be a list of strings or whole numbers, and is of another type; "
                "ids=np.array(ids, dtype=str)"
            )
        return [str(image) for image in array.read().tolist()]

    def _sizes(self) -> tuple[int, int]:
        """R and D, which are the same of all images."""
        if self._columns:
            return self._sizes_of_columns()
        expected: tuple[int, ...] | None = None
        for image, array in self._arrays.items():
            if len(array.shape) not in {1, 2} or array.kind != "f" or 0 in array.shape:
                raise DataError(f"{self.path}: {image!r} is {_described(array)}; {_LAYOUTS}")
            if expected is not None and array.shape != expected:
                raise DataError(
                    f"{self.path}: the features of {image!r} are {_shape(array.shape)}, those of {self.ids[0]!r} "
                    f"{_shape(expected)}; give all images as many regions and numbers"
                )
            expected = array.shape
        assert expected is not None  # noqa: S101 - there are ids
        return (1, expected[0]) if len(expected) == 1 else (expected[0], expected[1])

    def _sizes_of_columns(self) -> tuple[int, int]:
        parts = {name: array for name, array in self._arrays.items() if name in _PARTS}
        other = [name for name in self._arrays if name not in _PARTS]
        if not parts or other:
            raise DataError(f"{self.path}: holds ids, {', '.join([*parts, *other]) or 'and nothing else'}; {_LAYOUTS}")
        for name, array in parts.items():
            if array.kind != "f" or len(array.shape) != _PARTS.index(name) + 2 or 0 in array.shape:
                raise DataError(f"{self.path}: {name} is {_described(array)}; {_LAYOUTS}")
            if array.shape[0] != len(self.ids):
                raise DataError(f"{self.path}: {name} has {array.shape[0]:,} rows for {len(self.ids):,} ids")
        sizes = {array.shape[-1] for array in parts.values()}
        if len(sizes) > 1:
            raise DataError(
                f"{self.path}: pooled and grid have vectors of {parts['pooled'].shape[-1]} and "
                f"{parts['grid'].shape[-1]} numbers; captioners take vectors of one size: leave one of the two out"
            )
        return (parts["grid"].shape[1] if "grid" in parts else 1), sizes.pop()


def is_feature_file(place: PathLike) -> bool:
    """Whether this names a file, not a folder: it exists as a file, or does not exist and has the suffix of a data
    file.

    Suffixes of other formats count too, although `FeatureFile` refuses them: nobody wants a folder with such a name.
    """
    return os.path.isfile(place) or (
        not os.path.isdir(place) and os.fspath(place).lower().endswith((*SUFFIXES, *_OTHER_SUFFIXES))
    )


def _opened(path: str) -> tuple[dict[str, _Array], list[str] | None]:
    """The arrays in a file by name, and image ids that are stored with them."""
    if path.endswith(".npz"):
        return _npz(path), None
    if path.endswith(".safetensors"):
        return _safetensors(path)
    raise DataError(f"{path}: is not a file of features; these are called .npz or .safetensors: {_LAYOUTS}")


def _npz(path: str) -> dict[str, _Array]:
    arrays: dict[str, _Array] = {}
    try:
        with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                if name in arrays:
                    raise DataError(f"{path}: has 1 image ({name}) twice; give each once")
                with archive.open(member) as content:
                    shape, fortran, dtype = _npy_header(content)
                    begin = content.tell()
                read: Callable[[], npt.NDArray[Any]] = partial(_unpacked, path, member.filename)
                if member.compress_type == zipfile.ZIP_STORED and not dtype.hasobject and 0 not in shape:
                    file.seek(member.header_offset + 26)
                    names, extra = struct.unpack("<HH", file.read(4))
                    offset = member.header_offset + 30 + names + extra + begin
                    read = partial(_mapped, path, dtype, offset, shape, "F" if fortran else "C")
                arrays[name] = _Array(shape, dtype.kind, read)
    except (zipfile.BadZipFile, ValueError, EOFError, struct.error) as error:
        raise DataError(f"{path}: is not an .npz file, or damaged ({error}); write it with np.savez") from None
    return arrays


def _npy_header(content: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(content)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    header: tuple[tuple[int, ...], bool, np.dtype[Any]] = read(content)
    return header


def _unpacked(path: str, member: str) -> npt.NDArray[Any]:
    with zipfile.ZipFile(path) as archive, archive.open(member) as content:
        array: npt.NDArray[Any] = np.lib.format.read_array(content, allow_pickle=False)
        return array


def _mapped(path: str, dtype: np.dtype[Any], offset: int, shape: tuple[int, ...], order: Any) -> npt.NDArray[Any]:
    return np.memmap(path, dtype, "r", offset, shape, order)


def _safetensors(path: str) -> tuple[dict[str, _Array], list[str] | None]:
    try:
        with open(path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header: dict[str, Any] = json.loads(file.read(length))
        metadata: Mapping[str, str] = header.pop("__metadata__", {})
        ids = json.loads(metadata["ids"]) if "ids" in metadata else None
        size, arrays = os.path.getsize(path), {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            if 8 + length + end > size:
                raise ValueError("it ends too early")
            dtype = np.dtype(_TYPES.get(entry["dtype"], "u1"))
            shape = tuple(entry["shape"])
            read = partial(_mapped, path, dtype, 8 + length + begin, shape, "C")
            kind = "f" if entry["dtype"] == "BF16" else dtype.kind if entry["dtype"] in _TYPES else entry["dtype"]
            arrays[name] = _Array(shape, kind, read)
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, MemoryError, OverflowError) as error:
        raise DataError(f"{path}: is not a safetensors file, or damaged ({error})") from None
    if ids is not None and not (isinstance(ids, list) and all(isinstance(image, str | int) for image in ids)):
        raise DataError(f"{path}: ids in its metadata must be a JSON list of strings")
    return arrays, None if ids is None else [str(image) for image in ids]


def _floats(array: npt.NDArray[Any]) -> FloatArray:
    """As float32; whole numbers are the upper halves of bfloat16."""
    if array.dtype.kind == "u":
        return (array.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(over="ignore"):  # numbers that do not fit become infinite, which is reported
        return np.ascontiguousarray(array, dtype=np.float32)


def _described(array: _Array) -> str:
    kinds = {"f": "floats", "i": "whole numbers", "u": "whole numbers", "U": "strings"}
    return f"{_shape(array.shape)} of {kinds.get(array.kind, 'another type')}"


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
