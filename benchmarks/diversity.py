"""Caption sets: seconds from files to scores, and Self-CIDEr's kernel against pycocoevalcap's scorer on a sample.

usage: diversity.py SETS REFERENCES [--sample 50] [--times 5]

SETS is what `sacrecap diversity` reads; document frequencies are counted in REFERENCES, before the clock starts.
The incumbent computes the CIDEr-D kernel of the sampled images with `CiderScorer`, all pairs of the upper triangle in
one call, as the published program of Self-CIDEr has them; its tokens and document frequencies are given. sacrecap
scores all images with that kernel in the same run, from the same tokens, and decomposes it. Both matrices are compared.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from pycocoevalcap.cider.cider_scorer import CiderScorer, precook

import sacrecap
from measure import best, machine
from sacrecap.corpus.sets import encode_sets
from sacrecap.data import read_caption_sets, read_references
from sacrecap.metrics import SelfCider
from sacrecap.scoring.score import score_corpus

METRICS = "self-cider, lsa, mbleu-1, mbleu-2, mbleu-3, mbleu-4, mbleu-mix, div-1, div-2"
CLIPPED = SelfCider(kernel="cider-d")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets")
    parser.add_argument("references")
    parser.add_argument("--sample", type=int, default=50)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        df = str(Path(folder, "df"))
        frequency = sacrecap.DocumentFrequency.build(given.references)
        frequency.save(df)
        command = [str(Path(sys.executable).with_name("sacrecap")), "diversity", given.sets, "--df", df]
        run = best([*command, "--interval", "none", "--format", "json"], given.times)
    sets = read_caption_sets(given.sets)
    print(f"{sets.caption_count:,} captions of {len(sets):,} images, files to all scores: {run.seconds:.2f} s", end="")
    print(f" ({run.megabytes:.0f} MB)")
    _against_the_incumbent(given.sets, given.references, frequency, given.sample, given.times)


def _against_the_incumbent(
    sets: str, references: str, frequency: sacrecap.DocumentFrequency, sample: int, times: int
) -> None:
    captions = read_caption_sets(sets)
    corpus = encode_sets({"sets": captions}, own_documents=False)["sets"]
    ours = math.inf
    for _ in range(times):
        started = time.perf_counter()
        score_corpus(corpus, [CLIPPED], document_frequency=frequency)
        ours = min(ours, (time.perf_counter() - started) / len(captions))
    [system] = sacrecap.diversity(captions, None, CLIPPED, document_frequency=frequency, interval=None).values()
    chosen = random.Random(0).sample(system.image_ids, sample)
    spectra = {image: system.image(image, CLIPPED) for image in chosen}
    counts, documents = _incumbent_frequencies(references)
    started = time.perf_counter()
    theirs = {image: _incumbent_kernel(spectra[image].tokens, counts, documents) for image in chosen}
    slow = (time.perf_counter() - started) / sample
    worst = max(float(np.abs(theirs[image] / 10 - spectra[image].matrix).max()) for image in chosen)
    if worst > 1e-9:
        sys.exit(f"the kernels differ by {worst}")
    print(f"kernel of a set, pycocoevalcap CiderScorer: {1e3 * slow:9.3f} ms per image (its counting not included)")
    print(f"the same and its spectrum, sacrecap:         {1e3 * ours:9.3f} ms per image   {slow / ours:6.0f}×")


def _incumbent_frequencies(references: str) -> tuple[dict[tuple[str, ...], float], int]:
    """Document frequencies as the incumbent counts them."""
    captions = read_references(references)
    tokens = iter(sacrecap.tokenize([caption for image in captions.to_dict().values() for caption in image]))
    counts: dict[tuple[str, ...], float] = defaultdict(float)
    for image in captions.to_dict().values():
        for ngram in {ngram for _ in image for ngram in precook(" ".join(next(tokens)))}:
            counts[ngram] += 1
    return counts, len(captions)


def _incumbent_kernel(tokens: list[str], counts: dict[tuple[str, ...], float], documents: int) -> np.ndarray:
    """CIDEr-D of each caption against each that does not come before it, mirrored."""
    size = len(tokens)
    kernel = np.zeros((size, size))
    scorer = CiderScorer(n=4, sigma=6.0)
    for first in range(size):
        for second in range(first, size):
            scorer += (tokens[first], [tokens[second]])
    scorer.document_frequency = counts
    scorer.crefs = _Documents(scorer.crefs, documents)
    kernel[np.triu_indices(size)] = scorer.compute_cider()
    return np.maximum(kernel, kernel.T)


class _Documents(list):  # type: ignore[type-arg]
    """The references, whose number the scorer takes for the number of documents."""

    def __init__(self, items: list[object], documents: int) -> None:
        super().__init__(items)
        self.documents = documents

    def __len__(self) -> int:
        return self.documents


if __name__ == "__main__":
    main()
