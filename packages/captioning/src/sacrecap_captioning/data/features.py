"""Features of a data set by a frozen encoder, computed once and read from disk.

They are written batch by batch: memory holds one batch, and an interrupted computation continues where it stopped.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sacrecap.data.atomic import replace
from sacrecap.data.captioned import CaptionedImage
from sacrecap.data.lock import lock
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError
from sacrecap_captioning.data.feature_file import FeatureFile
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.encoders.encoder import Encoder, Standard, to_pixels
from sacrecap_captioning.models.base import Features


class FeatureRows(Protocol):
    """Features of many images, read on request."""

    def rows(self, numbers: Tensor) -> Features:
        """Features of the images of these (B,) indices, in float32."""


class StoredFeatures:
    """Features in a file that is mapped into memory: only the requested ones are read.

    Attributes:
        array: (images, 1 + R, D): of each image the pooled vector, and its R regions.
    """

    def __init__(self, path: PathLike) -> None:
        """Raises `DataError` if the file cannot be read."""
        with reading(path):
            self.array: npt.NDArray[np.floating] = np.load(path, mmap_mode="r")

    def rows(self, numbers: Tensor) -> Features:
        """See `FeatureRows`."""
        found = torch.from_numpy(np.asarray(self.array[numbers.numpy()], dtype=np.float32))
        return Features(found[:, 0].contiguous(), found[:, 1:].contiguous())


class GivenFeatures:
    """Features of a file, in the order of the images, standardised."""

    def __init__(self, file: FeatureFile, images: CaptionedImages, standard: Standard) -> None:
        """Raises `DataError` if the file's vectors have another size than those of `standard`."""
        if file.feature != standard.feature:
            raise DataError(
                f"{file.path}: has vectors of {file.feature:,} numbers, where the captioner was trained with "
                f"{standard.feature:,}; give features of the same model"
            )
        self.file = file
        self.ids = [image.id for image in images]
        self.standard = standard

    def rows(self, numbers: Tensor) -> Features:
        """See `FeatureRows`. Raises `DataError` if a number is infinite or NaN."""
        pooled, grid = map(torch.from_numpy, self.file.rows([self.ids[number] for number in numbers.tolist()]))
        return self.standard.standard(Features(pooled, grid).to(self.standard.pooled_mean.device))

    def check(self, progress: Callable[[int], None] | None = None) -> None:
        """Reads all features once, so that a bad one is found before hours of training."""
        for numbers in torch.split(torch.arange(len(self.ids)), 256):
            self.rows(numbers)
            if progress is not None:
                progress(int(numbers[-1]) + 1)


def read_pixels(images: CaptionedImages, chosen: Sequence[CaptionedImage], side: int) -> Tensor:
    """(B, 3, side, side) in [0, 1], of these images."""
    return torch.stack([to_pixels(images.open(image), side) for image in chosen])


def encode(images: CaptionedImages, encoder: Encoder, *, batch: int = 64, start: int = 0) -> Iterator[Features]:
    """Features by the encoder in its current state, computed on its device, batch after batch on the CPU, from image
    `start` on.

    They are the same for every batch size up to rounding.
    """
    for first in range(start, len(images), batch):
        pixels = read_pixels(images, images[first : first + batch], encoder.side)
        training = encoder.training
        encoder.eval()
        with torch.inference_mode():
            found: Features = encoder(pixels.to(encoder.mean.device))
        encoder.train(training)
        yield found.to(torch.device("cpu"))


def cached_features(
    images: CaptionedImages,
    encoder: Encoder,
    folder: PathLike,
    *,
    batch: int = 64,
    dtype: str = "float32",
    progress: Callable[[int], None] | None = None,
) -> StoredFeatures:
    """Features of all images: computed, or left in the folder by a call with the same encoder, weights and files.

    The finished part of an interrupted call is not computed again. While another process computes the same features,
    this one waits for it.

    Args:
        images: whose features.
        encoder: computes them, in its current state, on its device.
        folder: where they are stored.
        batch: images at a time.
        dtype: number format in the file; with `float16` it is half as large as with `float32`, and features have 11
            bits.
        progress: called with the number of finished images.

    Raises:
        DataError: the folder cannot be made, written or read; or a feature is not a number, or too large for `dtype`.
    """
    place = Path(folder)
    try:
        os.makedirs(place, exist_ok=True)
    except OSError as error:
        raise DataError(f"{place}: this folder cannot be made: {error.strerror}; choose another place") from None
    label = re.sub(r"[^\w.-]+", "_", encoder.name)
    path = place / f"{label}-{_key(images, encoder)}{'' if dtype == 'float32' else '-' + dtype}.npy"
    if not path.exists():
        try:
            _compute(path, images, encoder, batch, np.dtype(dtype), progress)
        except OSError as error:
            raise DataError(
                f"{path}: cannot be written: {error.strerror}; free some space, or choose another folder "
                "(--features DIR)"
            ) from None
    return StoredFeatures(path)


def _compute(
    path: Path,
    images: CaptionedImages,
    encoder: Encoder,
    batch: int,
    dtype: np.dtype[np.floating],
    progress: Callable[[int], None] | None,
) -> None:
    """Appends the features to a partial file, which is renamed to `path` when it is complete.

    It continues only after whole batches, so that the file has the same bytes with and without an interruption.
    """
    beside = Path(f"{path}.part")
    with open(beside, "a+b") as file:
        lock(file, wait=True)
        if path.exists():  # another process was waited for
            beside.unlink(missing_ok=True)
            return
        done = _finished(file, len(images), batch, dtype)
        for found in encode(images, encoder, batch=batch, start=done):
            joined = torch.cat([found.pooled[:, None], found.grid], 1).numpy()  # (B, 1 + R, D)
            with np.errstate(over="ignore"):
                rows = joined.astype(dtype)
            if not np.isfinite(rows).all():
                image = images[done + int(np.argmin(np.isfinite(rows).all((1, 2))))]
                raise DataError(
                    f"image {image.id!r} ({image.file}): {encoder.name} gives features that {dtype} does not hold "
                    f"(up to {np.abs(joined).max():g}); use float32, or other weights"
                )
            if file.tell() == 0:
                _write_header(file, (len(images), *rows.shape[1:]), dtype)
            file.write(rows.tobytes())
            file.flush()
            os.fsync(file.fileno())
            done += len(rows)
            if progress is not None:
                progress(done)
    replace(str(beside), str(path))


def _finished(file: IO[bytes], images: int, batch: int, dtype: np.dtype[np.floating]) -> int:
    """The number of images in whole batches of the file; the rest is cut off. Writing continues at the end."""
    file.seek(0)
    try:
        np.lib.format.read_magic(file)
        shape, _, found = np.lib.format.read_array_header_1_0(file)
    except ValueError:  # empty, or cut off within its header
        shape, found = (), None
    done, end = 0, 0
    if len(shape) == 3 and shape[0] == images and found == dtype:
        row, begin = shape[1] * shape[2] * dtype.itemsize, file.tell()
        written = (file.seek(0, os.SEEK_END) - begin) // row
        done = images if written >= images else written // batch * batch
        end = begin + done * row
    file.truncate(end)
    file.seek(0, os.SEEK_END)
    return done


def _write_header(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[np.floating]) -> None:
    """As `numpy.load` reads it."""
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, description)


def _key(images: CaptionedImages, encoder: Encoder) -> str:
    """The same for the same encoder and image files."""
    digest = hashlib.sha256(encoder.checksum.encode())
    for image in images:
        digest.update(f"{image.file}\0{images.stamp(image)}\0".encode())
    return digest.hexdigest()[:16]
