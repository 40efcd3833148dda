"""Two processes of one run have one captioner: the same first weights, and at each step the mean of their gradients."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import torch
from torch import multiprocessing, nn

from capeval_captioning.training.processes import Processes


def _take_a_step(rank: int, port: int, folder: Path) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), LOCAL_RANK=str(rank))
    os.environ["WORLD_SIZE"] = "2"
    processes = Processes.join("cpu")
    torch.manual_seed(rank)
    layer = nn.Linear(3, 1)
    processes.agree([layer])
    layer.weight.grad = torch.full_like(layer.weight, 1.0 + 2 * rank)
    if rank == 1:  # the first has no gradient of its bias, as of a weight that its part of the batch did not use
        layer.bias.grad = torch.tensor([4.0])
    processes.average_gradients(list(layer.parameters()))
    gradients = [parameter.grad for parameter in layer.parameters()]
    torch.save(
        [[*layer.parameters()], gradients, processes.broadcast(10.0 + rank), processes.gather(rank)], folder / f"{rank}"
    )
    processes.leave()


def test_weights_gradients_and_numbers_are_those_of_all(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    multiprocessing.spawn(_take_a_step, (port, tmp_path), nprocs=2)
    (weights, gradients, told, gathered), *others = (
        torch.load(tmp_path / f"{rank}", weights_only=False) for rank in (0, 1)
    )
    assert torch.equal(gradients[0], torch.full((1, 3), 2.0))
    assert torch.equal(gradients[1], torch.tensor([2.0]))
    assert (told, gathered) == (10.0, [0, 1])
    for other, other_gradients, *numbers in others:
        assert all(map(torch.equal, weights, other))
        assert all(map(torch.equal, gradients, other_gradients))
        assert numbers == [told, gathered]
