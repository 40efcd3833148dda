"""Pictures on a page that the reader works with: figures whose marks tell what they are, and systems to hide."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from sacrecap.report.pictures.svg import svg, symbol

if TYPE_CHECKING:
    from sacrecap.report.pictures.panels import Panel, Picture
    from sacrecap.report.pictures.style import Look

_FLAT = 240
"""Width of a plane or a radar, in the picture's own units."""


def figures(shown: Picture, titles: Sequence[str], systems: Sequence[int]) -> str:
    """The panels of a picture, whose looks are those of these systems; without any, each panel is of a system."""
    made = "".join(
        figure(
            panel, title, shown["looks"], systems or [number], note="" if panel["kind"] == "plane" else shown["note"]
        )
        for number, (title, panel) in enumerate(zip(titles, shown["panels"], strict=True))
    )
    if systems:
        return made
    return f'</div><p class="legend">{escape(shown["note"])}</p><div class="plots planes">{made}'


def figure(
    panel: Panel, title: str, looks: Sequence[Look], systems: Sequence[int] = (), *, note: str = "", focus: bool = True
) -> str:
    """A panel under its title; `systems` are those of the looks, or that of the panel."""
    width = _FLAT if panel["kind"] in ("plane", "radar") else 400
    drawn = svg(panel, title, looks=looks, width=width, focus=focus)
    legend = f'<span class="legend">{escape(note)}</span>' if note else ""
    below = f'<p class="legend">{escape(panel["below"])}</p>' if panel["below"] else ""
    return (
        f'<figure class="picture" data-systems="{" ".join(map(str, systems))}"><figcaption>'
        f"<strong>{escape(title)}</strong>{legend}</figcaption>{drawn}{below}</figure>"
    )


def plots(looks: Sequence[Look], title: str, *drawn: str, first: int = 100) -> str:
    """Figures, under boxes that show and hide the systems of these looks in all of them; after the `first`, folded."""
    more = "".join(drawn[first:])
    folded = f'<details><summary>More pictures</summary><div class="plots">{more}</div></details>' if more else ""
    boxes = "".join(
        f'<label class="choice"><input type="checkbox" checked data-system="{number}"><span class="system">'
        f'<svg class="key" viewBox="-9 -9 18 18" aria-hidden="true"><use href="#mark-{number}"/></svg>'
        f"<bdi>{escape(look['name'])}</bdi></span></label>"
        for number, look in enumerate(looks)
    )
    marks = "".join(f'<g id="mark-{number}">{symbol(look)}</g>' for number, look in enumerate(looks))
    return (
        f'<svg class="marks" aria-hidden="true"><defs>{marks}</defs></svg>'
        f'<fieldset id="chooser"><legend class="legend">{title}</legend>{boxes}</fieldset>'
        f'<div class="plots">{"".join(drawn[:first])}</div>{folded}'
    )
