"""Pictures of scene graphs: everything is drawn, nothing covers anything, and an arrow ends at its object."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacrecap.metrics.spice.scene_graph import SceneAttribute, SceneGraph, SceneObject, SceneRelation
from sacrecap.report.scene_graph_picture import Edge, GraphPart, GraphPicture, Label, Node, draw, svg

SVG = "{http://www.w3.org/2000/svg}"
Span = tuple[float, float]

names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).map(Label)


@st.composite
def graphs(draw_: st.DrawFn) -> tuple[list[Node], list[Edge]]:
    nodes = draw_(st.lists(st.builds(Node, names, st.lists(names, max_size=3)), min_size=1, max_size=8))
    number = st.integers(0, len(nodes) - 1)
    return nodes, draw_(st.lists(st.builds(Edge, number, names, number), max_size=12))


def numbers(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d+", path)]


def extent(part: GraphPart) -> tuple[Span, Span]:
    """From left to right and from top to bottom: the outline of a box, the text of a bracket."""
    if part.kind == "relation":
        return (part.x - part.width / 2, part.x + part.width / 2), (part.y - 10, part.y + 2)
    left, top, across, radius, *_ = numbers(part.path)
    down = next(int(found) for found in re.findall(r"v(\d+)", part.path))
    return (left - radius, left + across + radius), (top, top + down + 2 * radius)


def apart(a: Span, b: Span) -> bool:
    return a[1] <= b[0] or b[1] <= a[0]


def of_kind(picture: GraphPicture, kind: str) -> list[GraphPart]:
    return [part for part in picture.parts if part.kind == kind]


@given(graphs())
def test_boxes_and_texts_do_not_cover_each_other_and_are_inside(graph: tuple[list[Node], list[Edge]]) -> None:
    picture = draw(*graph)
    extents = [extent(part) for part in picture.parts]
    for (across, down), (other_across, other_down) in combinations(extents, 2):
        assert apart(across, other_across) or apart(down, other_down)
    for across, down in extents:
        assert 0 <= across[0] <= across[1] <= picture.width
        assert 0 <= down[0] <= down[1] <= picture.height


@given(graphs())
def test_a_bracket_starts_at_its_subject_and_ends_at_its_object(graph: tuple[list[Node], list[Edge]]) -> None:
    nodes, edges = graph
    picture = draw(nodes, edges)
    objects = of_kind(picture, "object")
    assert [part.label.text for part in objects] == [node.label.text for node in nodes]
    brackets = of_kind(picture, "relation")
    assert [part.label.text for part in brackets] == [edge.label.text for edge in edges]
    ends = []
    for part, edge in zip(brackets, edges, strict=True):
        start, floor, line, end, tip, *_ = numbers(part.path)
        for place, node in ((start, edge.subject), (end, edge.object)):
            (left, right), (top, _) = extent(objects[node])
            assert left < place < right
            assert top == floor > tip > line
            ends.append(place)
    assert len(set(ends)) == 2 * len(edges), "each end has a place of its own"


@given(graphs())
def test_lines_of_one_height_do_not_meet(graph: tuple[list[Node], list[Edge]]) -> None:
    lines: dict[int, list[Span]] = {}
    for part in of_kind(draw(*graph), "relation"):
        start, _, line, end, *_ = numbers(part.path)
        own = (min(start, end), max(start, end))
        assert all(apart(own, other) for other in lines.get(line, []))
        lines.setdefault(line, []).append(own)


def test_a_leg_does_not_run_through_the_text_of_a_lower_bracket() -> None:
    """The second relation's leg stands in the middle of the first one's bracket."""
    nodes = [Node(Label(name)) for name in ("a man", "dog", "beach", "sea")]
    picture = draw(nodes, [Edge(0, Label("by"), 2), Edge(1, Label("at"), 3)])
    low, high = sorted(of_kind(picture, "relation"), key=lambda part: -part.y)
    leg = numbers(high.path)[0]
    (left, right), _ = extent(low)
    assert not left - 4 < leg < right + 4


def test_attributes_stand_below_their_object() -> None:
    picture = draw([Node(Label("dog"), [Label("brown"), Label("small")]), Node(Label("cat"))], [])
    dog, brown, small, _ = picture.parts
    assert dog.x == brown.x == small.x
    assert dog.y < brown.y < small.y


def test_wide_characters_have_room_for_two() -> None:
    wide, narrow = (draw([Node(Label(name))], []).parts[0].width for name in ("犬", "a"))
    assert wide == 2 * narrow


GRAPH = SceneGraph(
    ("a", "beach", "and", "a", "brown", "dog", "on", "it"),
    (SceneObject("dog", (SceneAttribute("brown", (4,)),), (5,)), SceneObject("beach", (), (1,))),
    (SceneRelation(0, "on", 1, (6,)),),
)


def test_a_scene_graph_is_drawn_in_the_order_of_the_caption() -> None:
    found = ET.fromstring(GRAPH.to_svg())  # noqa: S314 - our own
    groups = [(group.get("class"), group.findtext(f"{SVG}text")) for group in found.iter(f"{SVG}g")]
    assert groups == [
        ("relation plain", "on"),
        ("object plain", "beach"),
        ("object plain", "dog"),
        ("attribute plain", "brown"),
    ]
    assert found.get("aria-label") == "Scene graph: dog; beach; dog – brown; dog – on – beach"
    assert GRAPH._repr_html_() == f'<div class="sacrecap-scroll">{GRAPH.to_svg()}</div>'


def test_a_graph_without_objects_says_so() -> None:
    empty = SceneGraph((), (), ())
    assert ET.fromstring(empty.to_svg()).findtext(f"{SVG}g/{SVG}text") == "no object"  # noqa: S314


@pytest.mark.parametrize("text", ["</svg><script>", '"><img onerror=x>', "&lt;", "a\x00b\x1bc\ud800\uffff", "]]>"])
def test_text_stays_text(text: str) -> None:
    found = ET.fromstring(svg(draw([Node(Label(text, title=text))], []), text))  # noqa: S314
    shown = found.findtext(f"{SVG}g/{SVG}text")
    assert shown == re.sub("[\x00\x1b\ud800\uffff]", "\ufffd", text)
    elements = ["svg", "style", "rect", "g", "title", "path", "text"]
    assert {element.tag for element in found.iter()} == {f"{SVG}{name}" for name in elements}


def test_a_scene_graph_as_json() -> None:
    assert GRAPH.to_dict() == {
        "tokens": ("a", "beach", "and", "a", "brown", "dog", "on", "it"),
        "objects": (
            {
                "name": "dog",
                "attributes": ({"name": "brown", "words": (4,), "status": "stated"},),
                "words": (5,),
                "status": "stated",
            },
            {"name": "beach", "attributes": (), "words": (1,), "status": "stated"},
        ),
        "relations": ({"subject": 0, "predicate": "on", "object": 1, "words": (6,), "status": "stated"},),
    }
    assert str(GRAPH).splitlines() == ["dog", "beach", "dog – brown", "dog – on – beach"]
