"""WordNet 3.0, as Debian's wordnet-base has it: synonym sets, the senses of words, and how often texts had them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path("/usr/share/wordnet")
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
PARTS_OF_KEYS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
THINGS = {"05": "animal", "06": "artefact", "08": "body", "13": "food", "17": "object", "18": "person", "20": "plant"}
"""Files of things that can be seen."""
PERSON = "18"
_COCO = Path(__file__).parents[1] / "src/sacrecap/resources/chair/coco.txt"
LABELS = tuple(line.partition(", ")[0] for line in _COCO.read_text(encoding="utf-8").splitlines())
"""The names of COCO's objects."""


NOUN_ENDINGS = (
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("s", ""),
)
"""Endings of plurals, with what WordNet puts in their place."""


@dataclass
class Synset:
    """A synonym set."""

    words: list[str]
    file: str
    """Number of the lexicographer's file."""
    related: list[tuple[str, str]]
    """Symbol of the relation, and key of the other set."""
    gloss: str


@dataclass
class WordNet:
    """Keys of sets are the letter of the part of speech and the place in its file."""

    synsets: dict[str, Synset] = field(default_factory=dict)
    senses: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """By part of speech, the sets of each word in WordNet's order."""
    counts: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """By word, part of speech and number of the sense: how often the texts that WordNet's makers tagged had it."""
    exceptions: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """By part of speech and irregular form, the words that it is of."""


def read_wordnet() -> WordNet:
    """WordNet, from its data, index, exception and count files."""
    net = WordNet()
    for name, part in PARTS.items():
        for line in _lines(f"data.{name}"):
            offset, net.synsets[part + offset] = _synset(line)
        net.senses[part] = {}
        for line in _lines(f"index.{name}"):
            word, _, count, *fields = line.split()
            net.senses[part][word] = [part + offset for offset in fields[-int(count) :]]
        for line in _lines(f"{name}.exc"):
            form, *net.exceptions[part, form] = line.split()
    for line in _lines("cntlist.rev"):
        key, rank, count = line.split()
        word, _, place = key.partition("%")
        net.counts[word, PARTS_OF_KEYS[place[0]], int(rank)] += int(count)
    return net


def _lines(name: str) -> list[str]:
    """Without those of the licence."""
    return [line for line in (FOLDER / name).read_text(encoding="latin-1").splitlines() if not line.startswith("  ")]


def _synset(line: str) -> tuple[str, Synset]:
    """The place of a synonym set in its file, and the set."""
    data, _, gloss = line.partition(" | ")
    fields = data.split()
    count = int(fields[3], 16)
    words = [re.sub(r"\(\w+\)$", "", word) for word in fields[4 : 4 + 2 * count : 2]]
    pointers = fields[5 + 2 * count :][: 4 * int(fields[4 + 2 * count])]
    related = [(pointers[i], pointers[i + 2].replace("s", "a") + pointers[i + 1]) for i in range(0, len(pointers), 4)]
    return fields[0], Synset(words, fields[1], related, gloss)
