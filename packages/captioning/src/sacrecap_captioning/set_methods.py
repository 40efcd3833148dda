"""Ways to make caption sets, and speakers, which turn images into words for them.

Methods are frozen values that print as text and parse back, as metrics do.

method = set_method("rs(temperature=0.7)")
make_sets(method, TrainedSpeaker(model, vocabulary, encoder=encoder), images, captions=10, seed=1)
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor

from sacrecap.errors import DataError, UsageError, accepted_name, of_extra
from sacrecap.metrics import parameter
from sacrecap.metrics.declared import Declared, accepts
from sacrecap_captioning.captioner import (
    PLAIN,
    UNKNOWN,
    Captioner,
    Decoded,
    Features,
    Sampling,
    State,
    Vocabulary,
    beam,
    sample,
)
from sacrecap_captioning.encoders import Encoder, to_pixels
from sacrecap_captioning.models import MODELS, LatentCaptioner

Seen: TypeAlias = Any
"""B images as a speaker sees them: `Features` of a captioner, pixels of others."""

Chances: TypeAlias = Sequence[np.random.Generator]
"""The generators of all random numbers of B images, one per image, of the seed and its id: no caption depends on the
batch.
"""


class Speaker(Protocol):
    """Captions of images, several per image."""

    @property
    def side(self) -> int:
        """Pixels of the square that images are resized to."""
        ...

    def see(self, images: Sequence[Image.Image]) -> Seen:
        """RGB images of any size, as the other methods take them."""
        ...

    def sample(self, inputs: Seen, chances: Chances, samples: int, *, sampling: Sampling = PLAIN) -> list[list[str]]:
        """`samples` captions of each image, drawn word by word."""
        ...

    def beam(
        self, inputs: Seen, chances: Chances, width: int, *, groups: int = 1, penalty: float = 0.5
    ) -> list[list[str]]:
        """`width` captions of each image by (diverse) beam search, the likeliest first."""
        ...


class TrainedSpeaker:
    """A captioner with its vocabulary. It never says `<unknown>`: captions are for people to read."""

    def __init__(
        self, model: Captioner, vocabulary: Vocabulary, *, limit: int = 20, encoder: Encoder | None = None
    ) -> None:
        """`limit` is the most words of a caption; without an encoder it only takes features."""
        self.model = model.eval()
        self.vocabulary = vocabulary
        self.limit = limit
        self.encoder = None if encoder is None else encoder.eval()

    @property
    def side(self) -> int:
        if self.encoder is None:
            raise UsageError(
                "this method changes the images, so it needs the encoder that the captioner was trained on"
            )
        return self.encoder.side

    @torch.inference_mode()
    def see(self, images: Sequence[Image.Image]) -> Features:
        pixels, encoder = torch.stack([to_pixels(image, self.side) for image in images]), cast("Encoder", self.encoder)
        features: Features = encoder(pixels.to(encoder.mean.device))
        return features

    @torch.inference_mode()
    def sample(
        self, features: Features, chances: Chances, samples: int, *, sampling: Sampling = PLAIN
    ) -> list[list[str]]:
        state = self._begin(features, chances, np.ones(samples))
        chance = uniform(chances, samples, self.limit).to(state[0].device)
        decoded = sample(self._step, state, limit=self.limit, sampling=sampling, chance=chance)
        return self._texts(decoded, samples)

    @torch.inference_mode()
    def beam(
        self, features: Features, chances: Chances, width: int, *, groups: int = 1, penalty: float = 0.5
    ) -> list[list[str]]:
        state = self._begin(features, chances, np.ones(1))  # one latent vector for all captions of a beam
        return self._searched(state, width, groups=groups, penalty=penalty)

    @torch.inference_mode()
    def draw(
        self, features: Features, chances: Chances, spreads: npt.NDArray[np.float64], *, width: int = 1
    ) -> list[list[str]]:
        """A caption of each image for each of (k,) spreads of its latent vector, the likeliest of a beam."""
        beams = self._searched(self._begin(features, chances, spreads), width)
        return in_sets([beam[0] for beam in beams], len(spreads))

    def _begin(self, features: Features, chances: Chances, spreads: npt.NDArray[np.float64]) -> State:
        """States of N = k·B rows for (k,) spreads of latent vectors, where the captioner has them."""
        features = features.to(next(self.model.parameters()).device)
        repeated = features.repeated(len(spreads))
        if not isinstance(self.model, LatentCaptioner):
            return self.model.begin(repeated)
        device, latents = features.pooled.device, len(spreads)
        spread = torch.from_numpy(spreads).to(features.pooled)[:, None]  # (k, 1)
        latent = []
        for image, chance in enumerate(chances):
            generator = torch.Generator(device).manual_seed(int(chance.integers(2**63)))
            rows = repeated.rows(torch.arange(image * latents, (image + 1) * latents, device=device))
            latent.append(self.model.draw(rows, spread, generator))
        return self.model.begin(repeated, torch.cat(latent))

    def _step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        logits, state = self.model.step(words, state)
        logits[:, UNKNOWN] = -torch.inf
        return logits, state

    def _searched(self, state: State, width: int, *, groups: int = 1, penalty: float = 0.0) -> list[list[str]]:
        """The beam of each row of a state."""
        decoded = beam(self._step, state, limit=self.limit, width=width, groups=groups, penalty=penalty)
        return self._texts(decoded, width)

    def _texts(self, decoded: Decoded, size: int) -> list[list[str]]:
        return in_sets([self.vocabulary.text(row) for row in decoded.words.tolist()], size)


def uniform(chances: Chances, samples: int, limit: int) -> Tensor:
    """(N, limit) numbers in [0, 1), N = samples·B: those of an image from its generator alone."""
    drawn = [chance.random((samples, limit), dtype=np.float32) for chance in chances]
    return torch.from_numpy(np.concatenate(drawn))


def in_sets(captions: Sequence[str], size: int) -> list[list[str]]:
    """Captions in consecutive rows, cut into sets."""
    return [list(captions[start : start + size]) for start in range(0, len(captions), size)]


Neighbours = Callable[[str], tuple[Sequence[str], npt.NDArray[np.float64]]]
"""A word's neighbours, and the probability of each (together 1); none of a word without."""


