"""Scene graphs as pictures: objects in a row, attributes under their object, relations as brackets above.

Only this module computes the layout: a picture is a list of parts, each an outline and a text at positions in the
picture's own units. `svg` prints them.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrecap.metrics.spice.explanation import GraphMatch, Proposition
    from sacrecap.metrics.spice.scene_graph import SceneAttribute, SceneGraph, SceneObject, SceneRelation

CELL = 8
"""Width of a character of an object's name; texts are set in a monospaced font and fitted to their width."""
SMALL_CELL = 7
"""The same for attributes and relations."""
GAP = 22
"""Distance between two objects."""
LEVEL = 26
"""Height of a level of brackets, which has its text above its line."""
BOX = 28
"""Height of an object's box."""
PILL = 20
"""Height of an attribute's pill."""
PORT = 10
"""Distance between the ends of two brackets at one object."""
CLEAR = 8
"""Least distance between texts of one level, and between a text and the leg of a higher bracket."""


@dataclass(frozen=True)
class Label:
    """The text in a box, in a pill or at a bracket."""

    text: str
    rule: str = "plain"
    """How it matches: lemma, synset or none. Where nothing is compared, what the caption says of it: plain, it is
    there; hedged, denied or aside.
    """
    title: str = ""
    """The tooltip."""


@dataclass(frozen=True)
class GraphPart:
    """A drawn object, attribute or relation: its text is centred at `x`, on the base line `y`."""

    kind: str
    """object, attribute or relation; nothing for the single text of a picture without objects."""
    label: Label
    path: str
    """Its outline, as SVG writes paths."""
    x: int
    y: int
    width: int
    """The width to which the text is fitted."""


@dataclass(frozen=True)
class GraphPicture:
    """A drawn scene graph."""

    width: int
    height: int
    parts: list[GraphPart]


@dataclass
class Node:
    """An object with its attributes."""

    label: Label
    attributes: list[Label] = field(default_factory=list)


@dataclass(frozen=True)
class Edge:
    """A relation of two objects, by their numbers."""

    subject: int
    label: Label
    object: int


