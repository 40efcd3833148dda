"""Speakers turn images into words: a captioner with its vocabulary, or any object that samples and searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sacrecap.errors import UsageError
from sacrecap_captioning.data.encoder import Encoder, to_pixels
from sacrecap_captioning.models import Captioner, Features, LatentCaptioner, State
from sacrecap_captioning.models.search import PLAIN, Decoded, Sampling, beam, sample
from sacrecap_captioning.vocabulary import UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from PIL.Image import Image

Seen: TypeAlias = Any
"""B images as a speaker sees them: `Features` of a captioner, pixels of others."""


class Speaker(Protocol):
    """Captions of images, several per image. What is random is decided by one generator per image."""

    @property
    def side(self) -> int:
        """Pixels of the square that images are resized to."""
        ...

    def see(self, images: Sequence[Image]) -> Seen:
        """RGB images of any size, as the other methods take them."""
        ...

    def sample(
        self, seen: Seen, chances: Sequence[np.random.Generator], samples: int, *, sampling: Sampling = PLAIN
    ) -> list[list[str]]:
        """`samples` captions of each image, drawn word by word."""
        ...

    def beam(
        self, seen: Seen, chances: Sequence[np.random.Generator], width: int, *, groups: int = 1, penalty: float = 0.5
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
        self._known = _Known(model)
        self.vocabulary = vocabulary
        self.limit = limit
        self.encoder = None if encoder is None else encoder.eval()

    @property
    def side(self) -> int:
        """See `Speaker`."""
        return self._encoder().side

    @torch.inference_mode()
    def see(self, images: Sequence[Image]) -> Features:
        """See `Speaker`."""
        encoder = self._encoder()
        pixels = torch.stack([to_pixels(image, encoder.side) for image in images])
        features: Features = encoder(pixels.to(encoder.mean.device))
        return features

    @torch.inference_mode()
    def sample(
        self, seen: Features, chances: Sequence[np.random.Generator], samples: int, *, sampling: Sampling = PLAIN
    ) -> list[list[str]]:
        """See `Speaker`."""
        state = self._begin(self._here(seen), chances, np.ones(samples))
        chance = uniform(chances, samples, self.limit).to(state[0].device)
        decoded = sample(self._known, state, limit=self.limit, sampling=sampling, chance=chance)
        return self._texts(decoded, samples)

    @torch.inference_mode()
    def beam(
        self,
        seen: Features,
        chances: Sequence[np.random.Generator],
        width: int,
        *,
        groups: int = 1,
        penalty: float = 0.5,
    ) -> list[list[str]]:
        """See `Speaker`."""
        state = self._begin(self._here(seen), chances, np.ones(1))  # one latent vector for all captions of a beam
        return self._searched(state, width, groups=groups, penalty=penalty)

    @torch.inference_mode()
    def draw(
        self,
        seen: Features,
        chances: Sequence[np.random.Generator],
        spreads: npt.NDArray[np.float64],
        *,
        width: int = 1,
    ) -> list[list[str]]:
        """A caption of each image for each of (k,) spreads of its latent vector, the likeliest of a beam."""
        found = self._searched(self._begin(self._here(seen), chances, spreads), width)
        return in_sets([beam[0] for beam in found], len(spreads))

    def _begin(
        self, features: Features, chances: Sequence[np.random.Generator], spreads: npt.NDArray[np.float64]
    ) -> State:
        """States of N = k·B rows for (k,) spreads of latent vectors, where the captioner has them."""
        repeated = features.repeated(len(spreads))
        if not isinstance(self.model, LatentCaptioner):
            return self.model.begin(repeated)
        device, each = features.pooled.device, len(spreads)
        spread = torch.from_numpy(spreads).to(features.pooled)[:, None]  # (k, 1)
        latent = []
        for image, chance in enumerate(chances):
            generator = torch.Generator(device).manual_seed(int(chance.integers(2**63)))
            rows = repeated.rows(torch.arange(image * each, (image + 1) * each, device=device))
            latent.append(self.model.draw(rows, spread, generator))
        return self.model.begin(repeated, torch.cat(latent))

    def _searched(self, state: State, width: int, *, groups: int = 1, penalty: float = 0.0) -> list[list[str]]:
        """The beam of each row of a state."""
        decoded = beam(self._known, state, limit=self.limit, width=width, groups=groups, penalty=penalty)
        return self._texts(decoded, width)

    def _texts(self, decoded: Decoded, each: int) -> list[list[str]]:
        return in_sets([self.vocabulary.text(row) for row in decoded.words.tolist()], each)

    def _here(self, features: Features) -> Features:
        return features.to(next(self.model.parameters()).device)

    def _encoder(self) -> Encoder:
        if self.encoder is None:
            raise UsageError(
                "this method changes the images, so it needs the encoder that the captioner was trained on"
            )
        return self.encoder


class _Known:
    """A captioner that does not say `<unknown>`."""

    def __init__(self, model: Captioner) -> None:
        self.model = model

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        logits, state = self.model.step(words, state)
        logits[:, UNKNOWN] = -torch.inf
        return logits, state


def uniform(chances: Sequence[np.random.Generator], samples: int, limit: int) -> Tensor:
    """(N, limit) numbers in [0, 1), N = samples·B: those of an image from its generator alone."""
    drawn = [chance.random((samples, limit), dtype=np.float32) for chance in chances]
    return torch.from_numpy(np.concatenate(drawn))


def in_sets(captions: Sequence[str], each: int) -> list[list[str]]:
    """Captions in consecutive rows, cut into sets."""
    return [list(captions[start : start + each]) for start in range(0, len(captions), each)]
