"""sacrecap.rewards.device.TensorCiderDReward on a GPU: 5,000 samples, 5 references each; equal to the native one first.

usage: reward_gpu.py [--images 1000] [--samples 5] [--references 5]

Time of the device by its own clock, for calls one after the other (eager) and for a captured CUDA graph, and the time
the host takes to hand over a call: medians.
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
from sacrecap.rewards.device import TensorCiderDReward

WARM, TIMES = 5, 50


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--images", type=int, default=1000)
    options.add_argument("--samples", type=int, default=5)
    options.add_argument("--references", type=int, default=5)
    given = options.parse_args()
    if not torch.cuda.is_available():
        sys.exit("no GPU is at hand")
    generator = np.random.default_rng(0)
    references = [caption_ids(generator, given.references) for _ in range(given.images)]
    sampled = np.concatenate([changed(generator, rows, given.samples) for rows in references])
    counts = sacrecap.DocumentFrequency.from_token_ids(references)
    native = sacrecap.CiderDReward(counts)
    reward = TensorCiderDReward(counts, device="cuda")
    encoded = reward.encode(references)
    words = torch.from_numpy(sampled).to("cuda")

    expected = native(sampled, native.encode(references))
    furthest = np.max(np.abs(reward(words, encoded).cpu().numpy() - expected) / np.maximum(expected, 1e-12))
    if furthest > 1e-5:
        sys.exit(f"the rewards differ by {furthest:.1e}")
    print(f"{torch.cuda.get_device_name()}: {len(sampled):,} samples × {given.references} references")
    print(f"furthest from the native scorer: {furthest:.1e}")
    print("| | device | host hands over in |")
    print("| --- | ---: | ---: |")
    for name, call in (
        ("eager", lambda: reward(words, encoded)),
        ("CUDA graph", captured(lambda: reward(words, encoded)).replay),
    ):
        device, host = clocks(call)
        print(f"| {name} | {device:.3f} ms | {host:.3f} ms |")


def clocks(call: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of a call between two events of the device, and until it returns."""
    found = []
    for _ in range(WARM + TIMES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        started = time.perf_counter()
        begin.record()
        call()
        end.record()
        host = 1e3 * (time.perf_counter() - started)
        torch.cuda.synchronize()
        found.append((begin.elapsed_time(end), host))
    device, host = (statistics.median(each) for each in zip(*found[WARM:], strict=True))
    return device, host


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
