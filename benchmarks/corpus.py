"""A generated caption corpus: seeded, with word frequencies like those of real captions (Zipf)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

VOCABULARY = 10_000
ENDINGS = (" .", ".", "", ".", "!")


def write_corpus(folder: Path, images: int, references: int, seed: int = 0) -> tuple[Path, Path]:
    """Writes `references.json` (COCO annotations) and `candidates.json` (COCO results); returns their paths.

    Captions of an image share a topic, a window of the vocabulary, so that n-grams recur as they do in real captions.
    """
    generator = np.random.default_rng(seed)
    words = np.array([_word(number) for number in range(VOCABULARY)])
    annotations: list[dict[str, object]] = []
    results: list[dict[str, object]] = []
    for image in range(images):
        topic = generator.zipf(1.35, size=12) % VOCABULARY
        captions = [_caption(generator, words, topic) for _ in range(references + 1)]
        annotations += (
            {"image_id": image, "id": len(annotations) + k, "caption": c} for k, c in enumerate(captions[1:])
        )
        results.append({"image_id": image, "caption": captions[0]})
    paths = folder / "references.json", folder / "candidates.json"
    paths[0].write_text(json.dumps({"images": [{"id": i} for i in range(images)], "annotations": annotations}))
    paths[1].write_text(json.dumps(results))
    return paths


def _word(number: int) -> str:
    """A pronounceable word for a number, short for frequent ones."""
    syllables = [c + v for c in "bdfgklmnprstv" for v in "aeiou"]
    word = syllables[number % 65]
    while number := number // 65:
        word += syllables[number % 65]
    return word


def _caption(generator: np.random.Generator, words: np.ndarray, topic: np.ndarray) -> str:
    length = int(generator.normal(10.5, 2.4).clip(3, 30))
    common = generator.zipf(1.35, size=length) % VOCABULARY
    own = generator.random(length) < 0.5
    chosen = words[np.where(own, generator.choice(topic, size=length), common)]
    return str(chosen[0]).capitalize() + " " + " ".join(chosen[1:]) + ENDINGS[int(generator.integers(len(ENDINGS)))]
