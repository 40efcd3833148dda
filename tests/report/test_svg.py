"""A panel as static SVG: everything stands where its axes say."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacrecap.report.pictures.panels import Mark, Panel, PanelAxis, columns
from sacrecap.report.pictures.svg import svg

values = st.floats(-1e6, 1e6)


def attributes(drawn: str, kind: str) -> list[dict[str, str]]:
    found = re.findall(rf'<\w+ class="{kind}"([^>]*)>', drawn)
    return [dict(re.findall(r'([\w-]+)="([^"]*)"', one)) for one in found]


@given(values, st.floats(1e-3, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_marks_stand_where_the_axes_say(low: float, width: float, across: float, up: float) -> None:
    ends = (low, low + width)
    ticks = [(ends[0], "low"), (ends[1], "high")]
    axis = PanelAxis("", ends, ticks)
    mark = Mark(low + across * width, low + up * width, across=ends)
    drawn = svg(Panel("plot", axis, axis, marks=[mark]), "a mark")
    [circle], [reach] = attributes(drawn, "mark look-0"), attributes(drawn, "reach look-0")
    [bottom, top] = [one for one in attributes(drawn, "grid") if one["y1"] == one["y2"]]
    left, right = float(bottom["x1"]), float(bottom["x2"])
    assert (float(reach["x1"]), float(reach["x2"])) == (left, right)
    assert float(circle["cx"]) == pytest.approx(left + across * (right - left), abs=0.1)
    assert float(circle["cy"]) == pytest.approx(
        float(bottom["y1"]) + up * (float(top["y1"]) - float(bottom["y1"])), abs=0.1
    )


def test_columns_are_as_tall_as_their_counts() -> None:
    drawn = svg(columns([0.0, 1.0, 2.0, 3.0], [4, 0, 2], 1.0), "counts")
    tall = [float(one["height"]) for one in attributes(drawn, "bar look-0")]
    assert tall == pytest.approx([tall[0], 0, tall[0] / 2], abs=0.1)
    assert len(attributes(drawn, "guide")) == 1
    assert "0 to 1: 4 images" in drawn


@given(st.text(alphabet=st.characters(exclude_categories=["C"]), min_size=1, max_size=30))
def test_names_are_text_alone(name: str) -> None:
    """Whatever a system is called, the picture has no element or attribute more."""

    def drawn(text: str) -> str:
        axis = PanelAxis(ticks=[(0.0, text)])
        return svg(Panel("plot", axis, axis, marks=[Mark(0.5, 0.5, said=text, text=text)]), text)

    assert len(re.findall("<", drawn(name))) == len(re.findall("<", drawn("a")))
    assert unescape(re.search("<title>(.*?)</title>", drawn(name), re.DOTALL)[1]) == name


def test_texts_below_leave_some_out_where_there_is_no_room() -> None:
    ticks = [(float(place), "12 Jan 14:00") for place in range(40)]
    drawn = svg(Panel("columns", PanelAxis("", (0.0, 40.0), ticks)), "many")
    assert 2 <= drawn.count("12 Jan 14:00") <= 6


def test_names_that_differ_at_their_ends_stay_different() -> None:
    """Two systems of a team were both "The-Captioneers/0…" on the page of a board."""
    names = ["The-Captioneers/001-careful", "The-Captioneers/002-plain", "eighteen letters ."]
    axis = PanelAxis(ticks=[(place / 2, name) for place, name in enumerate(names)])
    drawn = svg(Panel("plot", y=axis), "names")
    texts = re.findall(r'<text class="tick side"[^>]*>([^<]*)<', drawn)
    assert texts == ["The-Capt…1-careful", "The-Capt…002-plain", names[2]]
