"""A sample of images that does not depend on the order they come in: those of the smallest hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sacrecap import _core


class Kept(NamedTuple):
    """An image of the sample."""

    order: int
    """The hash that chose it."""
    image_id: str
    references: list[str]
    captions: list[list[str]]
    """Of each system."""


@dataclass
class ImageSample:
    """The images of the smallest hashes so far."""

    size: int
    images: list[Kept] = field(default_factory=list)

    def wanted(self, keys: bytes) -> list[tuple[int, int]]:
        """Places and hashes of the images, given by their keys (uint64), that belong to the sample so far."""
        import numpy as np

        orders = np.frombuffer(_core.mixed_keys(keys), dtype="<u8")
        most = self.images[-1].order if len(self.images) == self.size else 2**64 - 1
        places = np.flatnonzero(orders <= most)
        if len(places) > self.size:
            places = places[np.argpartition(orders[places], self.size - 1)[: self.size]]
        return [(int(place), int(orders[place])) for place in np.sort(places)]

    def add(self, images: Sequence[Kept]) -> None:
        """Adds images, and forgets those that are not among the smallest any more."""
        self.images = sorted({(one.order, one.image_id): one for one in [*self.images, *images]}.values())[: self.size]

    def merge(self, other: ImageSample) -> None:
        """Adds another sample."""
        self.add(other.images)
