"""Ways to make caption sets: frozen values that print as text and parse back, as metrics do.

method = set_method("rs(temperature=0.7)")
make_sets(method, TrainedSpeaker(model, vocabulary, encoder=encoder), images, captions=10, seed=1)
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from sacrecap.errors import UsageError, accepted_name
from sacrecap.metrics.declared import Declared, accepts, parameter
from sacrecap_captioning.decoding.speaker import Seen, Speaker, TrainedSpeaker
from sacrecap_captioning.decoding.synonyms import Neighbours, switched
from sacrecap_captioning.models import MODELS, LatentCaptioner
from sacrecap_captioning.models.search import Sampling


@dataclass(frozen=True)
class ImageBatch:
    """B images, read on request, and the generators of all their random numbers."""

    seen: Callable[[], Seen]
    """The images as the speaker sees them."""
    pictures: Callable[[], list[Image.Image]]
    """The images themselves, in RGB."""
    chances: Sequence[np.random.Generator]
    """One per image, of the seed and the image's id: captions do not depend on the batch."""
    near: Callable[[int, int], Neighbours]
    """So many neighbours of words that the training captions have so many times at least: see `near_words`."""


class Span(str):
    """A range from the first caption of a set to its last, in equal steps: `1..10`; `3` if both ends are equal."""

    accepted = "a number or a range such as 1..10,"

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends. Raises `ValueError` for another text."""
        first, dots, last = self.partition("..")
        return float(first), float(last if dots else first)

    def over(self, captions: int) -> npt.NDArray[np.float64]:
        """(captions,) the value for each."""
        first, last = self.ends
        return np.linspace(first, last, captions)


class SetMethod(Declared, ABC):
    """A way to make several captions per image, with its parameters; prints as `rs(temperature=0.7)`."""

    alters_images: ClassVar[bool] = False
    """Whether the method alters the images, so that features of the original images cannot be used."""

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.family

    def __str__(self) -> str:
        return self.key

    def complete(self) -> None:
        """Takes the text of a range as one. Raises `UsageError` for another text, and ends out of bounds."""
        for declared in (one for one in self.parameters() if one.kind is Span):
            vars(self)[declared.name] = span = Span(getattr(self, declared.name))
            try:
                fits = all(math.isfinite(end) and declared.bounds(end) for end in span.ends)
            except ValueError:
                fits = False
            if not fits:
                raise UsageError(f"{self.name}: {declared.name} must be {accepts(declared)}, got {str(span)!r}")

    def check(self, speaker: Speaker, captions: int) -> None:
        """Raises `UsageError` if the speaker, or this number of captions, cannot be used with this method."""

    @abstractmethod
    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """Makes this number of captions of each image, with a speaker that has been checked."""


class RandomSampling(SetMethod):
    """RS: each caption is an independent sample, word by word.

    Wang, Chan (CVPR 2019), section 5.2. Top-k: Fan, Lewis, Dauphin (ACL 2018). Nucleus: Holtzman et al. (ICLR 2020).
    """

    family: ClassVar[str] = "rs"
    temperature: float = parameter("divides the logits; below 1, likely words become more likely", default=1.0, above=0)
    top_k: int = parameter("draw among that many likeliest words; 0 is all", default=0, least=0)
    nucleus: float = parameter(
        "draw among the fewest likeliest words that reach this probability", default=1.0, above=0, most=1
    )

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        sampling = Sampling(self.temperature, self.top_k, self.nucleus)
        return speaker.sample(images.seen(), images.chances, captions, sampling=sampling)


class Beam(SetMethod):
    """Beam search: the likeliest captions, each once."""

    family: ClassVar[str] = "beam"

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        return speaker.beam(images.seen(), images.chances, captions)


class DiverseBeam(SetMethod):
    """Groups of a beam that avoid each other's words: Vijayakumar et al. (AAAI 2018), with Hamming diversity."""

    family: ClassVar[str] = "diverse-beam"
    groups: int = parameter(
        "groups of the beam, which divide the captions; 0 is one group per caption", default=0, least=0
    )
    penalty: float = parameter("cost of a word for each time earlier groups have just used it", default=0.5, least=0)

    def check(self, speaker: Speaker, captions: int) -> None:  # noqa: ARG002
        """See `SetMethod`."""
        if captions % (self.groups or captions):
            raise UsageError(
                f"diverse-beam: the groups must divide the {captions} captions of a set, got {self.groups}"
            )

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        groups = self.groups or captions
        return speaker.beam(images.seen(), images.chances, captions, groups=groups, penalty=self.penalty)


Alteration: TypeAlias = Callable[[Image.Image, int, np.random.Generator], Image.Image]
"""Of an image, to a square of so many pixels per side."""


class Altered(SetMethod):
    """The likeliest caption of each of several altered images. Wang, Chan (CVPR 2019), section 5.2."""

    alters_images: ClassVar[bool] = True
    width: int = parameter("width of the beam that finds each caption; 1 is greedy", default=1, least=1)

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


