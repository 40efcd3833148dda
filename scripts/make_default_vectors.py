"""Makes the word vectors inside the package, src/sacrecap/resources/embeddings/default.npz, from WordNet 3.0 alone.

    make default-vectors        (installs Debian's wordnet-base, and SciPy into the environment)

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
import json
import math
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from sacrecap.resources.embeddings.lookup import singulars

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "src/sacrecap/resources/embeddings/default.npz"
WORDNET = Path("/usr/share/wordnet")

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
PARTS_OF_SPEECH = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
ENDINGS = {
    "n": [
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
        ("s", ""),
    ],
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
COCO = """
    person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic_light, fire_hydrant, stop_sign,
    parking_meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella,
    handbag, tie, suitcase, frisbee, skis, snowboard, sports_ball, kite, baseball_bat, baseball_glove,
    skateboard, surfboard, tennis_racket, bottle, wine_glass, cup, fork, knife, spoon, bowl, banana, apple,
    sandwich, orange, broccoli, carrot, hot_dog, pizza, donut, cake, chair, couch, potted_plant, bed,
    dining_table, toilet, tv, laptop, mouse, remote, keyboard, cell_phone, microwave, oven, toaster, sink,
    refrigerator, book, clock, vase, scissors, teddy_bear, hair_drier, toothbrush
"""
VOC = {
    "aeroplane": "aeroplane",
    "motorbike": "motorbike",
    "sofa": "sofa",
    "diningtable": "dining table",
    "pottedplant": "potted plant",
    "tvmonitor": "tv monitor",
}


@dataclass
class Synset:
    """A synonym set: its words in lower case, the sets it is related to, the words of its gloss and examples."""

    words: list[str]
    related: list[tuple[str, str]]  # symbol, key of the other set
    gloss: list[str]
    file: str  # number of the lexicographer's file


@dataclass
class WordNet:
    """The four files of synonym sets, with what the counts say of each word's senses."""

    synsets: dict[str, Synset] = field(default_factory=dict)
    senses: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # word → set → weight
    tagged: Counter[str] = field(default_factory=Counter)  # word → how often texts had it
    exceptions: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    by_part: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def lemmas(self, token: str) -> list[str]:
        """The words that a form in running text may be of."""
        found = [token] if token in self.senses else []
        for part, endings in ENDINGS.items():
            candidates = self.exceptions.get((part, token)) or [
                token.removesuffix(old) + new
                for old, new in endings
                if token.endswith(old) and len(token) > len(old) + 1
            ]
            found += [word for word in candidates if word in self.by_part[part]][:1]
        return list(dict.fromkeys(found))


def read_wordnet(folder: Path) -> WordNet:
    """WordNet, from the folder of its data, index and exception files."""
    net = WordNet()
    for name, part in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
        for line in (folder / f"data.{name}").read_text(encoding="latin-1").splitlines():
            if not line.startswith("  "):
                offset, synset = read_synset(line)
                net.synsets[part + offset] = synset
        for line in (folder / f"{name}.exc").read_text(encoding="latin-1").splitlines():
            form, *bases = line.split()
            net.exceptions[part, form] = bases
    counts = read_counts(folder)
    for name, part in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
        for line in (folder / f"index.{name}").read_text(encoding="latin-1").splitlines():
            if not line.startswith("  "):
                fields = line.split()
                word, offsets = fields[0], fields[-int(fields[2]) :]
                net.by_part[part].add(word)
                for rank, offset in enumerate(offsets, 1):
                    count = counts.get((word, part, rank), 0)
                    net.senses[word][part + offset] += count + 1.0 / rank
                    net.tagged[word] += count
    return net


def read_synset(line: str) -> tuple[str, Synset]:
    """The place of a synonym set in its file, and the set, from a line of `data.*`."""
    data, _, gloss = line.partition(" | ")
    fields = data.split()
    count = int(fields[3], 16)
    words = [re.sub(r"\(\w+\)$", "", word).lower() for word in fields[4 : 4 + 2 * count : 2]]
    pointers = fields[5 + 2 * count :][: 4 * int(fields[4 + 2 * count])]
    related = [(pointers[i], pointers[i + 2].replace("s", "a") + pointers[i + 1]) for i in range(0, len(pointers), 4)]
    return fields[0], Synset(words, related, re.findall(r"[a-z][a-z-]*[a-z]", gloss.lower()), fields[1])


def read_counts(folder: Path) -> dict[tuple[str, str, int], int]:
    """How often each sense of a word was met in the texts that WordNet's makers tagged."""
    counts = {}
    for line in (folder / "cntlist.rev").read_text(encoding="latin-1").splitlines():
        key, rank, count = line.split()
        word, _, rest = key.partition("%")
        counts[word, PARTS_OF_SPEECH[rest[0]], int(rank)] = int(count)
    return counts


