"""Scene graphs written down, in place of parsed ones."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reference.spice import Graph
from sacrecap import _core
from sacrecap.metrics.spice import scene_graph, spice

REFERENCES = {
    "beach": ["a brown dog runs along the beach", "a hound is running on wet sand next to the sea"],
    "street": ["a red bus on a street", "a bus drives down a road"],
    "field": ["two horses in a field", "horses"],
}
CANDIDATES = {
    "beach": "a dog runs along the beach with a red ball",
    "street": "a red bus on a road",
    "field": "something",
}
"""References and candidates whose graphs `GRAPHS` has. Only those of `street` name a color."""


def graph(*tuples: str) -> Graph:
    """A graph from tuples as text, each object named before it is used: `dog`, `dog, brown`, `dog, chase, cat`."""
    objects: list[str] = []
    attributes, relations = [], []
    for text in tuples:
        match text.split(", "):
            case [name]:
                objects.append(name)
            case [name, attribute]:
                attributes.append((objects.index(name), attribute, [0]))
            case [subject, predicate, other]:
                relations.append((objects.index(subject), predicate, objects.index(other), [0]))
    return [(name, [0]) for name in objects], attributes, relations


GRAPHS = {
    "a brown dog runs along the beach": graph("dog", "beach", "dog, big", "dog, run along, beach"),
    "a hound is running on wet sand next to the sea": graph(
        "hound", "sand", "sea", "sand, wet", "hound, run on, sand", "hound, run next to, sea"
    ),
    "a red bus on a street": graph("bus", "street", "bus, red", "bus, on, street"),
    "a bus drives down a road": graph("bus", "road", "bus, drive down, road"),
    "two horses in a field": graph("horse", "field", "horse, in, field"),
    "horses": graph("horse"),
    "a dog runs along the beach with a red ball": graph(
        "dog", "beach", "ball", "ball, red", "dog, run along, beach", "beach, with, ball"
    ),
    "a red bus on a road": graph("bus", "road", "bus, red", "bus, on, road"),
    "something": graph(),
}


def give(monkeypatch: pytest.MonkeyPatch, graphs: Mapping[str, Graph]) -> None:
    """Lets SPICE take these graphs, by caption; every other caption says nothing."""
    given = _core.SceneGraphs.given(list(graphs.items()))
    for module in (scene_graph, spice):
        monkeypatch.setattr(module, "parsed", lambda *_: given)
