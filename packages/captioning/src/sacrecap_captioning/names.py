"""Names of encoders and their weights, known without torch, so that errors are reported at once."""

from __future__ import annotations

import os

from sacrecap.errors import UsageError

SMALL = "small"
"""The encoder for small pictures."""
AUTO, RANDOM, WORDS = "auto", "random", "words"
"""Weights of an encoder: a checkpoint's own, else random ones; random ones; learned from the words of the captions."""


def is_checkpoint(encoder: str) -> bool:
    """Whether this names a checkpoint of transformers: its folder, or owner/name on the hub."""
    return os.path.isdir(encoder) or "/" in encoder


def check_weights(encoder: str, weights: str) -> None:
    """Raises `UsageError` for weights that the encoder does not have, where that is known without loading it."""
    if os.path.isfile(weights) or weights == AUTO:
        return
    if is_checkpoint(encoder):
        raise UsageError(
            f"the weights {weights!r} are neither a file nor {AUTO!r}: {encoder} is a checkpoint, which has its own"
        )
    if encoder == SMALL and weights not in {RANDOM, WORDS}:
        raise UsageError(
            f"the weights {weights!r} of {SMALL} are neither a file nor {RANDOM!r} or {WORDS!r}; published weights are "
            "those of torchvision's networks, such as --encoder resnet18"
        )
