"""CiderDReward against pycocoevalcap's CiderScorer: 250 sampled captions, 5 references each.

usage: reward.py [--samples 250] [--references 5]

The incumbent scores the same ids as strings, with the same document frequencies; the numbers are compared first.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pycocoevalcap.cider.cider_scorer import CiderScorer

import capeval
from measure import machine

VOCABULARY = 9_487


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, default=250)
    options.add_argument("--references", type=int, default=5)
    given = options.parse_args()
    generator = np.random.default_rng(0)
    references = [_captions(generator, given.references) for _ in range(given.samples)]
    sampled = np.concatenate([_sample(generator, rows) for rows in references])
    frequency = capeval.DocumentFrequency.from_token_ids(references)
    reward = capeval.CiderDReward(frequency)
    encoded = reward.encode(references)

    theirs, slow = _best(lambda: _incumbent(sampled, references), 3)
    direct, plain = _best(lambda: reward(sampled, references), 20)
    again, reused = _best(lambda: reward(sampled, encoded), 50)
    if not (np.allclose(theirs, direct, atol=1e-9) and np.array_equal(direct, again)):
        sys.exit("the rewards differ")
    print(machine())
    print(f"pycocoevalcap CiderScorer, scoring only   {1e3 * slow:9.2f} ms")
    print(f"CiderDReward, references as arrays        {1e3 * plain:9.2f} ms   {slow / plain:6.0f}×")
    print(f"CiderDReward, references encoded before   {1e3 * reused:9.2f} ms   {slow / reused:6.0f}×")


def _captions(generator: np.random.Generator, rows: int) -> np.ndarray:
    ids = generator.zipf(1.3, size=(rows, 16)) % VOCABULARY + 1
    lengths = generator.integers(8, 14, size=rows)
    return np.where(np.arange(16) < lengths[:, None], ids, 0)


def _sample(generator: np.random.Generator, references: np.ndarray) -> np.ndarray:
    """A reference with a few words changed: what a trained captioner samples."""
    sample = references[:1].copy()
    changed = (generator.random(sample.shape) < 0.3) & (sample > 0)
    return np.where(changed, generator.zipf(1.3, size=sample.shape) % VOCABULARY + 1, sample)


def _text(ids: np.ndarray) -> str:
    end = int(np.argmax(ids == 0))
    return " ".join(map(str, ids[: end + 1]))


def _incumbent(sampled: np.ndarray, references: list[np.ndarray]) -> Any:
    scorer = CiderScorer(n=4, sigma=6.0)
    for sample, rows in zip(sampled, references, strict=True):
        scorer += (_text(sample), [_text(row) for row in rows])
    return scorer.compute_score()[1]


def _best(work: Callable[[], Any], times: int) -> tuple[Any, float]:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return result, min(seconds)


if __name__ == "__main__":
    main()
