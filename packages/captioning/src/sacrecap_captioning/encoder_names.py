"""Names of encoders and their weights, known without torch, so that errors are reported at once."""

from __future__ import annotations

import os

from sacrecap.errors import UsageError

SMALL = "small"
"""The encoder for small pictures."""
AUTO, RANDOM, WORDS = "auto", "random", "words"
"""Weights of an encoder: a checkpoint's own, else random ones; random ones; learned from the words of the captions."""


def is_checkpoint(encoder: str) -> bool:
    """Whether this names a vision model of transformers: its folder, or owner/name on the hub.

    `small` is that encoder also where a folder has this name; such a folder is ./small.
    """
    return encoder != SMALL


def check_encoder(encoder: str, weights: str) -> None:
    """Raises `UsageError` for an encoder that does not exist, or weights that it does not have, without loading it."""
    if encoder != SMALL and "/" not in encoder and not os.path.isdir(encoder):
        raise UsageError(
            f"the encoder {encoder!r} is neither {SMALL} nor a vision model of transformers: its folder, or owner/name "
            "on the hub, such as microsoft/resnet-18"
        )
    if os.path.isfile(weights) or weights == AUTO:
        return
    if is_checkpoint(encoder):
        raise UsageError(
            f"the weights {weights!r} are neither a file nor {AUTO!r}: {encoder} is a checkpoint, which has its own"
        )
    if weights not in {RANDOM, WORDS}:
        raise UsageError(
            f"the weights {weights!r} of {SMALL} are neither a file nor {RANDOM!r} or {WORDS!r}; published weights are "
            "those of checkpoints, such as --encoder microsoft/resnet-18"
        )