def switched(words: Sequence[str], p: float, near: Neighbours, chance: np.random.Generator) -> list[str]:
    """The words, each replaced with probability p by one of its neighbours."""
    result = []
    for word in words:
        neighbours, likelihood = near(word)
        switch = chance.random() < p and len(neighbours) > 0
        result.append(neighbours[chance.choice(len(neighbours), p=likelihood)] if switch else word)
    return result


def near_words(captions: Sequence[Sequence[str]], count: int, least: int) -> Neighbours:
    """Neighbours by cosine in word2vec trained on tokenised captions; always the same for the same captions.

    Raises:
        DataError: no word occurs `least` times.
        MissingDependencyError: gensim is not installed.
    """
    with of_extra("train", "switching synonyms"):
        from gensim.models import Word2Vec
    if max(Counter(word for caption in captions for word in caption).values(), default=0) < least:
        raise DataError(
            f"ss learns synonyms of words that occur {least} times, and the {len(captions):,} training captions have "
            "none; give more captions, or ss(least=…)"
        )
    # One worker: with several, the order of updates, and so the vectors, would differ from run to run. No word is left
    # out for being common (`sample`): captions use few words, and of a small data set nothing would be learnt.
    vectors: Any = Word2Vec(captions, vector_size=100, min_count=least, sample=0, epochs=10, workers=1, seed=1).wv

    @cache
    def near(word: str) -> tuple[Sequence[str], npt.NDArray[np.float64]]:
        neighbours = vectors.most_similar(word, topn=count) if word in vectors else []
        alike = [(neighbour, likeness) for neighbour, likeness in neighbours if likeness > 0]
        weights = np.array([likeness for _, likeness in alike], dtype=np.float64)
        return [neighbour for neighbour, _ in alike], weights / weights.sum()

    return near


@dataclass(frozen=True)
class ImageBatch:
    """B images, read on request."""

    inputs: Callable[[], Seen]
    """The images as the speaker sees them."""
    pictures: Callable[[], list[Image.Image]]
    """The images themselves, in RGB."""
    chances: Chances
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

    def __str__(self) -> str:
        return self.key

    def complete(self) -> None:
        """Takes the text of a range as one. Raises `UsageError` for another text, and ends out of bounds."""
        for declared in (declaration for declaration in self.parameters() if declaration.kind is Span):
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

    title: ClassVar[str] = "rs"
    temperature: float = parameter("divides the logits; below 1, likely words become more likely", default=1.0, above=0)
    top_k: int = parameter("draw among that many likeliest words; 0 is all", default=0, least=0)
    nucleus: float = parameter(
        "draw among the fewest likeliest words that reach this probability", default=1.0, above=0, most=1
    )

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        sampling = Sampling(self.temperature, self.top_k, self.nucleus)
        return speaker.sample(images.inputs(), images.chances, captions, sampling=sampling)


