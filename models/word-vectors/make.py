"""Makes the word vectors inside the package, src/sacrecap/resources/embeddings/default.npz, from WordNet 3.0 alone.

A walker starts at a word. From a word it goes to one of its senses, by WordNet's counts of them, or to a synonym set
whose gloss uses the word; from a synonym set to its words, to the words of its gloss, or to a related set. How often it
is where within STEPS steps describes the word: words whose walks meet the same places are near in meaning. These
frequencies, as positive pointwise mutual information, are brought to DIMENSION numbers by a truncated singular value
decomposition, scaled to length 1, and rounded to 8 bits. The walk is computed, not sampled; the same WordNet gives the
same bytes on the same machine.

The words: those of VOCABULARY_SIZE that WordNet's own counts, senses and glosses show to be the commonest, the classes
of COCO and VOC, and the words of the example data.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from sacrecap._core import singulars
from wordnet import LABELS, NOUN_ENDINGS, WordNet, read_wordnet

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "src/sacrecap/resources/embeddings/default.npz"

VOCABULARY_SIZE = 24_000
THING_BONUS = 3.0  # how much more often texts name an artefact or food than WordNet counted
DIMENSION = 100
STEPS = 4
PRUNED = 4e-4  # share of the walk below which a place is forgotten
TO_SENSES, TO_MENTIONS = 0.3, 0.7  # from a word
TO_WORDS, TO_GLOSS, TO_RELATED = 0.2, 0.6, 0.2  # from a synonym set
AT_HOME, CONTINUE = 0.1, 0.8  # weights of the start, and of each step against the one before
EIGENVALUE_POWER = 0.7

RELATIONS = {"@": 2.0, "@i": 2.0, "~": 1.0, "~i": 0.5, "!": 0.5}  # hypernym, hyponym, antonym; others 1
ENDINGS = {
    "n": list(NOUN_ENDINGS),
    "v": [("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""), ("s", "")],
    "a": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "r": [],
}
STOP_WORDS = """
    a about above after again against all also an and any are as at away be because been before being below
    between both but by can cannot could did do does doing done down during each either etc e.g for from further
    had has have having he her here hers him his how i if in into is it its itself just made make makes making
    may me might more most much must my neither no nor not of off often on one only or other others our out over
    own same shall she should so some someone something such than that the their them then there these they this
    those through to too under until up upon us used use uses using usually very was we were what when where
    whether which while who whom whose why will with within without would you your especially
"""
STOP = frozenset(STOP_WORDS.split())
VOC = {
    "aeroplane": "aeroplane",
    "motorbike": "motorbike",
    "sofa": "sofa",
    "diningtable": "dining table",
    "pottedplant": "potted plant",
    "tvmonitor": "tv monitor",
}


class Lexicon:
    """WordNet, with what the counts say of each word's senses."""

    def __init__(self, net: WordNet) -> None:
        self.net = net
        self.synsets = net.synsets
        self.senses: dict[str, Counter[str]] = defaultdict(Counter)  # word → set → weight
        self.tagged: Counter[str] = Counter()  # word → how often texts had it
        for part, words in net.senses.items():
            for word, keys in words.items():
                for rank, key in enumerate(keys, 1):
                    count = net.counts[word, part, rank]
                    self.senses[word][key] += count + 1.0 / rank
                    self.tagged[word] += count

    def lemmas(self, token: str) -> list[str]:
        """The words that a form in running text may be of."""
        lemmas = [token] if token in self.senses else []
        for part, endings in ENDINGS.items():
            candidates = self.net.exceptions.get((part, token)) or [
                token.removesuffix(old) + new
                for old, new in endings
                if token.endswith(old) and len(token) > len(old) + 1
            ]
            lemmas += [word for word in candidates if word in self.net.senses[part]][:1]
        return list(dict.fromkeys(lemmas))


def tokens_of(gloss: str) -> list[str]:
    """The words of a gloss and its examples."""
    return re.findall(r"[a-z][a-z-]*[a-z]", gloss.lower())


