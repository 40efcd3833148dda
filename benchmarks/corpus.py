"""Generated captions, the same for the same seed: sentences, as COCO's JSON, and numbers of words.

    python benchmarks/corpus.py OUT --images 5000               # references.json and candidates.json

Sentences are of a small grammar, as COCO's are: who, what they do, where. Words are drawn by Zipf's law out of common
English and a long tail of invented words, so that document frequencies look like those of real captions: few n-grams
are everywhere, most are rare. Captions of an image share its words in part. What is in image number n depends on the
seed alone, not on how many images or files there are.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

BLOCK = 1 << 15
"""Images that are made together, from a seed of their own."""
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
TEXTS = {kind: pa.array(words) for kind, words in WORDS.items()}
LADDER = 1 << 18


def ladder(count: int) -> npt.NDArray[np.int32]:
    """Words by Zipf's law: the word of rank r is on a share of the steps like r to the power of -1.2."""
    shares = np.cumsum(np.arange(2, count + 2) ** -1.2)
    return np.searchsorted(shares / shares[-1], (np.arange(LADDER) + 0.5) / LADDER).astype(np.int32)


LADDERS = {kind: ladder(len(words)) for kind, words in WORDS.items()}
SLOTS = ("beginning", "adjective", "noun", "verb", "place", "article", "adjective", "noun", "place", "article", "noun")
CHANCES = (1, 0.5, 1, 0.9, 0.9, 0.9, 0.3, 0.9, 0.25, 0.25, 0.25)
"""How often a caption has the slot; those of the place, article and noun that end it are there together."""
TOGETHER = (0, 1, 2, 3, 4, 4, 5, 4, 6, 6, 6)


def sentences(chance: np.random.Generator, subject: Sequence[Numbers], same: float) -> pa.Array:
    """A sentence for each image, that has each word of its subject with this probability."""
    count = len(subject[0])
    draws = {number: chance.random(count, dtype=np.float32) for number in dict.fromkeys(TOGETHER)}
    slots = []
    for kind, words, likely, group in zip(SLOTS, subject, CHANCES, TOGETHER, strict=True):
        own = np.where(chance.random(count, dtype=np.float32) < same, words, drawn(chance, kind, count))
        slots.append(TEXTS[kind].take(pa.array(own, mask=draws[group] >= likely)))
    return pc.binary_join_element_wise(*slots, " ", null_handling="skip")


def drawn(chance: np.random.Generator, kind: str, count: int) -> Numbers:
    """Numbers of words."""
    found: Numbers = LADDERS[kind][chance.integers(0, LADDER, count)]
    return found


def block(number: int, seed: int, references: int) -> pa.Table:
    """The images from number `BLOCK * number`."""
    chance = np.random.default_rng([seed, number])
    subject = [drawn(chance, kind, BLOCK) for kind in SLOTS]
    texts = pa.concat_arrays([sentences(chance, subject, 0.55) for _ in range(references)])
    order = np.arange(references * BLOCK).reshape(references, BLOCK).T.ravel()
    lists = pa.ListArray.from_arrays(
        pa.array(np.arange(0, references * BLOCK + 1, references, dtype=np.int32)), texts.take(pa.array(order))
    )
    ids = pa.array(np.arange(number * BLOCK, (number + 1) * BLOCK)).cast(pa.string())
    return pa.table({"image_id": ids, "references": lists, "candidate": sentences(chance, subject, 0.6)})


def tables(first: int, end: int, seed: int, references: int) -> Iterator[pa.Table]:
    """The images of these numbers, block by block."""
    for number in range(first // BLOCK, -(-end // BLOCK)):
        start = max(first - number * BLOCK, 0)
        yield block(number, seed, references).slice(start, min(end - number * BLOCK, BLOCK) - start)


def write_json(folder: Path, images: int, seed: int, references: int) -> None:
    """Writes `references.json` (COCO annotations) and `candidates.json` (COCO results)."""
    with (folder / "references.json").open("w") as annotations, (folder / "candidates.json").open("w") as results:
        annotations.write('{"images": [' + ", ".join(f'{{"id": {image}}}' for image in range(images)))
        annotations.write('], "annotations": [')
        results.write("[")
        comma = ""
        for table in tables(0, images, seed, references):
            rows = table.to_pylist()
            described = (_entry(row["image_id"], text) for row in rows for text in row["references"])
            annotations.write(comma + ",".join(described))
            results.write(comma + ",".join(_entry(row["image_id"], row["candidate"]) for row in rows))
            comma = ","
        annotations.write("]}\n")
        results.write("]\n")


def _entry(image: str, caption: str) -> str:
    return f'\n{{"image_id": {image}, "caption": "{caption.capitalize()}."}}'


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
