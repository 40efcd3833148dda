"""CHAIR as its program computes it, slow and plain: Rohrbach et al. 2018, with any singular of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

DOUBLE_WORDS = """motor bike, motor cycle, air plane, traffic light, street light, traffic signal, stop light,
fire hydrant, stop sign, parking meter, suit case, sports ball, baseball bat, baseball glove, tennis racket, wine glass,
hot dog, cell phone, mobile phone, teddy bear, hair drier, potted plant, bow tie, laptop computer, stove top oven,
home plate, train track, toilet seat, wine glas"""
ANIMALS = ("bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "animal", "cub")


def double_words() -> dict[str, str]:
    """Two words that are taken as one, and what they become."""
    pairs = {pair: pair for pair in DOUBLE_WORDS.replace("\n", " ").split(", ")}
    pairs |= {f"{age} {animal}": animal for age in ("baby", "adult") for animal in ANIMALS}
    pairs |= {f"passenger {vehicle}": vehicle for vehicle in ("jet", "train")}
    return pairs | {"bow tie": "tie", "toilet seat": "toilet", "wine glas": "wine glass"}


def object_of_words(text: str) -> dict[str, str]:
    """The object that each word of the list names."""
    lines = [line.strip().split(", ") for line in text.splitlines()]
    return {word: line[0] for line in lines for word in line}


def mentions(tokens: Iterable[str], objects: Mapping[str, str], singular: Callable[[str], str]) -> list[str]:
    """The objects that a caption names, in its order."""
    words, pairs = [singular(token.lower()) for token in tokens], double_words()
    merged, place = [], 0
    while place < len(words):
        pair = " ".join(words[place : place + 2])
        merged.append(pairs.get(pair, words[place]))
        place += 2 if pair in pairs else 1
    if "toilet" in merged and "seat" in merged:
        merged = [word for word in merged if word != "seat"]
    return [objects[word] for word in merged if word in objects]


def row(
    candidate: Sequence[str],
    references: Iterable[Sequence[str]],
    annotated: Iterable[str],
    objects: Mapping[str, str],
    singular: Callable[[str], str],
    gold: str = "both",
) -> list[float]:
    """Hallucinated mentions, mentions; whether the caption hallucinates, 1; gold objects named, gold objects."""
    there: set[str] = set()
    if gold != "references":
        there |= {objects[label] for label in annotated if label in objects}
    if gold != "objects":
        there |= {name for reference in references for name in mentions(reference, objects, singular)}
    named = mentions(candidate, objects, singular)
    false = sum(name not in there for name in named)
    return [false, len(named), float(false > 0), 1, len(there & {*named}), len(there)]
