"""Encoders by name: pixels to features, one vector for the image and one per region of its grid, standardised.

`small` is for pictures as small as the made-up scenes. Other names are vision models of transformers.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from sacrecap.data.source import reading
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.encoder_names import AUTO, RANDOM, SMALL, check_encoder, is_checkpoint
from sacrecap_captioning.models.captioner import Features

if TYPE_CHECKING:
    from PIL.Image import Image

GIVEN = "features"
"""The name of what stands for an encoder where features were computed elsewhere."""
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Mean and deviation of ImageNet's channels."""


class Standardisation(nn.Module):
    """Features brought to mean 0 and deviation 1 by what `measure` has measured; before that they are as they come.

    Captioners learn several times faster from such features. This class alone stands for features that were computed
    elsewhere.

    Attributes:
        name: what tells the source of the features from others, such as `microsoft/resnet-18`.
        side: pixels of the side of the square that the source takes; 0 if it takes none.
        feature: D, the size of a feature.
    """

    pooled_mean: Tensor
    pooled_deviation: Tensor
    grid_mean: Tensor
    grid_deviation: Tensor

    def __init__(self, feature: int, *, name: str = GIVEN, side: int = 0) -> None:
        super().__init__()
        self.name = name
        self.side = side
        self._begin(feature)

    def _begin(self, feature: int) -> None:
        self.feature = feature
        for part in Features._fields[:2]:
            self.register_buffer(f"{part}_mean", torch.zeros(feature))
            self.register_buffer(f"{part}_deviation", torch.ones(feature))

    def standard(self, found: Features) -> Features:
        """The features standardised."""
        return Features(
            (found.pooled - self.pooled_mean) / self.pooled_deviation,
            (found.grid - self.grid_mean) / self.grid_deviation,
        )

    @torch.no_grad()
    def measure(self, batches: Iterable[Features]) -> None:
        """From now on features have mean 0 and deviation 1 over these."""
        found = list(batches)
        for part, rows in (
            ("pooled", torch.cat([each.pooled for each in found])),
            ("grid", torch.cat([each.grid.flatten(0, 1) for each in found])),
        ):
            getattr(self, f"{part}_mean").copy_(rows.mean(0))
            getattr(self, f"{part}_deviation").copy_(rows.std(0) + 1e-3)

    @property
    def standardised(self) -> bool:
        """Whether `measure` was called, on this one or on the one whose weights it has."""
        return bool(self.pooled_mean.any())

    @property
    def checksum(self) -> str:
        """The same for the same name, side and weights."""
        digest = hashlib.sha256(f"{self.name} {self.side}".encode())
        for name, weights in self.state_dict().items():
            digest.update(name.encode())
            digest.update(weights.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]


class Encoder(Standardisation):
    """(B, 3, H, W) pixels in [0, 1] to `Features`, standardised once `standardise` was called."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, name: str, body: nn.Module, side: int, *, colours: tuple[Tensor, Tensor] | None = None) -> None:
        """`body` gives maps (B, D, h, w), or `Features`; `colours` are mean and deviation of its pixels, (3,) each.

        Without `colours` they are ImageNet's; given ones are saved with the weights.
        """
        nn.Module.__init__(self)  # the size of a feature is found out with the body
        self.name = name
        self.side = side
        self.body = body
        mean, deviation = colours or (torch.tensor(_MEAN), torch.tensor(_DEVIATION))
        self.register_buffer("mean", mean.view(3, 1, 1), persistent=colours is not None)
        self.register_buffer("deviation", deviation.view(3, 1, 1), persistent=colours is not None)
        self._begin(self._feature_size())

    def forward(self, pixels: Tensor) -> Features:
        """Pooled and grid features."""
        return self.standard(self._measured(pixels))

    @torch.no_grad()
    def standardise(self, pixels: Iterable[Tensor]) -> None:
        """From now on features have mean 0 and deviation 1 over these pictures, batches of (B, 3, H, W)."""
        training = self.training
        self.eval()
        self.measure(self._measured(batch.to(self.mean.device)) for batch in pixels)
        self.train(training)

    def _measured(self, pixels: Tensor) -> Features:
        """Features as they come."""
        found = self.body((pixels - self.mean) / self.deviation)
        if isinstance(found, Features):
            return found
        grid = found.flatten(2).transpose(1, 2)  # (B, R, D) of (B, D, h, w), R = h·w
        return Features(grid.mean(1), grid)

    def _feature_size(self) -> int:
        """D, from an empty picture; a picture too small for the network is found out here."""
        training = self.training
        self.eval()
        try:
            with torch.no_grad():
                size = self._measured(torch.zeros(1, 3, self.side, self.side)).pooled.shape[1]
        except RuntimeError as error:
            raise UsageError(
                f"pictures of {self.side} × {self.side} pixels are too small for {self.name}: {error}"
            ) from None
        self.train(training)
        return int(size)


def to_pixels(image: Image, side: int) -> Tensor:
    """(3, side, side) in [0, 1]: the whole image, resized to a square."""
    resized = image if image.size == (side, side) else image.resize((side, side), 2)  # 2: bilinear
    return torch.from_numpy(np.array(resized)).permute(2, 0, 1).contiguous().float().div(255)


def load_encoder(name: str, *, weights: str = AUTO, side: int | None = None) -> Encoder:
    """An encoder with weights.

    Args:
        name: `small`; or a vision model of transformers: its folder, or owner/name on the hub.
        weights: `auto` (a checkpoint's own, else `random`); `random` (drawn from torch's global generator); or the file
            of an encoder's state dict.
        side: pixels of the square that images are resized to; 64 for `small`, else the checkpoint's own.

    Raises:
        UsageError: no such encoder or weights, or too small a side.
        DataError: the weights cannot be fetched or read.
    """
    check_encoder(name, weights)
    if is_checkpoint(name):
        from sacrecap_captioning.data.vision_checkpoint import load_vision_checkpoint

        encoder = load_vision_checkpoint(name, side)
    else:
        encoder = Encoder(SMALL, _small(), side or 64)
    if weights not in {AUTO, RANDOM}:
        _load_weights(encoder, weights, f"the encoder {name}")
    return encoder


def _load_weights(model: nn.Module, path: str, name: str) -> None:
    """Loads a state dict without executing what the file may hold.

    Raises `DataError` if the file does not belong to this model.
    """
    try:
        with reading(path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            state = torch.load(path, map_location="cpu", weights_only=True)
        model.load_state_dict(state)
    except DataError:
        raise
    except (RuntimeError, pickle.UnpicklingError, EOFError, TypeError, AttributeError, KeyError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(
            f"{path}: is not a state dict of {name} ({reason}); save it with torch.save(model.state_dict())"
        ) from None


def _small() -> nn.Module:
    """Four convolutions, each of which halves the picture: 64 pixels become a grid of 4 × 4."""
    layers: list[nn.Module] = []
    for before, after in ((3, 24), (24, 48), (48, 96), (96, 128)):
        layers += [nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
    return nn.Sequential(*layers)