class RandomCrops(Altered):
    """RCI: each caption sees another crop of the image."""

    family: ClassVar[str] = "rci"

    def alterations(self, captions: int) -> Sequence[Alteration]:
        """See `Altered`."""
        return [random_crop] * captions


class GaussianNoise(Altered):
    """GNC: each caption sees the image with other noise.

    The paper's deviations are 1 to 10, without a scale: for pixels from 0 to 255 they change almost nothing. The
    default is ten times as large; with it, the diversity of sets is where the paper shows it: between a beam and
    people.
    """

    family: ClassVar[str] = "gnc"
    sigma: Span = parameter(
        "standard deviation of the noise, of pixels from 0 to 255", default="10..100", kind=Span, least=0
    )

    def alterations(self, captions: int) -> Sequence[Alteration]:
        """See `Altered`."""
        return [partial(noisy, sigma=sigma) for sigma in self.sigma.over(captions).tolist()]


def random_crop(image: Image.Image, side: int, chance: np.random.Generator) -> Image.Image:
    """256 pixels per side, cut to 224, where the side is 224; in proportion where it is another."""
    resized = max(side + 1, round(side * 256 / 224))
    left, top = chance.integers(0, resized - side, size=2, endpoint=True).tolist()
    return _square(image, resized).crop((left, top, left + side, top + side))


def noisy(image: Image.Image, side: int, chance: np.random.Generator, *, sigma: float) -> Image.Image:
    """Noise on the pixels that an encoder sees: on those of a larger image, resizing would average it away."""
    pixels = np.asarray(_square(image, side), dtype=np.float64)
    return Image.fromarray((pixels + chance.normal(0.0, sigma, pixels.shape)).round().clip(0, 255).astype(np.uint8))


def _square(image: Image.Image, side: int) -> Image.Image:
    return image.resize((side, side), Image.Resampling.BILINEAR)


class SynonymSwitching(SetMethod):
    """SS: the beam's best caption, and copies of it in which words are switched for their neighbours.

    Only the wording varies: a switched word may be wrong.
    """

    family: ClassVar[str] = "ss"
    p: Span = parameter("probability that a word is switched", default="0.1..0.5", kind=Span, least=0, most=1)
    neighbours: int = parameter("nearest words that a word is switched for", default=10, least=1)
    width: int = parameter("width of the beam that finds the caption", default=3, least=1)
    least: int = parameter(
        "times that the training captions must have a word for it to have neighbours", default=5, least=1
    )

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        near = images.near(self.neighbours, self.least)
        best = [beam[0].split() for beam in speaker.beam(images.seen(), images.chances, self.width)]
        return [
            [" ".join(words), *(" ".join(switched(words, p, near, chance)) for p in self.p.over(captions - 1))]
            for words, chance in zip(best, images.chances, strict=True)
        ]


class LatentDraws(SetMethod):
    """DRV: each caption is the likeliest for another latent vector. Wang, Chan (CVPR 2019), section 5.2."""

    family: ClassVar[str] = "drv"
    spread: Span = parameter(
        "standard deviation of the draws, times that of the prior", default="1..10", kind=Span, least=0
    )
    width: int = parameter("width of the beam that finds each caption; 1 is greedy", default=1, least=1)

    def check(self, speaker: Speaker, captions: int) -> None:  # noqa: ARG002
        """See `SetMethod`."""
        self._latent(speaker)

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        spreads = self.spread.over(captions)
        return self._latent(speaker).draw(images.seen(), images.chances, spreads, width=self.width)

    def _latent(self, speaker: Speaker) -> TrainedSpeaker:
        if isinstance(speaker, TrainedSpeaker) and isinstance(speaker.model, LatentCaptioner):
            return speaker
        who = speaker.model.name if isinstance(speaker, TrainedSpeaker) else "a checkpoint"
        latent = ", ".join(name for name, model in MODELS.items() if issubclass(model, LatentCaptioner))
        raise UsageError(f"drv draws latent vectors, which {who} does not have; these do: {latent}; try rs")


METHODS: dict[str, type[SetMethod]] = {
    method.family: method
    for method in (RandomSampling, Beam, DiverseBeam, RandomCrops, GaussianNoise, SynonymSwitching, LatentDraws)
}
"""Ways to make caption sets, by name."""


def set_method(text: str) -> SetMethod:
    """A way to make caption sets from its text: `rs`, `rs(temperature=0.7, top_k=20)`.

    Raises:
        UsageError: no such method, parameter or value; names are suggested.
    """
    match = re.fullmatch(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise UsageError(f"{text!r} is not a way to make caption sets; write rs or rs(temperature=0.7, top_k=20)")
    name = match[1].lower()
    accepted_name("the way to make caption sets", name, list(METHODS))
    return METHODS[name]().with_text(match[2] or "")