def gloss_lemmas(net: WordNet) -> dict[str, Counter[str]]:
    """The content words of each gloss; a form that may be of two words counts half for each."""
    known: dict[str, list[str]] = {}
    glosses = {}
    for key, synset in net.synsets.items():
        found: Counter[str] = Counter()
        for token in synset.gloss:
            if token not in STOP:
                if token not in known:
                    known[token] = [word for word in net.lemmas(token) if word not in STOP]
                for word in known[token]:
                    found[word] += 1 / len(known[token])
        glosses[key] = found
    return glosses


class Graph:
    """Where the walker goes from each word and synonym set: a matrix whose rows sum to 1."""

    def __init__(self, net: WordNet) -> None:
        self.words = sorted(net.senses)
        self.number = {word: i for i, word in enumerate(self.words)}
        sets = {key: len(self.words) + i for i, key in enumerate(net.synsets)}
        size = len(self.words) + len(sets)
        glosses = gloss_lemmas(net)
        mentions = Counter(word for found in glosses.values() for word in found)
        rare = {word: math.log(len(sets) / n) for word, n in mentions.items()}
        senses = [(self.number[w], sets[s], n) for w, of in net.senses.items() for s, n in of.items()]
        gloss = [(sets[s], self.number[w], n * rare[w]) for s, of in glosses.items() for w, n in of.items()]
        lemmas = [
            (sets[s], self.number[w], 1.0 + math.log1p(net.senses[w][s]))
            for s, y in net.synsets.items()
            for w in y.words
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
    seen = np.asarray((walks > 0).sum(axis=0)).ravel()
    walks = walks[:, seen > 1]
    rows = np.asarray(walks.sum(axis=1)).ravel()
    columns = np.asarray(walks.sum(axis=0)).ravel() ** 0.75
    columns /= columns.sum()
    found = walks.tocoo()
    information = np.log(found.data / (rows[found.row] * columns[found.col]))
    found.data = np.maximum(information, 0)
    result = found.tocsr()
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


def vocabulary(net: WordNet) -> dict[str, list[str]]:
    """The words that get a vector, and for each the words of WordNet that it may be a form of.

    Plurals of nouns are left out: the lookup finds the singular.
    """
    tokens = Counter(token for synset in net.synsets.values() for token in synset.gloss)
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
    wanted = [name for name in required_words() if name not in STOP and net.lemmas(name)]
    commonest = sorted(score, key=lambda word: (-score[word], word))
    chosen = list(dict.fromkeys([*wanted, *commonest]))[:VOCABULARY_SIZE]
    forms = {word: net.lemmas(word) for word in sorted(chosen)}
    return forms | {name: spelled.split() for name, spelled in VOC.items() if name not in forms}


def is_thing(net: WordNet, word: str) -> bool:
    """Whether the commonest sense of a word is an artefact or food: what images show, and glosses seldom name."""
    if not net.senses.get(word):
        return False
    commonest = max(net.senses[word], key=net.senses[word].__getitem__)
    return commonest.startswith("n") and net.synsets[commonest].file in {"06", "13"}


def required_words() -> list[str]:
    """The classes of COCO and VOC, and the words of the example data."""
    files = sorted((ROOT / "src/sacrecap/example").rglob("*.json"))
    text = " ".join(path.read_text(encoding="utf-8") for path in files)
    labels = [*re.findall(r"\w+", COCO), *(label.replace(" ", "_") for label in VOC.values())]
    return [*labels, *(part for label in labels for part in label.split("_")), *re.findall("[a-z]{2,}", text.lower())]


def quantised(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """8-bit integers, and the factor of each row that makes it as long as 1."""
    integers = np.rint(127 * vectors / np.abs(vectors).max(axis=1, keepdims=True)).astype(np.int8)
    return integers, (1 / np.linalg.norm(integers.astype("f8"), axis=1)).astype("f4")


def main() -> None:
    """Writes the vectors, and a description next to them."""
    net = read_wordnet(WORDNET)
    words = vocabulary(net)
    walks = Graph(net).walks(list(words.values()))
    vectors, scales = quantised(decomposed(positive_information(walks), DIMENSION))
    text = np.frombuffer("\n".join(words).encode(), np.uint8)
    np.savez_compressed(OUTPUT, words=text, vectors=vectors, scales=scales)
    content = OUTPUT.read_bytes()
    described = {"source": "WordNet 3.0", "words": len(words), "dimension": DIMENSION, "bytes": len(content)}
    described["sha256"] = hashlib.sha256(content).hexdigest()
    OUTPUT.with_suffix(".json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(described), file=sys.stderr)


if __name__ == "__main__":
    main()
