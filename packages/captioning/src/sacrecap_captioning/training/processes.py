"""The processes of one training run: torchrun starts one per GPU, each takes its part of every batch."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor, distributed, nn

from sacrecap.errors import UsageError
from sacrecap.vision.devices import choose_device

_PATIENCE = timedelta(hours=6)
"""How long processes wait for each other: the first reads images, trains an encoder and validates alone."""


@dataclass(frozen=True)
class Processes:
    """This process among those of the run. On its own it is the first of one."""

    rank: int
    world: int
    device: torch.device

    @classmethod
    def join(cls, device: str) -> Processes:
        """Joins those that torchrun has started, or stays alone.

        Raises:
            UsageError: the device cannot be used, or there are fewer GPUs than processes on this machine.
        """
        world = int(os.environ.get("WORLD_SIZE", "1"))
        if world == 1:
            return cls(0, 1, choose_device(device))
        local = int(os.environ.get("LOCAL_RANK", "0"))
        if device == "auto" and torch.cuda.is_available():
            if local >= torch.cuda.device_count():
                raise UsageError(
                    f"process {local} has no GPU of its own: this machine has {torch.cuda.device_count()}; start fewer "
                    "processes (torchrun --nproc-per-node), or use the CPU (--device cpu)"
                )
            device = f"cuda:{local}"
        chosen = choose_device(device)
        if not distributed.is_initialized():
            kind = "nccl" if chosen.type == "cuda" else "gloo"
            distributed.init_process_group(kind, timeout=_PATIENCE)
        return cls(distributed.get_rank(), world, chosen)

    @property
    def first(self) -> bool:
        """Whether this process is the one that validates, writes and speaks."""
        return self.rank == 0

    def agree(self, modules: Iterable[nn.Module]) -> None:
        """Gives all processes the first one's weights."""
        if self.world > 1:
            for module in modules:
                for tensor in module.state_dict().values():
                    distributed.broadcast(tensor, 0)

    @contextlib.contextmanager
    def first_then_others(self) -> Iterator[None]:
        """The block runs in the first process, then in the others, which find the first one's results in the cache."""
        if self.world > 1 and not self.first:
            distributed.barrier()
        yield
        if self.world > 1 and self.first:
            distributed.barrier()

    def average_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replaces each gradient by its mean over the processes."""
        if self.world == 1:
            return
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(flat)
        parts = torch.split(flat / self.world, [gradient.numel() for gradient in gradients])
        for parameter, gradient in zip(parameters, parts, strict=True):
            parameter.grad = gradient.view_as(parameter)

    def gather(self, value: Any) -> list[Any]:
        """The value of each process, in all of them."""
        if self.world == 1:
            return [value]
        values: list[Any] = [None] * self.world
        distributed.all_gather_object(values, value)
        return values

    def broadcast(self, number: float) -> float:
        """The first process' number, in all of them."""
        if self.world == 1:
            return number
        tensor: Tensor = torch.tensor([number], dtype=torch.float64, device=self.device)
        distributed.broadcast(tensor, 0)
        return tensor.item()

    def leave(self) -> None:
        """Ends the group, where there is one."""
        if self.world > 1 and distributed.is_initialized():
            distributed.destroy_process_group()
