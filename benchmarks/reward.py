"""CIDEr-D as a reward in a training loop, sacrecap against pycocoevalcap's CiderScorer, by ids and by strings.

usage: reward.py [--samples 250] [--references 5]

By ids: `--samples` sampled captions, one per image. By strings: 1, 32, 256 and 1,250 captions, 5 per
image, out of a training split of 5,000 images, through `sacrecap.rewards.CaptionReward` as a trainer calls it
(tokenised, rewarded, with the guards' figures); and through pycocoevalcap's scorer, which is given the tokens already
and document frequencies. The numbers are compared first. Times are the least of several calls, of the thread's
processor.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
from pycocoevalcap.cider.cider_scorer import CiderScorer

import sacrecap
from corpus import caption_ids, changed
from measure import machine, shortest
from sacrecap.rewards import CaptionReward


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, default=250)
    options.add_argument("--references", type=int, default=5)
    given = options.parse_args()
    generator = np.random.default_rng(0)
    references = [caption_ids(generator, given.references) for _ in range(given.samples)]
    sampled = np.concatenate([changed(generator, rows, 1) for rows in references])
    frequency = sacrecap.DocumentFrequency.from_token_ids(references)
    reward = sacrecap.CiderDReward(frequency, threads=1)
    encoded = reward.encode(references)

    theirs, slow = shortest(lambda: _incumbent(sampled, references), 3, time.thread_time)
    direct, plain = shortest(lambda: reward(sampled, references), 20, time.thread_time)
    again, reused = shortest(lambda: reward(sampled, encoded), 50, time.thread_time)
    if not (np.allclose(theirs, direct, atol=1e-9) and np.array_equal(direct, again)):
        sys.exit("the rewards differ")
    print(machine())
    print(f"pycocoevalcap CiderScorer, scoring only   {1e3 * slow:9.2f} ms")
    print(f"CiderDReward, references as arrays        {1e3 * plain:9.2f} ms   {slow / plain:6.0f}×")
    print(f"CiderDReward, references encoded before   {1e3 * reused:9.2f} ms   {slow / reused:6.0f}×")
    print("completions   CaptionReward   pycocoevalcap, tokens given")
    for captions in (1, 32, 256, 1250):
        own, theirs_too = _by_strings(captions)
        print(f"{captions:11,}   {1e3 * own:10.2f} ms   {1e3 * theirs_too:10.2f} ms   {theirs_too / own:6.0f}×")


SPLIT, EACH = 5_000, 5


def _by_strings(captions: int) -> tuple[float, float]:
    """Seconds of a batch of that many captions, ours and theirs."""
    generator = np.random.default_rng(0)
    split = {str(image): [_text(row) for row in caption_ids(generator, 5)] for image in range(SPLIT)}
    images = [str(n // EACH) for n in range(captions)]
    texts = [_text(changed(generator, caption_ids(generator, 1), 1)[0]) for _ in range(captions)]
    references = [split[image] for image in images]
    if captions > 1:  # theirs counts documents in the batch alone: the numbers are compared so
        rows = list(map(str, range(captions)))
        alone = CaptionReward(dict(zip(rows, references, strict=True)))(texts, rows)
        if not np.allclose(alone, _scorer(texts, references).compute_score()[1], atol=1e-9):
            sys.exit("the rewards differ")
    reward = CaptionReward(split)
    frequencies = _scorer(texts, references)
    frequencies.compute_doc_freq()

    def theirs() -> object:
        scorer = _scorer(texts, references)
        scorer.document_frequency = frequencies.document_frequency
        return scorer.compute_cider()

    return shortest(lambda: reward(texts, images), 20, time.thread_time)[1], shortest(theirs, 3, time.thread_time)[1]


def _scorer(texts: list[str], references: list[list[str]]) -> Any:
    scorer = CiderScorer(n=4, sigma=6.0)
    for text, described in zip(texts, references, strict=True):
        scorer += (text, described)
    return scorer


def _text(ids: np.ndarray) -> str:
    end = int(np.argmax(ids == 0))
    return " ".join(f"w{number}" for number in ids[: end + 1])


def _incumbent(sampled: np.ndarray, references: list[np.ndarray]) -> Any:
    texts = list(map(_text, sampled))
    return _scorer(texts, [list(map(_text, rows)) for rows in references]).compute_score()[1]


if __name__ == "__main__":
    main()