class Beam(SetMethod):
    """Beam search: the likeliest captions, each once."""

    title: ClassVar[str] = "beam"

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        return speaker.beam(images.inputs(), images.chances, captions)


class DiverseBeam(SetMethod):
    """Groups of a beam that avoid each other's words: Vijayakumar et al. (AAAI 2018), with Hamming diversity."""

    title: ClassVar[str] = "diverse-beam"
    groups: int = parameter(
        "groups of the beam, which divide the captions; 0 is one group per caption", default=0, least=0
    )
    penalty: float = parameter("cost of a word for each time earlier groups have just used it", default=0.5, least=0)

    def check(self, speaker: Speaker, captions: int) -> None:  # noqa: ARG002
        if captions % (self.groups or captions):
            raise UsageError(
                f"diverse-beam: the groups must divide the {captions} captions of a set, got {self.groups}"
            )

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        groups = self.groups or captions
        return speaker.beam(images.inputs(), images.chances, captions, groups=groups, penalty=self.penalty)


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
        pictures, side = images.pictures(), speaker.side
        sets: list[list[str]] = [[] for _ in pictures]
        for alteration in self.alterations(captions):
            pairs = zip(pictures, images.chances, strict=True)
            inputs = speaker.see([alteration(image, side, chance) for image, chance in pairs])
            for captions_of_image, ranked in zip(sets, speaker.beam(inputs, images.chances, self.width), strict=True):
                captions_of_image.append(ranked[0])
        return sets


class RandomCrops(Altered):
    """RCI: each caption sees another crop of the image."""

    title: ClassVar[str] = "rci"

    def alterations(self, captions: int) -> Sequence[Alteration]:
        return [random_crop] * captions


class GaussianNoise(Altered):
    """GNC: each caption sees the image with other noise.

    The paper's deviations are 1 to 10, without a scale: for pixels from 0 to 255 they change almost nothing. The
    default is ten times as large; with it, the diversity of sets is where the paper shows it: between a beam and
    people.
    """

    title: ClassVar[str] = "gnc"
    sigma: Span = parameter(
        "standard deviation of the noise, of pixels from 0 to 255", default="10..100", kind=Span, least=0
    )

    def alterations(self, captions: int) -> Sequence[Alteration]:
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

    title: ClassVar[str] = "ss"
    p: Span = parameter("probability that a word is switched", default="0.1..0.5", kind=Span, least=0, most=1)
    neighbours: int = parameter("nearest words that a word is switched for", default=10, least=1)
    width: int = parameter("width of the beam that finds the caption", default=3, least=1)
    least: int = parameter(
        "times that the training captions must have a word for it to have neighbours", default=5, least=1
    )

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        near = images.near(self.neighbours, self.least)
        best = [beam[0].split() for beam in speaker.beam(images.inputs(), images.chances, self.width)]
        return [
            [" ".join(words), *(" ".join(switched(words, p, near, chance)) for p in self.p.over(captions - 1))]
            for words, chance in zip(best, images.chances, strict=True)
        ]


class LatentDraws(SetMethod):
    """DRV: each caption is the likeliest for another latent vector. Wang, Chan (CVPR 2019), section 5.2."""

    title: ClassVar[str] = "drv"
    spread: Span = parameter(
        "standard deviation of the draws, times that of the prior", default="1..10", kind=Span, least=0
    )
    width: int = parameter("width of the beam that finds each caption; 1 is greedy", default=1, least=1)

    def check(self, speaker: Speaker, captions: int) -> None:  # noqa: ARG002
        self._latent(speaker)

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        spreads = self.spread.over(captions)
        return self._latent(speaker).draw(images.inputs(), images.chances, spreads, width=self.width)

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


def set_method(text: str | SetMethod) -> SetMethod:
    """A way to make caption sets from its text: `rs`, `rs(temperature=0.7, top_k=20)`.

    Raises:
        UsageError: no such method, parameter or value; names are suggested.
    """
    if isinstance(text, SetMethod):
        return text
    match = re.fullmatch(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise UsageError(f"{text!r} is not a way to make caption sets; write rs or rs(temperature=0.7, top_k=20)")
    name = match[1].lower()
    accepted_name("the way to make caption sets", name, list(METHODS))
    return METHODS[name]().with_text(match[2] or "")
