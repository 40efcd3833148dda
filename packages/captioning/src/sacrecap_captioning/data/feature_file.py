"""Features that were computed elsewhere, by image id: `.npz` and `.safetensors` files.

    np.savez("clip.npz", ids=ids, pooled=vectors, grid=regions)     # (N,), (N, D), (N, R, D)
    np.savez("clip.npz", **{"1.jpg": vector, "2.jpg": other})       # each (D,) or (R, D)

Files of safetensors are mapped into memory: only the requested part is read. Those of NumPy are read as a whole. The
commands ask `is_feature_file` before torch is loaded.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError, some

if TYPE_CHECKING:
    from torch import Tensor

SUFFIXES = (".npz", ".safetensors")
_OTHER_SUFFIXES = (".npy", ".pt", ".pth", ".bin", ".h5", ".hdf5", ".pkl", ".tsv", ".csv", ".json", ".zip", ".tar")
_PARTS = ("pooled", "grid")
_LAYOUTS = (
    "a file has ids (N,) with pooled (N, D), grid (N, R, D) or both; or per image an array (D,) or (R, D), called by "
    "the image's id"
)
FloatArray: TypeAlias = npt.NDArray[np.float32]


class FeatureFile:
    """The vectors of images in a file.

    Raises:
        DataError: it cannot be read, or has another form; the message lists the accepted forms.

    Attributes:
        path: of the file.
        ids: image ids, in the file's order.
        feature: D, the size of a vector.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = os.fspath(path)
        with reading(path):
            arrays, ids = _opened(self.path)
        self.ids = tuple(arrays if ids is None else ids)
        if not self.ids:
            raise DataError(f"{self.path}: holds no features; {_LAYOUTS}")
        twice = [image for image, count in Counter(self.ids).items() if count > 1]
        if twice:
            raise DataError(f"{self.path}: has {some(twice)} twice; give each once")
        self._numbers = {image: number for number, image in enumerate(self.ids)}
        self._parts = self._stacked(arrays) if ids is None else arrays
        self.feature = self._size()

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
        found = {name: array[numbers].float().numpy() for name, array in self._parts.items()}
        for part in found.values():
            whole = np.isfinite(part.reshape(len(images), -1)).all(1)
            if not whole.all():
                raise DataError(
                    f"{self.path}: the features of {images[int(np.argmin(whole))]!r} have numbers that are infinite or "
                    "none (NaN); compute them again"
                )
        pooled = found["pooled"] if "pooled" in found else found["grid"].mean(1)
        return pooled, found.get("grid", pooled[:, None])

    def _stacked(self, arrays: dict[str, Tensor]) -> dict[str, Tensor]:
        """An array per image as the array of all images."""
        import torch

        first = arrays[self.ids[0]]
        for image, array in arrays.items():
            if array.ndim not in {1, 2}:
                raise DataError(f"{self.path}: {image!r} is {_described(array)}; {_LAYOUTS}")
            if array.shape != first.shape:
                raise DataError(
                    f"{self.path}: the features of {image!r} are {tuple(array.shape)}, those of {self.ids[0]!r} "
                    f"{tuple(first.shape)}; give all images as many regions and numbers"
                )
        return {_PARTS[first.ndim - 1]: torch.stack(list(arrays.values()))}

    def _size(self) -> int:
        """D, which is the same of vectors and regions."""
        arrays = self._parts
        if not arrays or not arrays.keys() <= set(_PARTS):
            raise DataError(f"{self.path}: holds ids, {', '.join(arrays) or 'and nothing else'}; {_LAYOUTS}")
        for name, array in arrays.items():
            if not array.is_floating_point() or array.ndim != _PARTS.index(name) + 2 or not array.numel():
                raise DataError(f"{self.path}: {name} is {_described(array)}; {_LAYOUTS}")
            if array.shape[0] != len(self.ids):
                raise DataError(f"{self.path}: {name} has {array.shape[0]:,} rows for {len(self.ids):,} ids")
        sizes = [array.shape[-1] for array in arrays.values()]
        if len(set(sizes)) > 1:
            raise DataError(
                f"{self.path}: {' and '.join(arrays)} have vectors of {' and '.join(map(str, sizes))} numbers; "
                "captioners take vectors of one size: leave one of the two out"
            )
        return int(sizes[0])


def is_feature_file(place: PathLike) -> bool:
    """Whether this names a file, not a folder: it exists as a file, or does not exist and has the suffix of a data
    file.

    Suffixes of other formats count too, although `FeatureFile` refuses them: nobody wants a folder with such a name.
    """
    return os.path.isfile(place) or (
        not os.path.isdir(place) and os.fspath(place).lower().endswith((*SUFFIXES, *_OTHER_SUFFIXES))
    )


def _opened(path: str) -> tuple[dict[str, Tensor], list[str] | None]:
    """The arrays in a file by name, and the image ids, where they are not those names."""
    if path.endswith(".npz"):
        return _npz(path)
    if path.endswith(".safetensors"):
        return _safetensors(path)
    raise DataError(f"{path}: is not a file of features; these are called .npz or .safetensors: {_LAYOUTS}")


def _npz(path: str) -> tuple[dict[str, Tensor], list[str] | None]:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        import torch  # a file that is missing is told of before this takes its time

        ids = arrays.pop("ids", None)
        native = {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()}
        tensors = {name: torch.from_numpy(array) for name, array in native.items()}
    except (zipfile.BadZipFile, ValueError, EOFError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: is not an .npz file, or damaged ({error}); write it with np.savez") from None
    if ids is None:
        return tensors, None
    if ids.dtype.kind not in "iuU" or ids.ndim != 1:
        raise DataError(
            f"{path}: ids must be a list of strings or whole numbers, and is of another type; "
            "ids=np.array(ids, dtype=str)"
        )
    return tensors, [str(image) for image in ids.tolist()]


def _safetensors(path: str) -> tuple[dict[str, Tensor], list[str] | None]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            ids = json.loads((file.metadata() or {}).get("ids", "null"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - is no mapping
    except (SafetensorError, ValueError, TypeError) as error:
        raise DataError(f"{path}: is not a safetensors file, or damaged ({error})") from None
    ids = arrays.pop("ids").tolist() if ids is None and "ids" in arrays else ids
    if ids is not None and not (isinstance(ids, list) and all(isinstance(image, str | int) for image in ids)):
        raise DataError(f"{path}: ids must be whole numbers, or a JSON list of strings in its metadata")
    return arrays, None if ids is None else [str(image) for image in ids]


def _described(array: Tensor) -> str:
    kind = "floats" if array.is_floating_point() else "whole numbers"
    return f"{tuple(array.shape)} of {kind}"
