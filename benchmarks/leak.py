"""How many bits a submission can reveal about hidden references, with the decimals that leave the server.

    python benchmarks/leak.py                        # on the example's references
    python benchmarks/leak.py --references captions_val2014.json --word man --images 5000

The attack: in one file, some images get captions made for them, and all others the same poor caption. Image i's is
the word and 2**i - 1 words of nonsense, so its ROUGE-L says whether a reference of the image has the word, and how long
the shortest such is; one score is the mean of all. What the score tells is its entropy over the images that could be
asked about, drawn from the references themselves: the mutual information of the answer with what it is the answer to,
since the score is a function of that. With a private part the score counts the public images alone, and tells nothing
of the others.

Prints a table: rows are the number of images asked at once; columns are the bits that the score tells when all digits
leave and when four decimals leave, and the same of the bits that there are to learn.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import sacrecap
from sacrecap import example

BETA = 1.2
DRAWS = 200_000


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--references", help="any references that sacrecap reads; the example's by default")
    parser.add_argument("--word", action="append", help="asked about; several times for several (default: dog, a, the)")
    parser.add_argument("--images", type=int, action="append", help="images of the benchmark (default: theirs)")
    parser.add_argument("--private", type=float, default=0.5, help="share of the private part (default 0.5)")
    options = parser.parse_args()
    references = (
        sacrecap.data.read_references(options.references).to_dict() if options.references else example.references()
    )
    print(f"{len(references):,} images; {DRAWS:,} draws")
    print("word     images  asked   to learn   all digits   4 decimals   4 decimals, private part: public / private")
    for word in options.word or ["dog", "a", "the"]:
        lengths = [shortest(captions, word) for captions in references.values()]
        for images in options.images or [len(references)]:
            for asked in (1, 2, 4, 8):
                print(line(word, lengths, images, asked, options.private))


def line(word: str, lengths: list[int], images: int, asked: int, private: float) -> str:
    """A row of the table."""
    rng = np.random.default_rng(asked)
    drawn = rng.choice(np.array(lengths), (DRAWS, asked))
    truth = asked * entropy(np.array(lengths))
    total = sum(values(place, drawn[:, place]) for place in range(asked))
    public = max(1, round(images * (1 - private)))
    cells = (
        f"{truth:10.2f}",
        f"{entropy(np.round(total, 12)):12.2f}",
        f"{entropy(np.round(total / images, 4)):12.2f}",
        f"{entropy(np.round(total / public, 4)):30.2f} / 0.00",
    )
    return f"{word:8} {images:6} {asked:6} {' '.join(cells)}"


def shortest(captions: list[str], word: str) -> int:
    """Tokens of the shortest reference with the word; 0 where none has it."""
    return min((len(tokens) for tokens in sacrecap.tokenize(captions) if word in tokens), default=0)


def values(place: int, lengths: np.ndarray) -> np.ndarray:
    """ROUGE-L of the word and 2**place - 1 words of nonsense."""
    precision, recall = 1 / 2**place, 1 / np.maximum(lengths, 1)
    return np.where(lengths == 0, 0.0, (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision))


def entropy(sample: np.ndarray) -> float:
    """Bits, with Miller and Madow's correction (1955) for what a finite sample misses."""
    _, counts = np.unique(sample, return_counts=True)
    share = counts / counts.sum()
    return float(-(share * np.log2(share)).sum() + (len(counts) - 1) / (2 * len(sample) * math.log(2)))


if __name__ == "__main__":
    main()
