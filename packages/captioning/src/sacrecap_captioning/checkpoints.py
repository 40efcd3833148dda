"""Checkpoints: tensors on disk, whole or not at all, and read without executing what the file may hold."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError


def write_tensors(path: PathLike, content: Mapping[str, Any]) -> None:
    """Writes tensors, numbers and texts in dictionaries and lists.

    Raises:
        DataError: the place cannot be written.
    """
    with atomic_write(path, "wb") as file:
        torch.save(dict(content), file)


def read_tensors(path: PathLike) -> dict[str, Any]:
    """Reads the tensors that `write_tensors` wrote, onto the CPU.

    Raises:
        DataError: there is no such file, or it is damaged.
    """
    try:
        with reading(path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except DataError:
        raise
    except (RuntimeError, pickle.UnpicklingError, EOFError, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{path}: is not a checkpoint of sacrecap, or damaged ({reason})") from None
    return content


def random_states(device: torch.device) -> dict[str, Any]:
    """The states of the generators that a step draws from."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_random_states(states: Mapping[str, Any], device: torch.device) -> None:
    """Puts the generators back to where `random_states` found them; a device of another kind keeps its own."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)


def learning(model: nn.Module, encoder: nn.Module | None) -> dict[str, Any]:
    """The weights that a run changes: the captioner's, and the encoder's where it learns."""
    state: dict[str, Any] = {"model": model.state_dict()}
    if encoder is not None:
        state["encoder"] = encoder.state_dict()
    return state
