"""Ways to make caption sets: frozen values that print as text and parse back, as metrics do.

method = set_method("rs(temperature=0.7)")
make_sets(method, TrainedSpeaker(model, vocabulary, encoder=encoder), images, captions=10, seed=1)
"""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from sacrecap.errors import UsageError, accepted_name
from sacrecap_captioning.decoding.speaker import Seen, Speaker, TrainedSpeaker
from sacrecap_captioning.decoding.synonyms import Neighbours, near_words, switched
from sacrecap_captioning.models import MODELS, LatentCaptioner
from sacrecap_captioning.models.search import Sampling
from sacrecap_captioning.settings import accepts, check_bounds, declared, setting

M = TypeVar("M", bound="SetMethod")


@dataclass(frozen=True)
class ImageBatch:
    """B images, read on request, and the generators of all their random numbers."""

    seen: Callable[[], Seen]
    """The images as the speaker sees them."""
    pictures: Callable[[], list[Image.Image]]
    """The images themselves, in RGB."""
    chances: Sequence[np.random.Generator]
    """One per image, of the seed and the image's id: captions do not depend on the batch."""


@dataclass(frozen=True)
class Span:
    """A range from the first caption of a set to its last, in equal steps: `1..10`; `3` if both ends are equal."""

    first: float
    last: float

    @classmethod
    def parse(cls, text: str) -> Span:
        """From its text. Raises `ValueError` for another form."""
        first, dots, last = text.partition("..")
        return cls(float(first), float(last if dots else first))

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends."""
        return self.first, self.last

    def over(self, captions: int) -> npt.NDArray[np.float64]:
        """(captions,) the value for each."""
        return np.linspace(self.first, self.last, captions)

    def __str__(self) -> str:
        return f"{self.first:g}" if self.first == self.last else f"{self.first:g}..{self.last:g}"


@dataclass(frozen=True)
class SetMethod(ABC):
    """A way to make several captions per image, with its parameters; prints as `rs(temperature=0.7)`."""

    name: ClassVar[str]
    """The name on the command line: `rs`, `beam`."""
    alters_images: ClassVar[bool] = False
    """Whether the method alters the images, so that features of the original images cannot be used."""

    def __post_init__(self) -> None:
        check_bounds(self, f"{self.name}: ")

    def check(self, speaker: Speaker, captions: int) -> None:  # noqa: B027 - most have nothing to check
        """Raises `UsageError` if the speaker, or this number of captions, cannot be used with this method."""

    @abstractmethod
    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """Makes this number of captions of each image, with a speaker that has been checked."""

    def prepared(self: M, training: Callable[[], Sequence[Sequence[str]]]) -> M:  # noqa: ARG002
        """The method after it has learnt what it needs from the tokenised training captions, which it may call for."""
        return self

    @classmethod
    def parameters(cls) -> list[dataclasses.Field[Any]]:
        """The declared parameters."""
        return declared(cls)

    @classmethod
    def with_parameters(cls: type[M], values: Mapping[str, str]) -> M:
        """The method with these parameters as text, the others at their defaults.

        Raises:
            UsageError: no such parameter, or a value that is not accepted.
        """
        known = {field.name: field for field in cls.parameters()}
        parsed: dict[str, Any] = {}
        for name, text in values.items():
            if name not in known:
                raise UsageError(f"{cls.name}: no parameter {name!r}; its parameters: {', '.join(known) or 'none'}")
            kind: Any = known[name].metadata["kind"]
            try:
                parsed[name] = Span.parse(text) if kind is Span else kind(text)
            except ValueError:
                raise UsageError(f"{cls.name}: {name} must be {accepts(known[name])}, got {text!r}") from None
        return cls(**parsed)

    def __str__(self) -> str:
        changed = [field for field in self.parameters() if getattr(self, field.name) != field.default]
        inside = ", ".join(f"{field.name}={spell(getattr(self, field.name))}" for field in changed)
        return self.name + (f"({inside})" if inside else "")


def spell(value: float | Span) -> str:
    """A value as text that parses back."""
    return str(value) if isinstance(value, Span) else f"{value:g}"


@dataclass(frozen=True)
class RandomSampling(SetMethod):
    """RS: each caption is an independent sample, word by word.

    Wang, Chan (CVPR 2019), section 5.2. Top-k: Fan, Lewis, Dauphin (ACL 2018). Nucleus: Holtzman et al. (ICLR 2020).
    """

    name: ClassVar[str] = "rs"
    temperature: float = setting(1.0, "divides the logits; below 1, likely words become more likely", above=0)
    top_k: int = setting(0, "draw among that many likeliest words; 0 is all", least=0)
    nucleus: float = setting(1.0, "draw among the fewest likeliest words that reach this probability", above=0, most=1)

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        sampling = Sampling(self.temperature, self.top_k, self.nucleus)
        return speaker.sample(images.seen(), images.chances, captions, sampling=sampling)


@dataclass(frozen=True)
class Beam(SetMethod):
    """Beam search: the likeliest captions, each once."""

    name: ClassVar[str] = "beam"

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        return speaker.beam(images.seen(), images.chances, captions)


@dataclass(frozen=True)
class DiverseBeam(SetMethod):
    """Groups of a beam that avoid each other's words: Vijayakumar et al. (AAAI 2018), with Hamming diversity."""

    name: ClassVar[str] = "diverse-beam"
    groups: int = setting(0, "groups of the beam, which divide the captions; 0 is one group per caption", least=0)
    penalty: float = setting(0.5, "cost of a word for each time earlier groups have just used it", least=0)

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


