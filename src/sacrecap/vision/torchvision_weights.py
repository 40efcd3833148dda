"""Weights of torchvision's models: published ones by name, or the file of a state dict."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from typing import Any

import torch

from sacrecap.data.source import reading
from sacrecap.errors import DataError, UsageError


def check_weights(name: str, weights: str) -> Any:
    """The published weights of the model that the name means; None for `random` and for a file.

    Raises:
        UsageError: it is neither.
    """
    from torchvision import models

    known: Any = models.get_model_weights(name)
    if weights in known.__members__ or weights == "DEFAULT":
        return known[weights] if weights != "DEFAULT" else known.DEFAULT
    if weights != "random" and not os.path.exists(weights):
        accepted = ", ".join(dict.fromkeys(["DEFAULT", *known.__members__, "random"]))
        raise UsageError(f"the weights {weights!r} of {name} are neither a file nor one of {accepted}")
    return None


def published(name: str, weights: Any, **options: Any) -> torch.nn.Module:
    """The model with weights that torchvision keeps in its cache, or fetches.

    Raises:
        DataError: they cannot be fetched; the message says which file to put where.
    """
    from torchvision import models

    try:
        model: torch.nn.Module = models.get_model(name, weights=weights, progress=sys.stderr.isatty(), **options)
    except (OSError, RuntimeError) as error:
        folder = os.path.join(torch.hub.get_dir(), "checkpoints")
        raise DataError(
            f"the weights {weights.name} of {name} cannot be fetched ({error}); "
            f"download {weights.url} and put it into {folder}"
        ) from None
    return model


def load_weights(model: torch.nn.Module, path: str, name: str) -> None:
    """Loads a state dict without executing what the file may hold.

    Raises:
        DataError: the file does not belong to this model.
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
