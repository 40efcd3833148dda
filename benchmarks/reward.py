"""CIDEr-D as a reward in a training loop, sacrecap against pycocoevalcap's CiderScorer, by ids and by strings.

By ids: 250 sampled captions, one per image. By strings: 1, 32, 256 and 1,250 captions, 5 per image, out of a training
split of 5,000 images, through `sacrecap.rewards.CaptionReward` as a trainer calls it (tokenised, rewarded, with the
guards' figures); and through pycocoevalcap's scorer, which is given the tokens already and document frequencies. The
numbers are compared first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pycocoevalcap.cider.cider_scorer import CiderScorer

import sacrecap
from corpus import caption_ids, changed
from measure import machine, race
from sacrecap.rewards import CaptionReward

SAMPLES, SPLIT, EACH = 250, 5_000, 5


def main() -> None:
    print(machine())
    by_ids(np.random.default_rng(0))
    for captions in (1, 32, 256, 1250):
        by_strings(captions)


def by_ids(generator: np.random.Generator) -> None:
    references = [caption_ids(generator, EACH) for _ in range(SAMPLES)]
    sampled = np.concatenate([changed(generator, rows, 1) for rows in references])
    texts = list(map(_text, sampled)), [list(map(_text, rows)) for rows in references]
    reward = sacrecap.CiderDReward(sacrecap.DocumentFrequency.from_token_ids(references), threads=1)
    encoded = reward.encode(references)
    np.testing.assert_allclose(_scorer(*texts).compute_score()[1], reward(sampled, references), atol=1e-9)
    np.testing.assert_array_equal(reward(sampled, references), reward(sampled, encoded))
    race(
        {
            f"{SAMPLES} samples of ids, pycocoevalcap": lambda: _scorer(*texts).compute_score(),
            "CiderDReward, references as arrays": lambda: reward(sampled, references),
            "CiderDReward, references encoded before": lambda: reward(sampled, encoded),
        },
        calls=5,
    )


def by_strings(captions: int) -> None:
    generator = np.random.default_rng(0)
    split = {str(image): [_text(row) for row in caption_ids(generator, EACH)] for image in range(SPLIT)}
    images = [str(n // EACH) for n in range(captions)]
    texts = [_text(changed(generator, caption_ids(generator, 1), 1)[0]) for _ in range(captions)]
    references = [split[image] for image in images]
    if captions > 1:  # theirs counts documents in the batch alone: the numbers are compared so
        rows = list(map(str, range(captions)))
        alone = CaptionReward(dict(zip(rows, references, strict=True)))(texts, rows)
        np.testing.assert_allclose(alone, _scorer(texts, references).compute_score()[1], atol=1e-9)
    reward = CaptionReward(split)
    frequencies = _scorer(texts, references)
    frequencies.compute_doc_freq()

    def theirs() -> object:
        scorer = _scorer(texts, references)
        scorer.document_frequency = frequencies.document_frequency
        return scorer.compute_cider()

    race({f"{captions:,} completions, pycocoevalcap": theirs, "CaptionReward": lambda: reward(texts, images)})


def _scorer(texts: list[str], references: list[list[str]]) -> Any:
    scorer = CiderScorer(n=4, sigma=6.0)
    for text, described in zip(texts, references, strict=True):
        scorer += (text, described)
    return scorer


def _text(ids: np.ndarray) -> str:
    end = int(np.argmax(ids == 0))
    return " ".join(f"w{number}" for number in ids[: end + 1])


if __name__ == "__main__":
    main()
