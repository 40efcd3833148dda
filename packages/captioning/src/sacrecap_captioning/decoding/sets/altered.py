"""Sets from altered images: RCI crops each caption's image elsewhere, GNC adds noise to its pixels.

Wang, Chan (CVPR 2019), section 5.2; there the network takes 224 pixels per side, cut from 256. Deviations of the noise
are a choice here, 10 to 100 for pixels from 0 to 255: the paper gives 1 to 10 without naming the scale.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeAlias

import numpy as np
from PIL import Image

from sacrecap_captioning.decoding.sets.method import ImageBatch, SetMethod, parameter
from sacrecap_captioning.decoding.sets.span import Span
from sacrecap_captioning.decoding.sets.speaker import Speaker

_RESIZED, _CROPPED = 256, 224


Alteration: TypeAlias = Callable[[Image.Image, int, np.random.Generator], Image.Image]
"""Of an image, to a square of so many pixels per side."""


@dataclass(frozen=True)
class Altered(SetMethod):
    """The likeliest caption of each of several altered images."""

    alters_images: ClassVar[bool] = True
    width: int = parameter(1, "width of the beam that finds each caption; 1 is greedy", least=1)

    @abstractmethod
    def alterations(self, captions: int) -> Sequence[Alteration]:
        """One for each caption of a set."""

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        pictures, side = images.pictures(), speaker.side
        made: list[list[str]] = [[] for _ in pictures]
        for alteration in self.alterations(captions):
            pairs = zip(pictures, images.chances, strict=True)
            seen = speaker.see([alteration(image, side, chance) for image, chance in pairs])
            for captions_of_image, beam in zip(made, speaker.beam(seen, images.chances, self.width), strict=True):
                captions_of_image.append(beam[0])
        return made


@dataclass(frozen=True)
class RandomCrops(Altered):
    """Each caption sees another crop of the image."""

    name: ClassVar[str] = "rci"
    summary: ClassVar[str] = "a caption of each of several random crops of the image"

    def alterations(self, captions: int) -> Sequence[Alteration]:
        """See `Altered`."""
        return [random_crop] * captions


@dataclass(frozen=True)
class GaussianNoise(Altered):
    """Each caption sees the image with other noise.

    The paper's deviations are 1 to 10, without a scale: for pixels from 0 to 255 they change almost nothing. The
    default is ten times as large; with it, the diversity of sets is where the paper shows it: between a beam and
    people.
    """

    name: ClassVar[str] = "gnc"
    summary: ClassVar[str] = "a caption of each of several copies of the image with Gaussian noise"
    sigma: Span = parameter(Span(10, 100), "standard deviation of the noise, of pixels from 0 to 255", least=0)

    def alterations(self, captions: int) -> Sequence[Alteration]:
        """See `Altered`."""
        return [partial(noisy, sigma=sigma) for sigma in self.sigma.over(captions).tolist()]


def random_crop(image: Image.Image, side: int, chance: np.random.Generator) -> Image.Image:
    """256 pixels per side, cut to 224, where the side is 224; in proportion where it is another."""
    resized = max(side + 1, round(side * _RESIZED / _CROPPED))
    left, top = chance.integers(0, resized - side, size=2, endpoint=True).tolist()
    return _square(image, resized).crop((left, top, left + side, top + side))


def noisy(image: Image.Image, side: int, chance: np.random.Generator, *, sigma: float) -> Image.Image:
    """Noise on the pixels that an encoder sees: on those of a larger image, resizing would average it away."""
    pixels = np.asarray(_square(image, side), dtype=np.float64)
    return Image.fromarray((pixels + chance.normal(0.0, sigma, pixels.shape)).round().clip(0, 255).astype(np.uint8))


def _square(image: Image.Image, side: int) -> Image.Image:
    return image.resize((side, side), Image.Resampling.BILINEAR)
