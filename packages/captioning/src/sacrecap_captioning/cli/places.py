"""The value of `--features`: a file of features, or the folder for features of encoders."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import click

from sacrecap.errors import UsageError
from sacrecap_captioning.data.feature_file import is_feature_file

_TEXT = (
    "Features computed elsewhere, by image id (.npz, .safetensors), instead of an encoder's; or the folder where those "
    "of frozen encoders are kept, by default the user's cache folder."
)

features: Callable[[Any], Any] = click.option("--features", metavar="FILE|DIR", help=_TEXT)


class Places(NamedTuple):
    """The source of features."""

    file: str | None
    cache: str | None


def places(given: str | None) -> Places:
    """What the value of `--features` means: a file, or a folder that may still have to be made."""
    if given is not None and is_feature_file(given):
        return Places(given, None)
    return Places(None, given)


def check_no_encoder(file: str, given: Collection[str]) -> None:
    """Raises `UsageError` if an encoder is chosen together with a file of features."""
    names = [name for name in ("encoder", "weights", "encoder_epochs", "side", "train_encoder") if name in given]
    if names:
        listed = ", ".join("--" + name.replace("_", "-") for name in names)
        raise UsageError(f"{file} has features, for which no encoder is needed; leave {listed} out")
