"""Lemmas as rewritten endings, learned from pairs of words and lemmas.

Two kinds of words change: verbs, and plural nouns. For each kind a table holds endings and what becomes of them; the
longest ending that a word has decides. An ending may be a whole word (`^feet`). Words of other kinds are their own
lemmas but for a few, which are listed whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from parser.conll import Sentence

KINDS = ("verb", "plural", "other")
LONGEST = 8  # letters of an ending that is not a whole word
LEAST, SHARE = 3, 0.75  # so many words, and so much of them, must agree on what becomes of an ending

Rule = tuple[int, str]  # letters taken off, letters put on


def kind(tag: str) -> str:
    """The table that a tag belongs to."""
    return "verb" if tag.startswith("VB") else "plural" if tag == "NNS" else "other"


def rule(word: str, lemma: str) -> Rule:
    """What makes the lemma of the word."""
    common = 0
    while common < min(len(word), len(lemma)) and word[common] == lemma[common]:
        common += 1
    return len(word) - common, lemma[common:]


def pairs(sentences: Iterable[Sentence]) -> dict[str, dict[str, str]]:
    """For each kind, the commonest lemma of each word."""
    counts: dict[str, dict[str, Counter[str]]] = {name: defaultdict(Counter) for name in KINDS}
    for sentence in sentences:
        for word, lemma, tag in zip(sentence.words, sentence.lemmas, sentence.tags, strict=True):
            counts[kind(tag)][word][lemma] += 1
    return {name: {word: min(c, key=lambda x: (-c[x], x)) for word, c in of.items()} for name, of in counts.items()}


def endings(lemmas: Mapping[str, str], *, whole: bool) -> dict[str, Rule]:
    """The table of a kind. Every pair given comes out right."""
    if whole:
        return {f"^{word}": rule(word, lemma) for word, lemma in sorted(lemmas.items()) if word != lemma}
    votes: dict[str, Counter[Rule]] = defaultdict(Counter)
    for word, lemma in lemmas.items():
        change = rule(word, lemma)
        for length in range(min(len(word), LONGEST) + 1):
            votes[word[len(word) - length :]][change] += 1
        votes[f"^{word}"][change] += 1
    table: dict[str, Rule] = {}
    for ending in sorted(votes, key=lambda text: (len(text.lstrip("^")), text.startswith("^"), text)):
        count = votes[ending]
        best = min(count, key=lambda change: (-count[change], change))
        agreed = sum(count.values()) >= LEAST and count[best] >= SHARE * sum(count.values()) and len(ending) > best[0]
        if (agreed or ending.startswith("^")) and best != applied(table, ending):
            table[ending] = best
    return table


def applied(table: Mapping[str, Rule], text: str) -> Rule:
    """The rule of the longest ending that the text, `^` before a whole word, has."""
    return next((table[text[start:]] for start in range(len(text) + 1) if text[start:] in table), (0, ""))


def tables(sentences: Iterable[Sentence]) -> dict[str, dict[str, Rule]]:
    """The table of each kind."""
    lemmas = pairs(sentences)
    return {name: endings(lemmas[name], whole=name == "other") for name in KINDS}
