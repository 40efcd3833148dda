"""Checkpoints: tensors on disk, whole or not at all, and read without executing what the file may hold."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError


def write_tensors(path: PathLike, content: Mapping[str, Any]) -> None:
    """Writes tensors, numbers and texts in dictionaries and lists. Raises `DataError` if it cannot be written."""
    with atomic_write(path, "wb") as file:
        torch.save(dict(content), file)


def read_tensors(path: PathLike) -> dict[str, Any]:
    """Reads what `write_tensors` wrote, onto the CPU. Raises `DataError` for a missing or damaged file."""
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


@contextlib.contextmanager
def enough_memory(otherwise: str) -> Iterator[None]:
    """Turns running out of memory, on a GPU or not, into a `DataError` with this message."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # Where it is the CPU's memory, torch has no class for it.
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
        raise DataError(otherwise) from None
