"""Features that were computed elsewhere, by image id: `.npz` files.

    np.savez("clip.npz", ids=ids, pooled=vectors, grid=regions)     # (N,), (N, D), (N, R, D)

The commands ask `is_feature_file` before torch is loaded.
"""

from __future__ import annotations

import os
import zipfile
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError, some

SUFFIX = ".npz"
_OTHER_SUFFIXES = (
    *(".npy", ".safetensors", ".pt", ".pth", ".bin", ".h5", ".hdf5"),
    *(".pkl", ".tsv", ".csv", ".json", ".zip", ".tar"),
)
_PARTS = ("pooled", "grid")
_LAYOUT = "np.savez(FILE, ids=…, pooled=…, grid=…) makes it: ids (N,), with pooled (N, D), grid (N, R, D) or both"
FloatArray: TypeAlias = npt.NDArray[np.float32]


class FeatureFile:
    """The vectors of images in a file, which is read as a whole.

    Raises:
        DataError: it cannot be read, or has another form; the message says which form is accepted.

    Attributes:
        path: of the file.
        ids: image ids, in the file's order.
        feature: D, the size of a vector.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = os.fspath(path)
        if not self.path.endswith(SUFFIX):
            raise DataError(f"{self.path}: is not a file of features; these are called {SUFFIX}: {_LAYOUT}")
        with reading(path):
            self._parts = _arrays(self.path)
        self.ids = self._ids(self._parts.pop("ids", None))
        self._numbers = {image: number for number, image in enumerate(self.ids)}
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
        found = {name: np.asarray(array[numbers], np.float32) for name, array in self._parts.items()}
        for part in found.values():
            whole = np.isfinite(part.reshape(len(images), -1)).all(1)
            if not whole.all():
                raise DataError(
                    f"{self.path}: the features of {images[int(np.argmin(whole))]!r} have numbers that are infinite or "
                    "none (NaN); compute them again"
                )
        pooled = found["pooled"] if "pooled" in found else found["grid"].mean(1)
        return pooled, found.get("grid", pooled[:, None])

    def _ids(self, array: npt.NDArray[Any] | None) -> tuple[str, ...]:
        if array is None or not array.size:
            raise DataError(f"{self.path}: holds no ids; {_LAYOUT}")
        if array.dtype.kind not in "iuU" or array.ndim != 1:
            raise DataError(
                f"{self.path}: ids must be a list of strings or whole numbers, and is of another type; "
                "ids=np.array(ids, dtype=str)"
            )
        ids = tuple(map(str, array.tolist()))
        twice = [image for image, count in Counter(ids).items() if count > 1]
        if twice:
            raise DataError(f"{self.path}: has {some(twice)} twice; give each once")
        return ids

    def _size(self) -> int:
        """D, which is the same of vectors and regions."""
        arrays = self._parts
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
        return int(sizes[0])


def is_feature_file(place: PathLike) -> bool:
    """Whether this names a file, not a folder: it exists as a file, or does not exist and has the suffix of a data
    file.

    Suffixes of other formats count too, although `FeatureFile` refuses them: nobody wants a folder with such a name.
    """
    return os.path.isfile(place) or (
        not os.path.isdir(place) and os.fspath(place).lower().endswith((SUFFIX, *_OTHER_SUFFIXES))
    )


def _arrays(path: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays in a file by name."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except (zipfile.BadZipFile, ValueError, EOFError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: is not an .npz file, or damaged ({error}); write it with np.savez") from None
