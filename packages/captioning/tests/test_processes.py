"""Two processes of one run have one captioner: the same first weights, and at each step the mean of their gradients."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from processes import import_ahead, in_processes
from sacrecap_captioning.training.loop import descend
from sacrecap_captioning.training.processes import Processes

import_ahead("torch._dynamo", "sacrecap_captioning.training.training")


def _take_a_step(folder: Path) -> None:
    processes = Processes.join("cpu")
    rank = processes.rank
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


def _overflow_in_one(folder: Path) -> None:
    """Two steps with half precision's scale: the second process overflows in the first."""
    processes = Processes.join("cpu")
    rank = processes.rank
    layer = nn.Linear(1, 1, bias=False)
    nn.init.ones_(layer.weight)
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    seen = []
    for size in (float("inf") if rank else 1.0, 1.0 + rank):
        loss = (layer(torch.tensor([[1.0]])) * size).sum()
        descend(loss, list(layer.parameters()), optimiser, scaler, processes, clip=10.0)
        seen.append((layer.weight.item(), scaler.get_scale()))
    torch.save(seen, folder / f"{rank}")
    processes.leave()


def test_an_overflow_in_one_process_skips_the_step_in_all(tmp_path: Path) -> None:
    in_processes(_overflow_in_one, tmp_path, folder=tmp_path)
    # Nothing is learnt of the first step; of the second, the mean of both gradients: 1 - 0.5 * 1.5.
    expected = [(1.0, 2.0**15), (0.25, 2.0**15)]
    assert [torch.load(tmp_path / f"{rank}") for rank in (0, 1)] == [expected, expected]


def test_weights_gradients_and_numbers_are_those_of_all(tmp_path: Path) -> None:
    in_processes(_take_a_step, tmp_path, folder=tmp_path)
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
