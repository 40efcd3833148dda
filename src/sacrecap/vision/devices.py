"""The devices that networks run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacrecap.errors import UsageError

if TYPE_CHECKING:
    import torch


def choose_device(name: str) -> torch.device:
    """The device of that name; `auto` is the GPU when there is one. Raises `UsageError` if it cannot be used."""
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise UsageError(f"the device {name!r} cannot be used ({reason}); choose auto, cpu, cuda or cuda:N") from None
    return device
