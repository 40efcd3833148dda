"""A sample of images that does not depend on the order they come in: those of the smallest hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Kept(NamedTuple):
    """An image of the sample."""

    order: int
    """The hash that chose it."""
    image_id: str
    references: list[str]
    captions: list[list[str]]
    """Of each system."""


@dataclass
class Sample:
    """The images of the smallest hashes so far."""

    size: int
    images: list[Kept] = field(default_factory=list)

    def wanted(self, keys: bytes) -> list[tuple[int, int]]:
        """Places and hashes of the images, given by their keys (uint64), that belong to the sample so far."""
        import numpy as np

        orders = _mixed(np.frombuffer(keys, dtype="<u8"))
        most = self.images[-1].order if len(self.images) == self.size else 2**64 - 1
        places = np.flatnonzero(orders <= most)
        if len(places) > self.size:
            places = places[np.argpartition(orders[places], self.size - 1)[: self.size]]
        return [(int(place), int(orders[place])) for place in np.sort(places)]

    def add(self, images: Sequence[Kept]) -> None:
        """Adds images, and forgets those that are not among the smallest any more."""
        self.images = sorted({(one.order, one.image_id): one for one in [*self.images, *images]}.values())[: self.size]

    def merge(self, other: Sample) -> None:
        """Adds another sample."""
        self.add(other.images)


def _mixed(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The keys with their bits mixed, since those of ids that look alike are close to each other (SplitMix64's end)."""
    import numpy as np

    mixed = keys + np.uint64(0x9E37_79B9_7F4A_7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    done: npt.NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return done
