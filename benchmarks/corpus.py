"""A generated caption corpus: seeded, with word frequencies like those of real captions (Zipf)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

VOCABULARY = 10_000
LONGEST = 30
ENDINGS = (" .", ".", "", ".", "!")
BATCH = 10_000


def write_corpus(folder: Path, images: int, references: int, seed: int = 0) -> tuple[Path, Path]:
    """Writes `references.json` (COCO annotations) and `candidates.json` (COCO results); returns their paths.

    Captions of an image share a topic, a few words of the vocabulary, so that n-grams recur as they do in real ones.
    Files are written in batches of images, so that a million of them fit in memory.
    """
    generator = np.random.default_rng(seed)
    paths = folder / "references.json", folder / "candidates.json"
    with paths[0].open("w") as annotations, paths[1].open("w") as results:
        annotations.write('{"images": [' + ", ".join(f'{{"id": {image}}}' for image in range(images)))
        annotations.write('], "annotations": [')
        results.write("[")
        for start in range(0, images, BATCH):
            comma = ",\n" if start else "\n"
            rows = _batch(generator, min(BATCH, images - start), references + 1)
            ids = [(start + k // (references + 1), k % (references + 1)) for k in range(len(rows))]
            annotations.write(comma + ",\n".join(_row(image, text) for (image, k), text in zip(ids, rows, strict=True) if k))
            results.write(comma + ",\n".join(_row(image, text) for (image, k), text in zip(ids, rows, strict=True) if not k))
        annotations.write("]}\n")
        results.write("]\n")
    return paths


def _row(image: int, caption: str) -> str:
    return f'{{"image_id": {image}, "caption": {json.dumps(caption)}}}'


def _batch(generator: np.random.Generator, images: int, captions: int) -> list[str]:
    """Captions of images, one after the other: each word is the topic's or, as often, a common one."""
    shape = (images, captions, LONGEST)
    topics = generator.zipf(1.35, size=(images, 12)) % VOCABULARY
    own = np.take_along_axis(topics[:, None, :], generator.integers(12, size=shape), axis=2)
    chosen = np.where(generator.random(shape) < 0.5, own, generator.zipf(1.35, size=shape) % VOCABULARY)
    lengths = np.clip(generator.normal(10.5, 2.4, size=shape[:2]), 3, LONGEST).astype(int).ravel()
    endings = generator.integers(len(ENDINGS), size=lengths.size)
    texts = WORDS[chosen.reshape(-1, LONGEST)].tolist()
    return [
        " ".join(words[:length]).capitalize() + ENDINGS[ending]
        for words, length, ending in zip(texts, lengths.tolist(), endings.tolist(), strict=True)
    ]


def _word(number: int) -> str:
    """A pronounceable word for a number, short for frequent ones."""
    syllables = [c + v for c in "bdfgklmnprstv" for v in "aeiou"]
    word = syllables[number % 65]
    while number := number // 65:
        word += syllables[number % 65]
    return word


WORDS = np.array([_word(number) for number in range(VOCABULARY)], dtype=object)
