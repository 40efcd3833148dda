"""Features of a data set by a frozen encoder, computed once and kept on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from capeval.data.atomic import atomic_write
from capeval.data.source import PathLike, reading
from capeval.errors import DataError
from capeval_captioning.data.images import CaptionedImage, CaptionedImages
from capeval_captioning.encoders import Encoder, to_pixels
from capeval_captioning.models.base import Features


def read_pixels(images: CaptionedImages, chosen: Sequence[CaptionedImage], side: int) -> Tensor:
    """(B, 3, side, side) in [0, 1], of these images."""
    return torch.stack([to_pixels(images.open(image), side) for image in chosen])


def encode(
    images: CaptionedImages, encoder: Encoder, *, batch: int = 64, progress: Callable[[int], None] | None = None
) -> Features:
    """Features of all images by the encoder as it stands, on its device, as tensors of the CPU.

    The result is the same for every batch size up to rounding. `progress` is told how many images are done.
    """
    device, training = encoder.mean.device, encoder.training
    encoder.eval()
    pooled, grid = [], []
    with torch.inference_mode():
        for start in range(0, len(images), batch):
            found = encoder(read_pixels(images, images[start : start + batch], encoder.side).to(device))
            pooled.append(found.pooled.cpu())
            grid.append(found.grid.cpu())
            if progress is not None:
                progress(min(start + batch, len(images)))
    encoder.train(training)
    return Features(torch.cat(pooled), torch.cat(grid))


def cached_features(
    images: CaptionedImages,
    encoder: Encoder,
    folder: PathLike,
    *,
    batch: int = 64,
    progress: Callable[[int], None] | None = None,
) -> Features:
    """`encode`, or what an earlier call with the same encoder, weights and image files left in the folder.

    The tensors are mapped from the file: read from disk where they are used.

    Raises:
        DataError: the folder cannot be made, written or read.
    """
    place = Path(folder)
    try:
        os.makedirs(place, exist_ok=True)
    except OSError as error:
        raise DataError(f"{place}: this folder cannot be made: {error.strerror}; choose another place") from None
    path = place / f"{encoder.name}-{_key(images, encoder)}.npy"
    if not path.exists():
        computed = encode(images, encoder, batch=batch, progress=progress)
        # One array, so that one rename puts both in place: the pooled vector is row 0 of each image, its grid the rest.
        joined = torch.cat([computed.pooled[:, None], computed.grid], 1)  # (B, 1 + R, D)
        with atomic_write(path, "wb") as file:
            np.save(file, joined.numpy())
    with reading(path):
        mapped = torch.from_numpy(np.load(path, mmap_mode="c"))
    return Features(mapped[:, 0], mapped[:, 1:])


def _key(images: CaptionedImages, encoder: Encoder) -> str:
    """The same for the same encoder and image files."""
    digest = hashlib.sha256(encoder.checksum.encode())
    for image in images:
        digest.update(f"{image.file}\0{images.files.stamp(image.file)}\0".encode())
    return digest.hexdigest()[:16]