@dataclass(frozen=True)
class Altered(SetMethod):
    """The likeliest caption of each of several altered images. Wang, Chan (CVPR 2019), section 5.2."""

    alters_images: ClassVar[bool] = True
    width: int = setting(1, "width of the beam that finds each caption; 1 is greedy", least=1)

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
    """RCI: each caption sees another crop of the image."""

    name: ClassVar[str] = "rci"

    def alterations(self, captions: int) -> Sequence[Alteration]:
        """See `Altered`."""
        return [random_crop] * captions


@dataclass(frozen=True)
class GaussianNoise(Altered):
    """GNC: each caption sees the image with other noise.

    The paper's deviations are 1 to 10, without a scale: for pixels from 0 to 255 they change almost nothing. The
    default is ten times as large; with it, the diversity of sets is where the paper shows it: between a beam and
    people.
    """

    name: ClassVar[str] = "gnc"
    sigma: Span = setting(Span(10, 100), "standard deviation of the noise, of pixels from 0 to 255", least=0)

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


@dataclass(frozen=True)
class SynonymSwitching(SetMethod):
    """SS: the beam's best caption, and copies of it in which words are switched for their neighbours.

    Only the wording varies: a switched word may be wrong.
    """

    name: ClassVar[str] = "ss"
    p: Span = setting(Span(0.1, 0.5), "probability that a word is switched", least=0, most=1)
    neighbours: int = setting(10, "nearest words that a word is switched for", least=1)
    width: int = setting(3, "width of the beam that finds the caption", least=1)
    least: int = setting(5, "times that the training captions must have a word for it to have neighbours", least=1)
    near: Neighbours | None = dataclasses.field(default=None, repr=False, compare=False)
    """Learnt from training captions by `prepared`."""

    def prepared(self, training: Callable[[], Sequence[Sequence[str]]]) -> SynonymSwitching:
        """Learns word vectors from the training captions."""
        return dataclasses.replace(self, near=near_words(training(), self.neighbours, self.least))

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        if self.near is None:
            raise UsageError("ss learns words' neighbours from training captions; give some")
        best = [beam[0].split() for beam in speaker.beam(images.seen(), images.chances, self.width)]
        return [
            [" ".join(words), *(" ".join(switched(words, p, self.near, chance)) for p in self.p.over(captions - 1))]
            for words, chance in zip(best, images.chances, strict=True)
        ]


@dataclass(frozen=True)
class LatentDraws(SetMethod):
    """DRV: each caption is the likeliest for another latent vector. Wang, Chan (CVPR 2019), section 5.2."""

    name: ClassVar[str] = "drv"
    spread: Span = setting(Span(1, 10), "standard deviation of the draws, times that of the prior", least=0)
    width: int = setting(1, "width of the beam that finds each caption; 1 is greedy", least=1)

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
    method.name: method
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
    name, inside = match[1].lower(), match[2] or ""
    accepted_name("the way to make caption sets", name, list(METHODS))
    values: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in inside.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise UsageError(f"{name}: {part!r} is not a parameter with its value, such as temperature=0.7")
        values[key.replace("-", "_")] = value
    return METHODS[name].with_parameters(values)
