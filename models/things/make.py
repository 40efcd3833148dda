"""Makes the things of paragraphs' scene graphs, rust/core/src/graph/paragraph/things.txt, from WordNet 3.0 alone.

A noun is a thing if that is what it mostly means, by WordNet's counts and BONUS: a sense is one if it is in WordNet's
files of animals, artefacts, the body, food, natural objects, people and plants. Names with a capital are left out, and
so are pairs of words of which one is rare in glosses, unless a gloss or a counted text has the pair.

The file has three lists, each sorted, with an empty line between them: people, clothes, and other things.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from wordnet import PERSON, THINGS, WordNet, read_wordnet

OUTPUT = Path(__file__).parents[2] / "rust/core/src/graph/paragraph/things.txt"
CLOTHES = ("clothing", "footwear", "headdress", "eyeglasses", "jewelry", "neckpiece")
COMMON = 12
"""How often glosses use each word of a pair that is kept."""
BONUS = 3
"""How much more often captions mean a thing than the texts that WordNet counted."""
WRITTEN = re.compile(r"[a-z][a-z'-]*(_[a-z'-]+)?")


def main() -> None:
    """Writes the lists."""
    net = read_wordnet()
    small = {
        word.lower()
        for key, net_set in net.synsets.items()
        if key[0] == "n"
        for word in net_set.words
        if word[0].islower()
    }
    used = glossed(net)
    things = {key for key, net_set in net.synsets.items() if net_set.file in THINGS}
    people = {key for key in things if net.synsets[key].file == PERSON}
    clothes = below(net, CLOTHES)
    lists: list[list[str]] = [[], [], []]
    for word in sorted(small & set(net.senses["n"]), key=lambda word: word.replace("_", " ")):
        is_common = min(used[part] for part in word.split("_")) >= COMMON
        is_kept = "_" not in word or used[word] or is_common or any(weight >= 2 for _, weight in senses(net, word))
        if not WRITTEN.fullmatch(word) or not is_kept or share(net, word, things.__contains__) < 0.5:
            continue
        kind = next(
            (kind for kind, keys in enumerate((people, clothes)) if share(net, word, keys.__contains__) >= 0.5), 2
        )
        lists[kind].append(word.replace("_", " "))
    OUTPUT.write_text("\n\n".join("\n".join(words) for words in lists) + "\n", encoding="utf-8")
    print(*(f"{len(words):,} {name}" for words, name in zip(lists, ("people", "clothes", "other things"), strict=True)))


def senses(net: WordNet, word: str) -> Iterator[tuple[str, float]]:
    """The senses of a noun, each with its weight: how often texts had it, and more for the first ones."""
    for number, key in enumerate(net.senses["n"][word], 1):
        yield key, net.counts[word, "n", number] + 1 / number


def share(net: WordNet, word: str, counts: Callable[[str], bool]) -> float:
    """The share of a noun's senses that count, where each weighs `BONUS` times what others weigh."""
    weights = [(weight, counts(key)) for key, weight in senses(net, word)]
    inside = BONUS * sum(weight for weight, counted in weights if counted)
    return inside / (inside + sum(weight for weight, counted in weights if not counted))


def glossed(net: WordNet) -> Counter[str]:
    """How often glosses use each word and each pair of words."""
    used: Counter[str] = Counter()
    for synset in net.synsets.values():
        words = re.findall(r"[a-z'-]+", synset.gloss.lower())
        used.update(words)
        used.update(map("_".join, pairwise(words)))
    return used


def below(net: WordNet, words: tuple[str, ...]) -> set[str]:
    """The sets below the first senses of these nouns."""
    first_senses = {net.senses["n"][word][0] for word in words}
    children: dict[str, list[str]] = {}
    for key, synset in net.synsets.items():
        for symbol, target in synset.related:
            if symbol == "@" and key[0] == "n":
                children.setdefault(target, []).append(key)
    pending = list(first_senses)
    while pending:
        for child in children.get(pending.pop(), []):
            if child not in first_senses:
                first_senses.add(child)
                pending.append(child)
    return first_senses


if __name__ == "__main__":
    main()