@dataclass
class _Bracket:
    """A relation with the positions of its legs, and its level, counted from below."""

    edge: Edge
    width: int
    start: int = 0
    end: int = 0
    level: int = 0

    @property
    def middle(self) -> int:
        return (self.start + self.end) // 2

    @property
    def room(self) -> tuple[int, int]:
        """The horizontal range that the bracket and its text occupy on their level."""
        ends = (self.start, self.end, self.middle - self.width // 2, self.middle + self.width // 2)
        return min(ends), max(ends)


def print_graph(graph: SceneGraph, format_: str) -> str:
    """A caption's scene graph as SVG text, or for a notebook."""
    order = sorted(range(len(graph.objects)), key=lambda number: min(graph.objects[number].words, default=0))
    place = {number: at for at, number in enumerate(order)}
    nodes = [
        Node(_said(one.name, one), [_said(attribute.name, attribute) for attribute in one.attributes])
        for one in map(graph.objects.__getitem__, order)
    ]
    edges = [Edge(place[one.subject], _said(one.predicate, one), place[one.object]) for one in graph.relations]
    said = "; ".join(str(graph).splitlines()) or "no object"
    drawn = svg(draw(nodes, edges), f"Scene graph: {said}")
    return _scrolling(drawn) if format_ == "notebook" else drawn


def _said(text: str, one: SceneObject | SceneAttribute | SceneRelation) -> Label:
    """The label of a part of a graph, by what the caption says of it."""
    return Label(text) if one.status == "stated" else Label(text, one.status, one.status)


def print_match(match: GraphMatch, format_: str) -> str:  # noqa: ARG001  (notebooks are the only format)
    """Both sides of SPICE's comparison, for a notebook."""
    return f"<div><style>{STYLE}</style>{match_figure(match)}</div>"


def match_figure(match: GraphMatch) -> str:
    """Both sides of SPICE's comparison, in HTML that `STYLE` styles."""
    named = zip(("Candidate", "References together"), sides(match), strict=True)
    drawn = "".join(f"<h5>{name}</h5>{_scrolling(svg(side, name, style=''))}" for name, side in named)
    scores = f"SPICE {match.score:.3f}: precision {match.precision:.3f}, recall {match.recall:.3f}"
    how = "of all that the graphs say. Solid: same word; dashed: synonym; grey: no match."
    return f'<figure class="graph">{drawn}<figcaption>{scores} {how}</figcaption></figure>'


def _scrolling(drawn: str) -> str:
    return f'<div class="sacrecap-scroll">{drawn}</div>'


def sides(match: GraphMatch) -> tuple[GraphPicture, GraphPicture]:
    """Both sides of SPICE's comparison: the candidate's graph and the references'."""
    return _side(match.candidate, match.references), _side(match.references, match.candidate)


def _side(side: Sequence[Proposition], other: Sequence[Proposition]) -> GraphPicture:
    """A side as a graph: each proposition is a part of the picture, in colour if it matches."""

    def label(one: Proposition) -> Label:
        text = "/".join(one.parts[len(one.parts) // 2])
        matched = None if one.match is None else other[one.match].label
        title = "" if matched in (None, one.label) else f"{one.label} ≈ {matched}"
        return Label(text, one.rule or "none", title)

    nodes = {one.parts[0]: Node(label(one)) for one in side if len(one.parts) == 1}
    numbers = {names: number for number, names in enumerate(nodes)}
    for one in side:
        if len(one.parts) == 2:
            nodes[one.parts[0]].attributes.append(label(one))
    edges = [Edge(numbers[one.parts[0]], label(one), numbers[one.parts[2]]) for one in side if len(one.parts) == 3]
    return draw(list(nodes.values()), edges)


def draw(nodes: Sequence[Node], edges: Sequence[Edge]) -> GraphPicture:
    """The picture of objects, in this order from left to right, and their relations."""
    if not nodes:
        return _nothing()
    ends = _ends(edges)
    widths = [_node_width(node, len(ends.get(number, ()))) for number, node in enumerate(nodes)]
    lefts = [sum(widths[:number]) + GAP * number for number in range(len(nodes))]
    brackets = _placed(edges, ends, lefts, widths)
    # A text at the first or the last bracket may be wider than everything below it.
    least = min([0, *(bracket.room[0] for bracket in brackets)])
    most = max([*(a + b for a, b in zip(lefts, widths, strict=True)), *(one.room[1] for one in brackets)])
    floor = LEVEL * max((bracket.level + 1 for bracket in brackets), default=0) + 8
    parts = [_relation(bracket, brackets, floor, -least) for bracket in brackets]
    for node, left, width in zip(nodes, lefts, widths, strict=True):
        parts += _boxes(node, left - least + 1, width, floor)
    depth = max((len(node.attributes) for node in nodes), default=0)
    return GraphPicture(most - least + 2, floor + BOX + depth * (PILL + 4) + 6, parts)


def _nothing() -> GraphPicture:
    text = "no object"
    width = _text_width(text, SMALL_CELL)
    return GraphPicture(width, 20, [GraphPart("nothing", Label(text, "none"), "", width // 2, 15, width)])


def svg(picture: GraphPicture, name: str, style: str | None = None) -> str:
    """The picture as an SVG element, in light and dark; screen readers read out `name`.

    It is self-contained, unless the page around it has the style.
    """
    margin = 10
    size = (picture.width + 2 * margin, picture.height + 2 * margin)
    parts = "".join(map(_svg_part, picture.parts))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sacrecap-graph" role="img" aria-label="{plain(name)}" '
        f'width="{size[0]}" height="{size[1]}" viewBox="{-margin} {-margin} {size[0]} {size[1]}" '
        f'fill="none" stroke="currentColor">{f"<style>{STYLE}</style>" if style is None else style}'
        f'<rect class="paper" x="{-margin}" y="{-margin}" width="{size[0]}" height="{size[1]}" rx="6" stroke="none"/>'
        f"{parts}</svg>"
    )


STYLE = (
    ".sacrecap-scroll{overflow-x:auto}"
    ".sacrecap-graph{--paper:#fdfdfc;--ink:#1c1f22;--soft:#5a6269;--rule:#a9afb3;--accent:#1d5c94;--fill:#e9f0f6;"
    "--mark:#9a3d00;--pale:#fbeadd}"
    "@media(prefers-color-scheme:dark){.sacrecap-graph{--paper:#15181a;--ink:#e4e7e9;--soft:#9ba4ab;--rule:#596269;"
    "--accent:#7fb2de;--fill:#1d2b38;--mark:#f2b183;--pale:#3b2a1d}}"
    ".sacrecap-graph .paper{fill:var(--paper)}"
    ".sacrecap-graph path{fill:none;stroke:var(--rule);stroke-width:1.5}"
    ".sacrecap-graph .object path{fill:var(--fill);stroke:var(--accent)}"
    ".sacrecap-graph .attribute path{fill:var(--paper)}"
    ".sacrecap-graph .none path{fill:none;stroke:var(--rule);stroke-width:1}"
    ".sacrecap-graph .lemma path{stroke:var(--accent)}"
    ".sacrecap-graph .synset path{stroke:var(--mark);stroke-dasharray:5 3}"
    ".sacrecap-graph .synset:not(.relation) path{fill:var(--pale)}"
    ".sacrecap-graph .lemma:not(.relation) path{fill:var(--fill)}"
    ".sacrecap-graph text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink);stroke:var(--paper);"
    "stroke-width:4;stroke-linejoin:round;paint-order:stroke;text-anchor:middle}"
    ".sacrecap-graph .object text{font-size:13px;font-weight:600}"
    ".sacrecap-graph :not(.relation)>text{stroke:none}"
    ".sacrecap-graph .none text{fill:var(--soft);font-weight:400}"
    ".sacrecap-graph .hedged path{stroke-dasharray:5 3}"
    ".sacrecap-graph .aside path,.sacrecap-graph .denied path{fill:none;stroke:var(--rule);stroke-dasharray:1 3}"
    ".sacrecap-graph .aside text{fill:var(--soft);font-weight:400;font-style:italic}"
    ".sacrecap-graph .denied text{fill:var(--mark);font-weight:400;text-decoration:line-through}"
)


def _svg_part(part: GraphPart) -> str:
    title = f"<title>{plain(part.label.title)}</title>" if part.label.title else ""
    return (
        f'<g class="{part.kind} {part.label.rule}">{title}<path d="{part.path}"/>'
        f'<text x="{part.x}" y="{part.y}" textLength="{part.width}">{plain(part.label.text)}</text></g>'
    )


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain(text: str) -> str:
    """The text for XML: escaped, without the characters that XML does not allow."""
    return html.escape(_NOT_XML.sub("\ufffd", text))


def _text_width(text: str, cell: int) -> int:
    """Width in cells: two for a wide character, none for a combining one."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    none = sum(unicodedata.combining(one) > 0 for one in text)
    return max(len(text) + wide - none, 1) * cell


def _node_width(node: Node, ends: int) -> int:
    """Width of the widest of: the box, its pills, and the ends of its brackets."""
    pills = (_text_width(label.text, SMALL_CELL) + 16 for label in node.attributes)
    return max(_text_width(node.label.text, CELL) + 20, *pills, (ends + 1) * PORT)


def _ends(edges: Sequence[Edge]) -> dict[int, list[tuple[int, bool]]]:
    """The bracket ends at each object, from left to right, as number of the relation and whether it starts there.

    Brackets to the left are on the left, the nearest first; those to the right on the right, the nearest last. So no
    leg crosses a line of another bracket at the same object.
    """
    ends: dict[int, list[tuple[tuple[int, int, int], int, bool]]] = {}
    for number, edge in enumerate(edges):
        for own, other, starts in ((edge.subject, edge.object, True), (edge.object, edge.subject, False)):
            left = other < own
            place = (0, own - other, number) if left else (1, own - other, -2 * number + starts)
            ends.setdefault(own, []).append((place, number, starts))
    return {node: [(number, starts) for _, number, starts in sorted(own)] for node, own in ends.items()}


def _placed(
    edges: Sequence[Edge], ends: dict[int, list[tuple[int, bool]]], lefts: Sequence[int], widths: Sequence[int]
) -> list[_Bracket]:
    """Brackets with their legs, each on the lowest level that is free: short ones first, so below long ones."""
    brackets = [_Bracket(edge, _text_width(edge.label.text, SMALL_CELL)) for edge in edges]
    for node, own in ends.items():
        first = lefts[node] + (widths[node] - PORT * (len(own) - 1)) // 2
        for place, (number, starts) in enumerate(own):
            if starts:
                brackets[number].start = first + PORT * place
            else:
                brackets[number].end = first + PORT * place
    levels: list[list[tuple[int, int]]] = []
    for bracket in sorted(
        brackets, key=lambda one: (abs(one.edge.subject - one.edge.object), one.room[1] - one.room[0])
    ):
        low, high = bracket.room
        free = (
            number
            for number, level in enumerate(levels)
            if all(high + CLEAR <= start or end + CLEAR <= low for start, end in level)
        )
        bracket.level = next(free, len(levels))
        if bracket.level == len(levels):
            levels.append([])
        levels[bracket.level].append((low, high))
    return brackets


def _relation(bracket: _Bracket, brackets: Sequence[_Bracket], floor: int, shift: int) -> GraphPart:
    """A line up from the subject, across, and down to the object, with an arrow head there."""
    line = floor - 8 - LEVEL * bracket.level - 4
    start, end = bracket.start + shift + 1, bracket.end + shift + 1
    path = f"M{start} {floor}V{line}H{end}V{floor - 2}m-4-6l4 6l4-6"
    middle = _text_middle(bracket, brackets) + shift + 1
    return GraphPart("relation", bracket.edge.label, path, middle, line - 5, bracket.width)


def _text_middle(bracket: _Bracket, brackets: Sequence[_Bracket]) -> int:
    """The position nearest the bracket's middle, within its width, where no higher bracket's leg crosses the text."""
    low, high = bracket.room
    half = bracket.width // 2
    legs = [leg for other in brackets if other.level > bracket.level for leg in (other.start, other.end)]
    beside = [leg + side * (half + CLEAR) for leg in legs for side in (-1, 1)]
    free = [
        middle
        for middle in (bracket.middle, *beside)
        if low <= middle - half and middle + half <= high and all(abs(leg - middle) >= half + CLEAR for leg in legs)
    ]
    return min(free, key=lambda middle: abs(middle - bracket.middle), default=bracket.middle)


def _boxes(node: Node, left: int, width: int, top: int) -> list[GraphPart]:
    """The object's box, and its attributes below."""
    middle = left + width // 2
    parts = [_box("object", node.label, middle, top, width, BOX, CELL)]
    for number, label in enumerate(node.attributes):
        own = _text_width(label.text, SMALL_CELL) + 16
        y = top + BOX + 4 + number * (PILL + 4)
        parts.append(_box("attribute", label, middle, y, own, PILL, SMALL_CELL))
    return parts


def _box(kind: str, label: Label, middle: int, top: int, width: int, height: int, cell: int) -> GraphPart:
    round_ = min(height // 2, 6 if kind == "object" else height)
    across, down = width - 2 * round_, height - 2 * round_
    corner = f"a{round_} {round_} 0 0 1"
    path = (
        f"M{middle - width // 2 + round_} {top}h{across}{corner} {round_} {round_}v{down}{corner}-{round_} {round_}"
        f"h-{across}{corner}-{round_}-{round_}v-{down}{corner} {round_}-{round_}z"
    )
    return GraphPart(kind, label, path, middle, top + height // 2 + 4, _text_width(label.text, cell))
