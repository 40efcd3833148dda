"""How well the scene graphs of paragraphs agree with people's: the tables of docs/explanation/long-captions.md.

usage: paragraph_graphs.py GRAPHS [--worst N]      needs: pip install nltk

GRAPHS is a file of DiscoSG's format: JSON rows with `caption` and `scene_graph`, the latter as text, `( man , wear ,
hat ) , ( hat , is , red )`; also compressed. A tuple is right if people's graph has it, word by word, after Porter's
stemmer. F of a caption is over all its tuples; by kind, all captions are taken together. With --worst, the kinds of
errors in the captions of the lowest F are counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import Counter
from functools import cache
from pathlib import Path

from nltk.stem.porter import PorterStemmer

import sacrecap
from sacrecap.metrics.spice.scene_graph import SceneGraph

KINDS = {1: "objects", 2: "attributes", 3: "relations"}
Tuples = set[tuple[str, ...]]
_STEMMER = PorterStemmer(mode="ORIGINAL_ALGORITHM")


@cache
def stem(text: str) -> str:
    """The text with each word reduced to its stem."""
    return " ".join(map(_STEMMER.stem, text.lower().split()))


def gold(text: str) -> Tuples:
    """The tuples of a graph that people wrote."""
    found: Tuples = set()
    for triple in re.findall(r"\( (.*?) \)(?= ,|$)", text):
        subject, predicate, other = (part.strip() for part in triple.split(" , "))
        one, value = stem(subject), stem(other)
        found |= {(one,), (one, value)} if predicate == "is" else {(one,), (value,), (one, stem(predicate), value)}
    return found


def said(graph: SceneGraph) -> Tuples:
    """The tuples of a graph as they are compared."""
    return {tuple(map(stem, one)) for one in graph.tuples()}


def f(right: int, own: int, gold: int) -> float:
    """The harmonic mean of precision and recall; 0 where neither side has anything."""
    return 2 * right / (own + gold) if own + gold else 0.0


def table(name: str, pairs: list[tuple[Tuples, Tuples]]) -> None:
    """Prints precision, recall and F of each kind, and the mean F of a caption."""
    for size, kind in KINDS.items():
        own, people = (sum(len(one) == size for pair in pairs for one in pair[side]) for side in (0, 1))
        right = sum(len(one) == size for a, b in pairs for one in a & b)
        print(f"{name:24} {kind:10} P {right / own:.3f} R {right / people:.3f} F {f(right, own, people):.3f}")
    mean = sum(f(len(a & b), len(a), len(b)) for a, b in pairs) / len(pairs)
    print(f"{name:24} all, mean of captions  F {mean:.3f}")


def errors(pairs: list[tuple[Tuples, Tuples]]) -> Counter[str]:
    """Kinds of errors, with how many tuples have them."""
    found: Counter[str] = Counter()
    for own, people in pairs:
        for extra, missing, side in ((own, people, "too many"), (people, own, "missing")):
            objects = {one[0] for one in missing if len(one) == 1}
            ends = {(one[0], one[2]) for one in missing if len(one) == 3}
            values = {one[1] for one in missing if len(one) == 2}
            for one in extra - missing:
                if len(one) == 1:
                    found[f"object {side}"] += 1
                elif not {one[0], one[-1] if len(one) == 3 else one[0]} <= objects:
                    found[f"{KINDS[len(one)][:-1]} {side}: of an object {side}"] += 1
                elif len(one) == 2:
                    other = "at another object" if one[1] in values else "at no object"
                    found[f"attribute {side}: the other side has it {other}"] += 1
                else:
                    other = "otherwise" if {(one[0], one[2]), (one[2], one[0])} & ends else "not"
                    found[f"relation {side}: the other side relates them {other}"] += 1
    return found


def speed(captions: list[str]) -> None:
    """Prints the processor time of a graph, and of its parse, which is remembered: the second time is without."""
    seconds = []
    sacrecap.scene_graph("a dog runs", grammar="paragraph")  # loads the parser
    for _ in range(2):
        start = time.process_time()
        sacrecap.scene_graphs(captions, grammar="paragraph", threads=1)
        seconds.append(time.process_time() - start)
    whole, rest = (1000 * one / len(captions) for one in seconds)
    parse = whole - rest
    print(f"{whole:.2f} ms a caption by one thread, {parse:.2f} of them to parse: {whole / parse:.2f} times\n")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", type=Path)
    parser.add_argument("--worst", type=int, default=0)
    given = parser.parse_args()
    data = given.graphs.read_bytes()
    rows = json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    captions = [row["caption"] for row in rows]
    people = [gold(row["scene_graph"]) for row in rows]
    speed(captions)
    for grammar in ("spice", "paragraph"):
        graphs = sacrecap.scene_graphs(captions, grammar=grammar)
        pairs = list(zip(map(said, graphs), people, strict=True))
        for name, half in (("all", pairs), ("even rows", pairs[::2]), ("odd rows", pairs[1::2])):
            table(f"{grammar}, {name}", half)
    pairs.sort(key=lambda pair: f(len(pair[0] & pair[1]), len(pair[0]), len(pair[1])))
    for kind, count in errors(pairs[: given.worst]).most_common():
        print(f"{count:6} {kind}")


if __name__ == "__main__":
    main()
