"""The data of one training step, and its loss."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from sacrecap_captioning.models.base import Features


class TrainingBatch(NamedTuple):
    """Some images and k captions of each."""

    images: Tensor
    """(B,) indices of the images in the training split."""
    features: Features
    """Features of the B images."""
    captions: Tensor
    """(N, T) ids, N = k·B, the k captions of an image in consecutive rows."""


class Losses(NamedTuple):
    """The value of an objective for a batch."""

    total: Tensor
    """(): what is minimised."""
    parts: dict[str, Tensor]
    """(): figures for the log and the progress bar, by name; they stay on the device until they are read."""
