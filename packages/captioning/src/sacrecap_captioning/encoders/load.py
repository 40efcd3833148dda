"""Encoders by name, with their weights."""

from __future__ import annotations

from typing import Any

from torch import nn

from sacrecap.errors import DataError, UsageError, accepted_name
from sacrecap_captioning.encoders.encoder import Encoder
from sacrecap_captioning.names import AUTO, RANDOM, SMALL, check_weights, is_checkpoint

_OTHER = ("googlenet", "inception", "maxvit", "swin", "vit")
"""Networks of torchvision whose layers before the pooling are not a plain sequence."""


def encoder_names() -> list[str]:
    """The names that `load_encoder` takes, besides checkpoints of transformers."""
    from torchvision import models

    return [SMALL, *(name for name in models.list_models(module=models) if not name.startswith(_OTHER))]


def load_encoder(name: str, *, weights: str = AUTO, side: int | None = None) -> Encoder:
    """An encoder with weights.

    Args:
        name: one of `encoder_names`; or a vision model of transformers: its folder, or owner/name on the hub.
        weights: `auto` (a checkpoint's own, else `random`); `random` (drawn from torch's global generator); the file of
            a state dict: of the encoder, or of the network as torchvision has it; or for a network of torchvision one
            of its names, such as `DEFAULT`.
        side: pixels of the square that images are resized to; 64 for `small`, the checkpoint's own, else 224.

    Raises:
        UsageError: no such encoder or weights, or too small a side.
        DataError: the weights cannot be fetched or read.
    """
    check_weights(name, weights)
    if is_checkpoint(name):
        from sacrecap_captioning.encoders.checkpoint import load_vision_checkpoint

        encoder = load_vision_checkpoint(name, side)
        if weights != AUTO:
            _load(encoder, None, weights)
        return encoder
    weights = RANDOM if weights == AUTO else weights
    if name == SMALL:  # without loading torchvision
        encoder = Encoder(SMALL, _small(), side or 64)
        if weights != RANDOM:
            _load(encoder, None, weights)
        return encoder
    try:
        accepted_name("the encoder", name, encoder_names())
    except UsageError as error:
        raise UsageError(f"{error}; or a vision model of transformers: its folder, or owner/name") from None
    return _torchvision(name, weights, side or 224)


def _small() -> nn.Module:
    """Four convolutions, each of which halves the picture: 64 pixels become a grid of 4 × 4."""
    layers: list[nn.Module] = []
    for before, after in ((3, 24), (24, 48), (48, 96), (96, 128)):
        layers += [nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
    return nn.Sequential(*layers)


def _torchvision(name: str, weights: str, side: int) -> Encoder:
    from torchvision import models

    from sacrecap.vision import torchvision_weights as known

    chosen = known.check_weights(name, weights)
    network = models.get_model(name, weights=None) if chosen is None else known.published(name, chosen)
    encoder = Encoder(name, _headless(network), side)
    if chosen is None and weights != RANDOM:
        _load(encoder, network, weights)
    return encoder


def _headless(network: nn.Module) -> nn.Module:
    """The layers before the first pooling to a vector: what gives (B, D, h, w)."""
    kept: list[nn.Module] = []
    for name, layer in network.named_children():
        if isinstance(layer, nn.AdaptiveAvgPool2d | nn.AvgPool2d) or name in {"avgpool", "classifier", "fc", "head"}:
            break
        kept.append(layer)
    return nn.Sequential(*kept)


def _load(encoder: Encoder, network: Any, path: str) -> None:
    """Weights of a file: of the encoder itself, or of the whole network that it is the beginning of."""
    from sacrecap.vision.torchvision_weights import load_weights

    try:
        load_weights(encoder, path, f"the encoder {encoder.name}")
    except DataError:
        if network is None:
            raise
        load_weights(network, path, encoder.name)