def gloss_lemmas(net: Lexicon) -> dict[str, Counter[str]]:
    """The content words of each gloss; a form that may be of two words counts half for each."""
    senses: dict[str, list[str]] = {}
    glosses = {}
    for key, synset in net.synsets.items():
        counts: Counter[str] = Counter()
        for token in tokens_of(synset.gloss):
            if token not in STOP:
                if token not in senses:
                    senses[token] = [word for word in net.lemmas(token) if word not in STOP]
                for word in senses[token]:
                    counts[word] += 1 / len(senses[token])
        glosses[key] = counts
    return glosses


class Graph:
    """Where the walker goes from each word and synonym set: a matrix whose rows sum to 1."""

    def __init__(self, net: Lexicon) -> None:
        self.words = sorted(net.senses)
        self.number = {word: i for i, word in enumerate(self.words)}
        sets = {key: len(self.words) + i for i, key in enumerate(net.synsets)}
        size = len(self.words) + len(sets)
        glosses = gloss_lemmas(net)
        mentions = Counter(word for counts in glosses.values() for word in counts)
        rare = {word: math.log(len(sets) / n) for word, n in mentions.items()}
        senses = [(self.number[w], sets[s], n) for w, of in net.senses.items() for s, n in of.items()]
        gloss = [(sets[s], self.number[w], n * rare[w]) for s, of in glosses.items() for w, n in of.items()]
        lemmas = [
            (sets[s], self.number[w], 1.0 + math.log1p(net.senses[w][s]))
            for s, y in net.synsets.items()
            for w in map(str.lower, y.words)
            if w in self.number
        ]
        related = [(sets[s], sets[o], RELATIONS.get(r, 1.0)) for s, y in net.synsets.items() for r, o in y.related]
        mentioned = [(w, s, n / math.log(8 + len(glosses))) for s, w, n in gloss]
        self.steps = normalised(
            TO_SENSES * normalised(matrix(senses, size))
            + TO_MENTIONS * normalised(matrix(mentioned, size))
            + TO_WORDS * normalised(matrix(lemmas, size))
            + TO_GLOSS * normalised(matrix(gloss, size))
            + TO_RELATED * normalised(matrix(related, size))
        )

    def walks(self, starts: list[list[str]]) -> sparse.csr_matrix:
        """(starts, places): how often a walk that begins at one of the words is at each place."""
        blocks = []
        for first in range(0, len(starts), 1000):
            block = starts[first : first + 1000]
            begin = [(row, self.number[word], 1 / len(words)) for row, words in enumerate(block) for word in words]
            here = matrix(begin, self.steps.shape[0])[: len(block)]
            total = AT_HOME * here
            for step in range(STEPS):
                here = pruned(here @ self.steps)
                total = total + CONTINUE**step * here
            blocks.append(total.astype(np.float32))
        return sparse.vstack(blocks).tocsr()


def matrix(entries: list[tuple[int, int, float]], size: int) -> sparse.csr_matrix:
    """A square matrix of (row, column, value); values of the same place are added."""
    rows, columns, values = zip(*entries, strict=True)
    return sparse.csr_matrix((np.array(values), (rows, columns)), shape=(size, size))


def normalised(m: sparse.csr_matrix) -> sparse.csr_matrix:
    """Each row divided by its sum."""
    sums = np.asarray(m.sum(axis=1)).ravel()
    return sparse.diags(1 / np.where(sums > 0, sums, 1)) @ m


def pruned(m: sparse.csr_matrix) -> sparse.csr_matrix:
    """The matrix without its smallest values: they would fill the memory."""
    m.data[m.data < PRUNED] = 0
    m.eliminate_zeros()
    return m


