"""WMD and VIFIDEL on 5,000 images with 5 references, 300-dimensional vectors: generated data, vectors loaded before.

python benchmarks/fidelity.py [images]
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import warnings

import numpy as np

import sacrecap
from sacrecap import SacrecapWarning
from sacrecap.resources.embeddings import open_embeddings
from sacrecap.scoring.score import score_corpus

WORDS, DIMENSION, REFERENCES, LABELS = 8_000, 300, 5, 80
METRICS = "vifidel,wmd,vifidel(references=no),vifidel(variant=released)"
MOST_SECONDS = 2.0
THREADS = 2


def vocabulary() -> list[str]:
    """Words that no stop list holds."""
    return [f"word{number}" for number in range(WORDS)]


def captions(chance: np.random.Generator, words: list[str], count: int) -> list[str]:
    """Sentences of 7 to 13 words, 5 to 8 of them content words, commoner words more often, as in a language."""
    made = []
    for _ in range(count):
        ranks = np.minimum(chance.zipf(1.3, chance.integers(5, 9)), WORDS) - 1
        content = [words[rank] for rank in ranks]
        made.append(" ".join(["a", *content[:2], "on the", *content[2:]]) + " .")
    return made


def main() -> None:
    images = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    chance = np.random.default_rng(0)
    words = vocabulary()
    ids = [str(image) for image in range(images)]
    candidates = dict(zip(ids, captions(chance, words, images), strict=True))
    references = {image: captions(chance, words, REFERENCES) for image in ids}
    objects = {image: {words[label]: 1 for label in chance.integers(0, LABELS, chance.integers(1, 7))} for image in ids}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vectors.npz")
        vectors = chance.normal(size=(WORDS, DIMENSION)).astype("f4")
        np.savez(path, words=np.array(words), vectors=vectors)
        embeddings = open_embeddings(path)
        embeddings.find(words[:1])
        corpus = sacrecap.Corpus(references, candidates)
        print(
            f"{images:,} images, {REFERENCES} references, {DIMENSION} dimensions, {THREADS} threads; "
            f"{platform.machine()}, Python {platform.python_version()}"
        )
        for name in METRICS.split(","):
            took = timed(name, corpus, objects, embeddings)
            print(f"{name:<28} {took:6.2f} s")
            assert images > 5_000 or took < MOST_SECONDS, f"{name} took more than {MOST_SECONDS} s"
        start = time.perf_counter()
        sacrecap.score(references, candidates, "vifidel", objects=objects, embeddings=embeddings, threads=THREADS)
        print(f"{'vifidel, from text, interval':<28} {time.perf_counter() - start:6.2f} s")


def timed(name: str, corpus: sacrecap.Corpus, objects: object, embeddings: object) -> float:
    """Seconds of the fastest of three runs."""
    from sacrecap.metrics.registry import parse_metrics

    [metric] = parse_metrics(name)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SacrecapWarning)
            score_corpus(corpus, [metric], objects=objects, embeddings=embeddings, threads=THREADS)
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
