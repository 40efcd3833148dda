"""SPICE from scene graphs, as slowly and plainly as it can be written."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

Graph = tuple[list[tuple[str, list[int]]], list[tuple[int, str, list[int]]], list[tuple[int, str, int, list[int]]]]
Sets = Callable[[str], set[int]]


def place(concepts: list[list[str]], name: str, sets: Sets) -> int:
    """Joins the name to the concept that has it, else to the most similar, the earliest of equals, else makes one."""
    for number, names in enumerate(concepts):
        if name in names:
            return number
    alike = [_jaccard(_union(names, sets), sets(name)) for names in concepts]
    if alike and max(alike) > 0:
        best = alike.index(max(alike))
        concepts[best].append(name)
        return best
    concepts.append([name])
    return len(concepts) - 1


def _jaccard(a: set[int], b: set[int]) -> Fraction:
    return Fraction(len(a & b), len(a | b)) if a & b else Fraction(0)


def _union(names: list[str], sets: Sets) -> set[int]:
    return set().union(*map(sets, names))


def tuples(graphs: list[Graph], sets: Sets) -> list[tuple[tuple[str, ...], ...]]:
    """The tuples of graphs joined into one; each part is the names of a concept."""
    objects: list[list[str]] = []
    attributes: dict[int, list[list[str]]] = {}
    predicates: dict[tuple[int, int], list[list[str]]] = {}
    for own_objects, own_attributes, own_relations in graphs:
        numbers = [place(objects, name, sets) for name, _ in own_objects]
        for owner, name, _ in own_attributes:
            place(attributes.setdefault(numbers[owner], []), name, sets)
        for subject, name, other, _ in own_relations:
            place(predicates.setdefault((numbers[subject], numbers[other]), []), name, sets)
    found = [(tuple(names),) for names in objects]
    found += [(tuple(objects[owner]), tuple(names)) for owner, own in attributes.items() for names in own]
    found += [
        (tuple(objects[subject]), tuple(names), tuple(objects[other]))
        for (subject, other), own in predicates.items()
        for names in own
    ]
    return found


def score(candidate: list[Graph], references: list[Graph], sets: Sets) -> float:
    """F of the candidate's tuples that match any of the references' by a common name or synonym set in every part."""
    said, expected = tuples(candidate, sets), tuples(references, sets)

    def same(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
        return bool(set(a) & set(b)) or bool(_union(list(a), sets) & _union(list(b), sets))

    def matches(one: tuple[tuple[str, ...], ...], other: tuple[tuple[str, ...], ...]) -> bool:
        return len(one) == len(other) and all(map(same, one, other))

    matched = sum(any(matches(one, other) for other in expected) for one in said)
    if not matched:
        return 0.0
    precision, recall = matched / len(said), matched / len(expected)
    return 2 * precision * recall / (precision + recall)
