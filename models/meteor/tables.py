"""METEOR's tables and the table of synonyms as files that sacrecap uses in place: sorted strings and lists of numbers.

A file is a mark, the version of its format, the CRC-32 of what follows, the length of each section, and the sections;
all numbers are little-endian. `rust/core/src/tables.rs` reads them.
"""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

Sets = Mapping[str, Sequence[int]]
"""Numbers of synonym sets by word."""
METEOR = (b"sacre\0me", 2)
SYNONYMS = (b"sacre\0sy", 1)
"""The mark of each kind of file, and the version of its format."""


def synonym_table(synsets: str, exceptions: str) -> bytes:
    """The table of synonyms, from METEOR's texts of WordNet."""
    words = synonyms(synsets)
    return file(*SYNONYMS, [*meanings(words), *meanings(irregular(exceptions, words))])


def meteor_tables(words: str, prefixes: str, synsets: str, exceptions: str, paraphrases: bytes) -> bytes:
    """METEOR's English tables: function words, prefixes that keep their dot always and before numbers, synonyms,
    irregular forms, paraphrases, and which language it is.
    """
    related = synonyms(synsets)
    lines = [line.split() for line in prefixes.splitlines() if line.split() and not line.split()[0].startswith("#")]
    numeric = {prefix for prefix, *rest in lines if rest[:1] == ["#NUMERIC_ONLY#"]}
    always = {prefix for prefix, *rest in lines if rest[:1] != ["#NUMERIC_ONLY#"]}
    sections = [*strings(set(words.split())), *strings(always), *strings(numeric)]
    sections += [
        *meanings(related),
        *meanings(irregular(exceptions, related)),
        *paraphrase_sections(paraphrases),
        b"en+",
    ]
    return file(*METEOR, sections)


def file(mark: bytes, version: int, sections: Sequence[bytes]) -> bytes:
    """The bytes of a file of these sections."""
    content = struct.pack(f"<{len(sections)}Q", *map(len, sections)) + b"".join(sections)
    return mark + struct.pack("<II", version, zlib.crc32(content)) + content


def pairs(text: str) -> Iterable[tuple[str, list[str]]]:
    """The lines in twos: a word, and what the next line has."""
    lines = iter(text.splitlines())
    for first, second in zip(lines, lines, strict=True):
        yield first.strip(), second.split()


def synonyms(synsets: str) -> Sets:
    """The words of `english.synsets`, a word and on the next line the numbers of its sets."""
    sets: dict[str, list[int]] = defaultdict(list)
    for word, numbers in pairs(synsets):
        sets[word] += map(int, numbers)
    return sets


def irregular(exceptions: str, words: Sets) -> Sets:
    """The sets of the bases of each irregular form of `english.exceptions`, a base and on the next line its forms.

    A form whose bases mean nothing stays listed, so that the suffix rules are not tried on it.
    """
    sets: dict[str, list[int]] = defaultdict(list)
    for base, forms in pairs(exceptions):
        for form in forms:
            sets[form] += words.get(base, ())
    return sets


def paraphrase_sections(table: bytes) -> list[bytes]:
    """Of triples of lines, a weight (which METEOR does not read), a phrase and its paraphrase: the phrases as a trie,
    and the paraphrases of each phrase in the order of the table.

    Nodes are numbered level by level and, within a level, by parent and word, so that a phrase of one word has the
    word's number and the children of a node are consecutive.
    """
    lines = table.decode("utf-8").split("\n")
    numbers: dict[str, int] = {}
    numbered = [[numbers.setdefault(line, len(numbers)) for line in lines[first::3]] for first in (1, 2)]
    phrases = [phrase.split() for phrase in numbers]
    words = sorted({word for phrase in phrases for word in phrase})
    rank = {word: number for number, word in enumerate(words)}
    ranks = [[rank[word] for word in phrase] for phrase in phrases]
    last = list(range(len(words)))
    parents: list[int] = []
    nodes = [phrase[0] if phrase else -1 for phrase in ranks]
    for depth in range(1, max(map(len, ranks), default=0)):
        longer = [number for number, phrase in enumerate(ranks) if len(phrase) > depth]
        level = sorted({(nodes[number], ranks[number][depth]) for number in longer})
        at = {step: len(last) + place for place, step in enumerate(level)}
        parents += [parent for parent, _ in level]
        last += [word for _, word in level]
        for number in longer:
            nodes[number] = at[nodes[number], ranks[number][depth]]
    children = len(words) + np.concatenate([[0], np.cumsum(np.bincount(parents, minlength=len(last)))])
    node = np.array(nodes)
    phrase, paraphrase = (node[np.array(side, int)] for side in numbered)
    has_words = (phrase >= 0) & (paraphrase >= 0)
    phrase, paraphrase = phrase[has_words], paraphrase[has_words]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(phrase, minlength=len(last)))])
    values = paraphrase[np.argsort(phrase, kind="stable")]
    return [*strings(words), *(np.asarray(part, "<u4").tobytes() for part in (last, children, bounds, values))]


def strings(texts: Iterable[str]) -> list[bytes]:
    """Sorted strings: their text, and where each begins."""
    encoded = [text.encode() for text in sorted(texts)]
    return [b"".join(encoded), starts(map(len, encoded))]


def meanings(sets: Sets) -> list[bytes]:
    """Words, and lists of the numbers of their sets."""
    lists = [sets[word] for word in sorted(sets)]
    values = np.array([number for numbers in lists for number in numbers], "<u4").tobytes()
    return [*strings(sets), starts(map(len, lists)), values]


def starts(lengths: Iterable[int]) -> bytes:
    """Where each of consecutive parts begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(list(lengths))]).astype("<u4").tobytes()
