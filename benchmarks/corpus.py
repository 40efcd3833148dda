"""Generated captions, the same for the same seed: sentences, as COCO's JSON, and numbers of words.

    python benchmarks/corpus.py OUT --images 5000               # references.json and candidates.json

Sentences are of a small grammar, as COCO's are: who, what they do, where. Words are drawn by Zipf's law out of common
English and a long tail of invented words, so that document frequencies look like those of real captions: few n-grams
are everywhere, most are rare. Captions of an image share its words in part.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from itertools import accumulate, product
from pathlib import Path

import numpy as np
import numpy.typing as npt

VOCABULARY = 9_487
"""Words of captions that are numbers: as many as captioners of COCO know."""

Numbers = npt.NDArray[np.int64]


def invented(count: int, ending: str = "") -> list[str]:
    """Words that look like words."""
    starts = ["b", "br", "c", "d", "f", "g", "gl", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v", "w"]
    syllables = [start + vowel + end for start, vowel, end in product(starts, "aeiou", ["", "n", "r", "l"])]
    words = (first + second + ending for first, second in product(syllables, syllables[7::11]))
    return list(dict.fromkeys(words))[:count]


NOUNS = """
    man woman dog cat person people child boy girl group train bus car horse bird giraffe elephant zebra table plate
    street room kitchen bathroom toilet sink bed couch chair bench bike motorcycle skateboard surfboard wave beach
    field ball frisbee kite umbrella pizza cake sandwich banana apple broccoli bowl cup glass bottle laptop phone
    television clock sign hydrant truck boat plane snow board ski racket bat player bear cow sheep tree mountain
    building tower window
""".split()
ADJECTIVES = """
    white large black small red young blue green old brown wooden yellow big little wet open tall empty bright dirty
    busy colorful grassy sandy snowy sunny dark cloudy hungry happy sleepy modern
""".split()
VERBS = """
    sitting standing holding riding walking playing lying looking eating parked flying wearing carrying jumping
    running driving surfing skiing hanging resting swinging waiting sleeping talking cooking cutting grazing
""".split()
PLACES = """
    on in near behind by under over beside above around toward inside outside against across below
""".split()
BEGINNINGS = ["a", "the", "two", "an image of a", "there is a", "a close up of a", "several", "three", "some"]

WORDS = {
    "beginning": BEGINNINGS,
    "adjective": ADJECTIVES + invented(1_500, "y"),
    "noun": NOUNS + invented(20_000),
    "verb": VERBS + invented(1_500, "ing"),
    "place": PLACES,
    "article": ["a", "the", "his", "her", "their", "some"],
}
WEIGHTS = {kind: [*accumulate((rank + 2) ** -1.2 for rank in range(len(words)))] for kind, words in WORDS.items()}
"""Of the words up to each, by Zipf's law."""
SLOTS = ("beginning", "adjective", "noun", "verb", "place", "article", "adjective", "noun", "place", "article", "noun")
CHANCES = (1, 0.5, 1, 0.9, 0.9, 0.9, 0.3, 0.9, 0.25, 0.25, 0.25)
"""How often a caption has the slot; those of the place, article and noun that end it are there together."""
TOGETHER = (0, 1, 2, 3, 4, 4, 5, 4, 6, 6, 6)


def drawn(chance: random.Random, kind: str) -> str:
    return chance.choices(WORDS[kind], cum_weights=WEIGHTS[kind])[0]


def sentence(chance: random.Random, subject: Sequence[str], same: float) -> str:
    """A sentence that has each word of its subject with this probability."""
    draws = [chance.random() for _ in SLOTS]
    words = [
        word if chance.random() < same else drawn(chance, kind)
        for kind, word, likely, group in zip(SLOTS, subject, CHANCES, TOGETHER, strict=True)
        if draws[group] < likely
    ]
    return f"{' '.join(words).capitalize()}."


def write_json(folder: Path, images: int, seed: int, references: int) -> None:
    """Writes `references.json` (COCO annotations) and `candidates.json` (COCO results)."""
    chance = random.Random(seed)
    annotations, results = [], []
    for image in range(images):
        subject = [drawn(chance, kind) for kind in SLOTS]
        annotations += [{"image_id": image, "caption": sentence(chance, subject, 0.55)} for _ in range(references)]
        results.append({"image_id": image, "caption": sentence(chance, subject, 0.6)})
    described = {"images": [{"id": image} for image in range(images)], "annotations": annotations}
    (folder / "references.json").write_text(json.dumps(described))
    (folder / "candidates.json").write_text(json.dumps(results))


def caption_ids(generator: np.random.Generator, rows: int) -> Numbers:
    """Captions of 8 to 13 words as numbers of words, filled up with zeros."""
    ids = generator.zipf(1.3, size=(rows, 16)) % VOCABULARY + 1
    lengths = generator.integers(8, 14, size=rows)
    return np.where(np.arange(16) < lengths[:, None], ids, 0)


def changed(generator: np.random.Generator, references: Numbers, samples: int) -> Numbers:
    """References with a few words changed: what a trained captioner samples."""
    sample = references[generator.integers(0, len(references), samples)]
    other = (generator.random(sample.shape) < 0.3) & (sample > 0)
    return np.where(other, generator.zipf(1.3, size=sample.shape) % VOCABULARY + 1, sample)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder of the files")
    parser.add_argument("--images", type=int, default=5_000)
    parser.add_argument("--references", type=int, default=5, help="per image")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    write_json(given.out, given.images, given.seed, given.references)


if __name__ == "__main__":
    main()
