"""sacrecap.rewards.device.TensorCiderDReward on a GPU: 5,000 samples, 5 references each; equal to the native one first.

usage: reward_gpu.py [--images 1000] [--samples 5] [--references 5] [--device cuda]

Time of the device by its own clock, for calls one after the other (eager) and for a captured CUDA graph, and the time
the host takes to hand over a call. With --device cpu: eager alone, by the host's clock.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

import sacrecap
from corpus import caption_ids, changed
from measure import machine
from sacrecap.rewards.device import TensorCiderDReward


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--images", type=int, default=1000)
    options.add_argument("--samples", type=int, default=5)
    options.add_argument("--references", type=int, default=5)
    options.add_argument("--device", default="cuda")
    given = options.parse_args()
    if given.device != "cpu" and not torch.cuda.is_available():
        sys.exit("no GPU is at hand; --device cpu runs the same operations on the CPU")
    generator = np.random.default_rng(0)
    references = [caption_ids(generator, given.references) for _ in range(given.images)]
    sampled = np.concatenate([changed(generator, rows, given.samples) for rows in references])
    counts = sacrecap.DocumentFrequency.from_token_ids(references)
    native = sacrecap.CiderDReward(counts)
    reward = TensorCiderDReward(counts, device=given.device)
    encoded = reward.encode(references)
    words = torch.from_numpy(sampled).to(given.device)

    expected = native(sampled, native.encode(references))
    furthest = np.max(np.abs(reward(words, encoded).cpu().numpy() - expected) / np.maximum(expected, 1e-12))
    if furthest > 1e-5:
        sys.exit(f"the rewards differ by {furthest:.1e}")
    print(machine() if given.device == "cpu" else torch.cuda.get_device_name())
    print(f"{len(sampled):,} samples × {given.references} references; furthest from the native scorer: {furthest:.1e}")

    def call() -> Tensor:
        return reward(words, encoded)

    if given.device == "cpu":
        print(f"eager                      {clock(call):8.3f} ms")
        return
    print(f"eager, device              {device_clock(call):8.3f} ms")
    print(f"eager, host hands over in  {clock(call, finish=torch.cuda.synchronize):8.3f} ms")
    graph = captured(call)
    print(f"CUDA graph, device         {device_clock(graph.replay):8.3f} ms")
    print(f"CUDA graph, host           {clock(graph.replay, finish=torch.cuda.synchronize):8.3f} ms")


def clock(call: Callable[[], object], finish: Callable[[], None] = lambda: None, times: int = 50) -> float:
    """Median milliseconds until the call returns; `finish` runs between calls and is not timed."""
    seconds = []
    for _ in range(times + 5):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
        finish()
    return 1e3 * statistics.median(seconds[5:])


def device_clock(call: Callable[[], object], times: int = 50) -> float:
    """Median milliseconds of a call between two events of the device."""
    found = []
    for _ in range(times + 5):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end))
    return statistics.median(found[5:])


def captured(call: Callable[[], Tensor]) -> torch.cuda.CUDAGraph:
    """The call as a CUDA graph: nothing in it waits for the device or depends on values."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


if __name__ == "__main__":
    main()