def positive_information(walks: sparse.csr_matrix) -> sparse.csr_matrix:
    """Positive pointwise mutual information of word and place."""
    visits = np.asarray((walks > 0).sum(axis=0)).ravel()
    walks = walks[:, visits > 1]
    rows = np.asarray(walks.sum(axis=1)).ravel()
    columns = np.asarray(walks.sum(axis=0)).ravel() ** 0.75
    columns /= columns.sum()
    matrix = walks.tocoo()
    information = np.log(matrix.data / (rows[matrix.row] * columns[matrix.col]))
    matrix.data = np.maximum(information, 0)
    result = matrix.tocsr()
    result.eliminate_zeros()
    return result


def decomposed(m: sparse.csr_matrix, dimension: int) -> np.ndarray:
    """(words, dimension): the left singular vectors, each weighed by a power of its singular value."""
    start = np.random.default_rng(0).standard_normal(min(m.shape))
    left, singular, _ = svds(m.astype(np.float64), k=dimension, v0=start)
    order = np.argsort(-singular)
    left, singular = left[:, order], singular[order]
    left *= np.sign(left[np.abs(left).argmax(axis=0), np.arange(dimension)])  # a singular vector's sign is arbitrary
    return left * singular**EIGENVALUE_POWER


def vocabulary(net: Lexicon) -> dict[str, list[str]]:
    """The words that get a vector, and for each the words of WordNet that it may be a form of.

    Plurals of nouns are left out: the lookup finds the singular.
    """
    tokens = Counter(token for synset in net.synsets.values() for token in tokens_of(synset.gloss))
    score: dict[str, float] = {}
    for word in {*net.senses, *tokens}:
        plural = word not in net.senses and any(singular in net.senses for singular in singulars(word))
        if re.fullmatch("[a-z]{2,}", word) and word not in STOP and not plural and net.lemmas(word):
            score[word] = (
                THING_BONUS * is_thing(net, word)
                + net.tagged[word]
                + tokens[word]
                + 0.1 * len(net.senses.get(word, ()))
            )
    required = [name for name in required_words() if name not in STOP and net.lemmas(name)]
    commonest = sorted(score, key=lambda word: (-score[word], word))
    chosen = list(dict.fromkeys([*required, *commonest]))[:VOCABULARY_SIZE]
    forms = {word: net.lemmas(word) for word in sorted(chosen)}
    return forms | {name: spelled.split() for name, spelled in VOC.items() if name not in forms}


def is_thing(net: Lexicon, word: str) -> bool:
    """Whether the commonest sense of a word is an artefact or food: what images show, and glosses seldom name."""
    if not net.senses.get(word):
        return False
    commonest = max(net.senses[word], key=net.senses[word].__getitem__)
    return commonest.startswith("n") and net.synsets[commonest].file in {"06", "13"}


def required_words() -> list[str]:
    """The classes of COCO and VOC, and the words of the example data."""
    files = sorted((ROOT / "src/sacrecap/example").rglob("*.json"))
    text = " ".join(path.read_text(encoding="utf-8") for path in files)
    labels = [label.replace(" ", "_") for label in (*LABELS, *VOC.values())]
    return [*labels, *(part for label in labels for part in label.split("_")), *re.findall("[a-z]{2,}", text.lower())]


def quantised(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """8-bit integers, and the factor of each row that makes it as long as 1."""
    integers = np.rint(127 * vectors / np.abs(vectors).max(axis=1, keepdims=True)).astype(np.int8)
    return integers, (1 / np.linalg.norm(integers.astype("f8"), axis=1)).astype("f4")


def main() -> None:
    """Writes the vectors."""
    net = Lexicon(read_wordnet())
    words = vocabulary(net)
    walks = Graph(net).walks(list(words.values()))
    vectors, scales = quantised(decomposed(positive_information(walks), DIMENSION))
    text = np.frombuffer("\n".join(words).encode(), np.uint8)
    np.savez_compressed(OUTPUT, words=text, vectors=vectors, scales=scales)
    checksum = hashlib.sha256(OUTPUT.read_bytes()).hexdigest()
    print(f"{OUTPUT}: {len(words):,} words, {OUTPUT.stat().st_size:,} bytes, sha256 {checksum}")


if __name__ == "__main__":
    main()
