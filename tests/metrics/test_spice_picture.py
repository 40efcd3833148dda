"""Pictures of scene graphs: everything is drawn, nothing covers anything, and what is said of an object follows it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacrecap.metrics.spice.scene_graph import SceneAttribute, SceneGraph, SceneObject, SceneRelation
from sacrecap.report.explanation_pictures import Part, svg

SVG = "{http://www.w3.org/2000/svg}"

names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)
rows = st.lists(st.lists(st.builds(Part, st.just("object"), names), min_size=1, max_size=9), max_size=6)


def boxes(rows: list[list[Part]]) -> tuple[list[list[float]], list[float]]:
    """Left, top, width and height of each part, and of the picture."""
    picture = ET.fromstring(svg(rows, "picture"))  # noqa: S314 - our own
    sizes = [
        [float(rect.get(side, "")) for side in ("x", "y", "width", "height")] for rect in picture.iter(f"{SVG}rect")
    ]
    return sizes[1:], [float(side) for side in picture.get("viewBox", "").split()]


@given(rows)
def test_boxes_do_not_cover_each_other_and_are_inside(rows: list[list[Part]]) -> None:
    placed, (left, top, width, height) = boxes(rows)
    assert len(placed) == max(sum(map(len, rows)), 1)
    for (x, y, across, down), (other_x, other_y, *_) in combinations(placed, 2):
        assert (y == other_y and x + across <= other_x) or y + down <= other_y
    for x, y, across, down in placed:
        assert left <= x < x + across <= left + width
        assert top <= y < y + down <= top + height


def test_a_long_row_continues_on_the_next_line() -> None:
    placed, (*_, width, _) = boxes([[Part("object", "a long name")] * 20, [Part("object", "b")]])
    assert width < 600
    lines = [x for x, *_ in placed if x != placed[0][0]]
    assert placed[-1][0] == 0 < min(lines)


def test_wide_characters_have_room_for_two() -> None:
    fitted = re.findall('textLength="([0-9]+)"', svg([[Part("object", "犬"), Part("object", "a")]], ""))
    assert int(fitted[0]) == 2 * int(fitted[1])


GRAPH = SceneGraph(
    ("a", "beach", "and", "a", "brown", "dog", "on", "it"),
    (SceneObject("dog", (SceneAttribute("brown", (4,)),), (5,)), SceneObject("beach", (), (1,))),
    (SceneRelation(0, "on", 1, (6,)),),
)


def test_a_scene_graph_is_drawn_in_the_order_of_the_caption() -> None:
    found = ET.fromstring(GRAPH.to_svg())  # noqa: S314 - our own
    groups = [(group.get("class"), group.findtext(f"{SVG}text")) for group in found.iter(f"{SVG}g")]
    assert groups == [
        ("object plain", "beach"),
        ("object plain", "dog"),
        ("attribute plain", "brown"),
        ("relation plain", "on → beach"),
    ]
    assert found.get("aria-label") == "Scene graph: dog; beach; dog – brown; dog – on – beach"
    assert GRAPH._repr_html_() == f'<div class="sacrecap-scroll">{GRAPH.to_svg()}</div>'


def test_a_graph_without_objects_says_so() -> None:
    empty = SceneGraph((), (), ())
    assert ET.fromstring(empty.to_svg()).findtext(f"{SVG}g/{SVG}text") == "no object"  # noqa: S314


@pytest.mark.parametrize("text", ["</svg><script>", '"><img onerror=x>', "&lt;", "a\x00b\x1bc\ud800\uffff", "]]>"])
def test_text_stays_text(text: str) -> None:
    found = ET.fromstring(svg([[Part("object", text, title=text)]], text))  # noqa: S314
    shown = found.findtext(f"{SVG}g/{SVG}text")
    assert shown == re.sub("[\x00\x1b\ud800\uffff]", "\ufffd", text)
    elements = ["svg", "style", "rect", "g", "title", "text"]
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
