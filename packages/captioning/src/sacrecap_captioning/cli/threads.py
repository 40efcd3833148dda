"""Torch: whether it is installed, and the number of its CPU threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sacrecap.errors import MissingDependencyError


@contextmanager
def torch_needed(what: str) -> Iterator[None]:
    """Raises `MissingDependencyError` where the block imports torch, torchvision or Pillow, and it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"torch", "torchvision", "PIL"}:
            raise
        raise MissingDependencyError(what, extra="train") from None


def one_thread() -> None:
    """Lets torch compute in one thread, which is fastest for small networks, unless OMP_NUM_THREADS is set.

    A step of Att2in takes three times as long with two threads as with one, and more on a busy machine: the threads
    wait for each other after each of its many small products.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        import torch

        torch.set_num_threads(1)
