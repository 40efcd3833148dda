"""Features of images, read where they are asked for: of a frozen encoder, of a learning one, or computed elsewhere."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sacrecap.data.atomic import replace
from sacrecap.data.captioned import CaptionedImage
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError
from sacrecap_captioning.data.captioned_images import CaptionedImages
from sacrecap_captioning.data.encoder import Encoder, Standardisation, to_pixels
from sacrecap_captioning.data.feature_file import FeatureFile
from sacrecap_captioning.models.captioner import Features


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
            self.array: npt.NDArray[np.float32] = np.load(path, mmap_mode="r")

    def rows(self, numbers: Tensor) -> Features:
        """See `FeatureRows`."""
        found = torch.from_numpy(np.asarray(self.array[numbers.numpy()]))
        return Features(found[:, 0].contiguous(), found[:, 1:].contiguous())


class GivenFeatures:
    """Features of a file, in the order of the images, standardised."""

    def __init__(self, file: FeatureFile, images: CaptionedImages, standard: Standardisation) -> None:
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


class EncodedPixels:
    """Pixels, through an encoder that learns."""

    def __init__(
        self, images: CaptionedImages, encoder: Encoder, progress: Callable[[int], None] | None = None
    ) -> None:
        self.pixels = read_bytes_of_pixels(images, encoder.side, progress)
        self.encoder = encoder

    def rows(self, numbers: Tensor) -> Features:
        """See `FeatureRows`."""
        found: Features = self.encoder(self.pixels[numbers].to(self.encoder.mean.device).float().div(255))
        return found


def read_pixels(images: CaptionedImages, chosen: Sequence[CaptionedImage], side: int) -> Tensor:
    """(B, 3, side, side) in [0, 1], of these images, which several threads open: the encoder waits for nothing else."""
    with ThreadPoolExecutor() as pool:
        return torch.stack(list(pool.map(lambda image: to_pixels(images.open(image), side), chosen)))


def read_bytes_of_pixels(images: CaptionedImages, side: int, progress: Callable[[int], None] | None = None) -> Tensor:
    """(images, 3, side, side) uint8."""
    pixels = torch.empty(len(images), 3, side, side, dtype=torch.uint8)
    for number, image in enumerate(images):
        pixels[number] = to_pixels(images.open(image), side).mul(255).round().byte()
        if progress is not None:
            progress(number + 1)
    return pixels


def encode(images: CaptionedImages, encoder: Encoder, *, batch: int = 64) -> Iterator[Features]:
    """Features by the encoder in its current state, computed on its device, batch after batch on the CPU.

    They are the same for every batch size up to rounding.
    """
    for first in range(0, len(images), batch):
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
    progress: Callable[[int], None] | None = None,
) -> StoredFeatures:
    """Features of all images: computed, or left in the folder by a call with the same encoder, weights and files.

    Args:
        images: whose features.
        encoder: computes them, in its current state, on its device.
        folder: where they are stored.
        batch: images at a time.
        progress: called with the number of finished images.

    Raises:
        DataError: the folder cannot be made, written or read; or a feature is not a number.
    """
    place = Path(folder)
    label = re.sub(r"[^\w.-]+", "_", encoder.name)
    path = place / f"{label}-{_key(images, encoder)}.npy"
    if not path.exists():
        beside = f"{path}.{os.getpid()}.part"
        try:
            os.makedirs(place, exist_ok=True)
            _compute(beside, images, encoder, batch, progress)
            replace(beside, str(path))
        except OSError as error:
            raise DataError(
                f"{path}: cannot be written: {error.strerror}; free some space, or choose another place "
                "(--features DIR)"
            ) from None
        finally:
            Path(beside).unlink(missing_ok=True)
    return StoredFeatures(path)


def _compute(
    path: str, images: CaptionedImages, encoder: Encoder, batch: int, progress: Callable[[int], None] | None
) -> None:
    """Writes the features batch by batch: memory holds one batch."""
    array: npt.NDArray[np.float32] | None = None
    done = 0
    for found in encode(images, encoder, batch=batch):
        rows = torch.cat([found.pooled[:, None], found.grid], 1).numpy()  # (B, 1 + R, D)
        whole = np.isfinite(rows).all((1, 2))
        if not whole.all():
            image = images[done + int(np.argmin(whole))]
            raise DataError(
                f"image {image.id!r} ({image.file}): {encoder.name} gives features that are infinite or none (NaN); "
                "use other weights"
            )
        if array is None:
            array = np.lib.format.open_memmap(path, "w+", np.float32, (len(images), *rows.shape[1:]))
        array[done : done + len(rows)] = rows
        done += len(rows)
        if progress is not None:
            progress(done)


def _key(images: CaptionedImages, encoder: Encoder) -> str:
    """The same for the same encoder and image files."""
    digest = hashlib.sha256(encoder.checksum.encode())
    for image in images:
        digest.update(f"{image.file}\0{images.stamp(image)}\0".encode())
    return digest.hexdigest()[:16]
