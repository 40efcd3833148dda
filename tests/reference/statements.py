"""Coverage, precision and long-f1 from scene graphs and words, as slowly and plainly as they can be written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

Read = tuple[list[str], list[int], Any, list[str]]
"""Tokens, the places behind sentences but the last, the graph, each part with the name of its status, and tokens'."""
Sets = Callable[[str], set[int]]
Stem = Callable[[str], str]
Key = tuple[str, tuple[str, ...]]

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those i me my we us our ours you your yours he him his she her hers it its they
    them their theirs himself herself itself themselves who whom whose which what one ones be is are was were
    been being am have has has had having do does did done can could may might will would shall should must 's
    're 've 'll 'd 'm n't and or but nor so as if than then though although while when where because of to at
    by for from in into on onto with within without not no none yes all both each every any some such own same
    other others another there here also too very just only more most much many few -lrb- -rrb-
    """.split()
)
SAID = ("stated", "hedged")


Forms = dict[Key, list[tuple[str, ...]]]
"""The forms in which each statement is said, by its kind and the stems of its parts."""
ABOUT_THE_PICTURE = frozenset(
    """
    image images picture pictures photo photos photograph photographs scene scenes shot depict depicts depicted
    depicting show shows shown showing capture captures captured capturing feature features featured featuring
    visible seen appear appears appearing overall
    """.split()
)


def statements(captions: Sequence[Read], stem: Stem) -> Forms:
    """What the captions say together."""
    found: Forms = {}

    def add(kind: str, *parts: str) -> None:
        stems = tuple(" ".join(map(stem, part.lower().split(" "))) for part in parts)
        found.setdefault((kind, tuple(sorted(stems)) if kind == "word" else stems), []).append(parts)

    for caption in captions:
        for kind, *parts in (*_of_graph(caption[2]), *_of_words(*caption, stem)):
            add(kind, *parts)
    return found


def _of_graph(graph: Any) -> list[tuple[str, ...]]:
    objects, attributes, relations = graph
    name = [one for one, _, _ in objects]
    found = [("object", one, status) for one, _, status in objects]
    found += [("attribute", name[owner], one, status) for owner, one, _, status in attributes]
    found += [("relation", name[one], said, name[other], status) for one, said, other, _, status in relations]
    return [one[:-1] for one in found if one[-1] in SAID]


def _of_words(tokens: list[str], ends: list[int], graph: Any, statuses: list[str], stem: Stem) -> list[tuple[str, ...]]:
    spoken = [(one[-2], one[-1]) for part in graph for one in part]
    denied = {word for word, status in enumerate(statuses) if status not in SAID}
    denied |= {word for words, status in spoken if status == "denied" for word in words}
    denied -= {word for words, status in spoken if status in SAID for word in words}
    found: list[tuple[str, ...]] = []
    for start, end in zip([0, *ends], [*ends, len(tokens)], strict=True):
        content = [tokens[at] for at in range(start, end) if at not in denied and _is_content(tokens[at])]
        found += [("word", word) for word in content]
        found += [
            ("word", one, other)
            for (i, one), (j, other) in combinations(enumerate(content), 2)
            if j - i <= 2 and stem(one.lower()) != stem(other.lower())
        ]
    return found


def _is_content(token: str) -> bool:
    return token.lower() not in FUNCTION_WORDS | ABOUT_THE_PICTURE and any(map(str.isalnum, token))


def meanings(said: Forms, sets: Sets) -> dict[str, set[int]]:
    """The synonym sets of each stem in a statement of the graph, of all its forms."""
    found: dict[str, set[int]] = {}
    for (kind, stems), forms in said.items():
        for parts in forms if kind != "word" else ():
            for one, part in zip(stems, parts, strict=True):
                found.setdefault(one, set()).update(sets(part.lower().replace(" ", "_")))
    return found


def scores(
    caption: Sequence[Read], images: Sequence[Sequence[Read]], synonyms: float, sets: Sets, stem: Stem, kind: str
) -> tuple[float, float, float]:
    """Coverage, precision and long-f1 of a caption of the first image, by the references of all images."""
    mine, theirs, *others = (statements(side, stem) for side in (caption, *images))
    own, their = meanings(mine, sets), meanings(theirs, sets)
    elsewhere = [(other, meanings(other, sets)) for other in others]

    def alike(one: Key, of_one: dict[str, set[int]], two: Key, of_two: dict[str, set[int]]) -> bool:
        if one[0] != two[0] or len(one[1]) != len(two[1]):
            return False
        parts = zip(one[1], two[1], strict=True)
        return all(a == b or (one[0] != "word" and bool(of_one[a] & of_two[b])) for a, b in parts)

    def share(side: Forms, of_side: dict[str, set[int]], other: Forms, of_other: dict[str, set[int]]) -> list[float]:
        part = whole = chance = 0.0
        for one in side:
            if kind in ("all", one[0]):
                by_synonym = any(alike(one, of_side, two, of_other) for two in other)
                weight = 1 / sum(alike(one, of_side, two, of_side) for two in side) if synonyms else 1.0
                part += weight * (1.0 if one in other else synonyms * by_synonym)
                whole += weight
                chance += weight * by_chance(one, of_side)
        return [part, whole, chance]

    def by_chance(one: Key, of_side: dict[str, set[int]]) -> float:
        """The share of other images that say it; and of those that name a thing of its commonest synonym set."""
        if not others:
            return 0.0
        same = sum(one in other for other in others)
        by_set = [
            sum(any(k == "object" and set_ in of[stems[0]] for k, stems in other) for other, of in elsewhere)
            for set_ in (of_side[one[1][0]] if one[0] == "object" else ())
        ]
        return (same + synonyms * (max([same, *by_set]) - same)) / len(others)

    def length(said: float) -> float:
        """What is said; half of what it lacks to the length of a reference counts as said."""
        each = [statements([caption], stem) for caption in images[0]]
        lengths = [share(one, meanings(one, sets), one, meanings(one, sets))[1] for one in each]
        return max(said, (said + sum(lengths) / len(lengths)) / 2) if said else 0.0

    supported, said, chance = share(mine, own, theirs, their)
    covered, expected, _ = share(theirs, their, mine, own)
    if kind == "all" and not (said and expected):
        return 0.0, 0.0, 0.0
    said = length(said)
    shares = (
        (covered - chance, expected),
        (supported - chance, said),
        (supported + covered - 2 * chance, said + expected),
    )
    coverage, precision, both = (part / whole if whole else float("nan") for part, whole in shares)
    return coverage, precision, both
