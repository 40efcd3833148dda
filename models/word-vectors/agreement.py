"""How far the default word vectors agree with real ones: Spearman's correlation of cosines.

    PYTHONPATH=models python models/word-vectors/agreement.py glove.txt GoogleNews.bin

Random pairs are drawn from the words that both embeddings have, once from all of them, once from names of concrete
things: nouns whose commonest sense WordNet files under animals, artefacts, body parts, food, natural objects, people
or plants. The agreement of the given embeddings with each other shows what can be hoped for. Needs WordNet (Debian:
wordnet-base) and SciPy.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
from make import STOP, Lexicon
from scipy.stats import spearmanr

from sacrecap.resources.embeddings import Embeddings, open_embeddings
from wordnet import THINGS, read_wordnet

PAIRS = 50_000


def main() -> None:
    """Prints a line for each two embeddings."""
    tables = [open_embeddings(path) for path in sys.argv[1:]]
    every = [default := open_embeddings("default"), *tables]
    words = {word for file in sys.argv[1:] for word in words_of(file)}
    net = Lexicon(read_wordnet())
    content = sorted(word for word in words if word in net.senses and word not in STOP)
    concrete = [word for word in content if is_concrete(net, word)]
    print(f"{'embeddings':55s} {'all':>14s} {'concrete nouns':>22s}")
    for a, b in itertools.combinations(every, 2):
        cells = [agreement(a, b, chosen) for chosen in (content, concrete)]
        print(f"{a.name + ' and ' + b.name:55s}" + "".join(f"{rho:8.3f} ({n:,} words)" for rho, n in cells))
    print(f"{default.find(content)[1].mean():.1%} of {len(content):,} content words are in the default vectors")


def words_of(path: str) -> list[str]:
    """The words of a text or word2vec file; pieces of numbers that look like words do no harm."""
    if open_embeddings(path).dimension and path.endswith(".txt"):
        return [line.split(" ")[0] for line in Path(path).read_text(encoding="utf-8").splitlines()]
    import re

    return [word.decode() for word in set(re.findall(rb"[a-z]{3,20}(?= )", Path(path).read_bytes()))]


def is_concrete(net: Lexicon, word: str) -> bool:
    """Whether the commonest sense of a word is a thing that can be seen."""
    commonest = max(net.senses[word], key=net.senses[word].__getitem__)
    return commonest.startswith("n") and net.synsets[commonest].file in THINGS


def agreement(a: Embeddings, b: Embeddings, words: list[str]) -> tuple[float, int]:
    """Spearman's correlation of the cosines of random pairs of words, and how many words both have."""
    (x, in_a), (y, in_b) = a.find(words), b.find(words)
    x, y = (unit(vectors[in_a & in_b]) for vectors in (x, y))
    first, second = np.random.default_rng(0).integers(len(x), size=(2, PAIRS))
    first, second = first[first != second], second[first != second]
    cosines = ((vectors[first] * vectors[second]).sum(axis=1) for vectors in (x, y))
    return float(spearmanr(*cosines)[0]), len(x)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Each row divided by its length."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
