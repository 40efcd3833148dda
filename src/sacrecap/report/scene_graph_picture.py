"""Scene graphs as pictures: a row for each object, with its attributes and with its relations to other objects."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrecap.metrics.spice.scene_graph import SceneGraph
    from sacrecap.metrics.spice.spice import GraphMatch, Proposition

CELL = 8
"""Width of a character, to which texts are fitted: they are set in a monospaced font."""
ROW = 32
"""Height of a row."""
BOX = 24
"""Height of a box."""
GAP = 8
"""Distance between two boxes of a row, and between the boxes and the edge."""
WIDEST = 560
"""Rows that would be wider continue on the next line."""
_INDENT = 24


@dataclass(frozen=True)
class Part:
    """A box in a picture: an object, an attribute of one, or a relation of one to another."""

    kind: str
    """object, attribute or relation; nothing for the single text of a picture without objects."""
    text: str
    rule: str = "plain"
    """How it matches: lemma, synset or none. Where nothing is compared, what the caption says of it: plain, it is
    there; hedged, denied or aside.
    """
    title: str = ""
    """The tooltip."""


Rows = Sequence[Sequence[Part]]
"""A row for each object: the object first."""


def print_graph(graph: SceneGraph, format_: str) -> str:
    """A caption's scene graph as SVG text, or for a notebook; objects in the order of the caption."""

    def part(kind: str, text: str, status: str) -> Part:
        return Part(kind, text) if status == "stated" else Part(kind, text, status, status)

    rows = {number: [part("object", thing.name, thing.status)] for number, thing in enumerate(graph.objects)}
    for number, thing in enumerate(graph.objects):
        rows[number] += [part("attribute", attribute.name, attribute.status) for attribute in thing.attributes]
    for relation in graph.relations:
        text = f"{relation.predicate} → {graph.objects[relation.object].name}"
        rows[relation.subject].append(part("relation", text, relation.status))
    order = sorted(rows, key=lambda number: min(graph.objects[number].words, default=0))
    propositions = "; ".join(str(graph).splitlines()) or "no object"
    drawn = svg([rows[number] for number in order], f"Scene graph: {propositions}")
    return _scrolling(drawn) if format_ == "notebook" else drawn


def print_match(match: GraphMatch, _: str) -> str:
    """Both sides of SPICE's comparison, for a notebook, the only format."""
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


def sides(match: GraphMatch) -> tuple[Rows, Rows]:
    """Both sides of SPICE's comparison: the candidate's graph and the references'."""
    return _side(match.candidate, match.references), _side(match.references, match.candidate)


def _side(side: Sequence[Proposition], other: Sequence[Proposition]) -> Rows:
    """A side as a graph: each proposition is a part of the picture, in colour if it matches."""
    rows: dict[tuple[str, ...], list[Part]] = {}
    # Objects before what is said of them; the sort is stable.
    for proposition in sorted(side, key=lambda proposition: len(proposition.parts)):
        subject, *words = proposition.parts
        kind = ("object", "attribute", "relation")[len(words)]
        matched = None if proposition.match is None else other[proposition.match].label
        title = "" if matched in (None, proposition.label) else f"{proposition.label} ≈ {matched}"
        text = " → ".join("/".join(names) for names in words or [subject])
        rows.setdefault(subject, []).append(Part(kind, text, proposition.rule or "none", title))
    return list(rows.values())


def svg(rows: Rows, name: str, style: str | None = None) -> str:
    """The picture as an SVG element, in light and dark; screen readers read out `name`.

    It is self-contained, unless the page around it has the style.
    """
    drawn, y, right = [], 0, 0
    for row in rows or [[Part("nothing", "no object", "none")]]:
        x = 0
        for part in row:
            inner = _text_width(part.text)
            width = inner + 2 * GAP
            if x and x + width > WIDEST:
                x, y = _INDENT, y + ROW
            title = f"<title>{plain(part.title)}</title>" if part.title else ""
            corner = BOX // 2 if part.kind == "attribute" else 5
            drawn.append(
                f'<g class="{part.kind} {part.rule}">{title}'
                f'<rect x="{x}" y="{y}" width="{width}" height="{BOX}" rx="{corner}"/>'
                f'<text x="{x + GAP}" y="{y + 17}" textLength="{inner}">{plain(part.text)}</text></g>'
            )
            right = max(right, x + width)
            x += width + GAP
        y += ROW
    width, height = right + 2 * GAP, y - ROW + BOX + 2 * GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sacrecap-graph" role="img" aria-label="{plain(name)}" '
        f'width="{width}" height="{height}" viewBox="{-GAP} {-GAP} {width} {height}">'
        f"{f'<style>{STYLE}</style>' if style is None else style}"
        f'<rect class="paper" x="{-GAP}" y="{-GAP}" width="{width}" height="{height}" rx="6"/>'
        f"{''.join(drawn)}</svg>"
    )


STYLE = (
    ".sacrecap-scroll{overflow-x:auto}"
    ".sacrecap-graph{--paper:#fdfdfc;--ink:#1c1f22;--soft:#5a6269;--rule:#a9afb3;--accent:#1d5c94;--fill:#e9f0f6;"
    "--mark:#9a3d00;--pale:#fbeadd}"
    "@media(prefers-color-scheme:dark){.sacrecap-graph{--paper:#15181a;--ink:#e4e7e9;--soft:#9ba4ab;--rule:#596269;"
    "--accent:#7fb2de;--fill:#1d2b38;--mark:#f2b183;--pale:#3b2a1d}}"
    ".sacrecap-graph .paper{fill:var(--paper)}"
    ".sacrecap-graph g rect{fill:none;stroke:var(--rule);stroke-width:1.5}"
    ".sacrecap-graph .relation rect{stroke:none}"
    ".sacrecap-graph :is(.object,.lemma) rect{fill:var(--fill);stroke:var(--accent)}"
    ".sacrecap-graph .synset rect{fill:var(--pale);stroke:var(--mark);stroke-dasharray:5 3}"
    ".sacrecap-graph .none rect{fill:none;stroke:var(--rule);stroke-width:1}"
    ".sacrecap-graph text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink)}"
    ".sacrecap-graph .object text{font-weight:600}"
    ".sacrecap-graph .none text{fill:var(--soft);font-weight:400}"
    ".sacrecap-graph .hedged rect{stroke:var(--rule);stroke-dasharray:5 3}"
    ".sacrecap-graph :is(.aside,.denied) rect{fill:none;stroke:var(--rule);stroke-dasharray:1 3}"
    ".sacrecap-graph .aside text{fill:var(--soft);font-weight:400;font-style:italic}"
    ".sacrecap-graph .denied text{fill:var(--mark);font-weight:400;text-decoration:line-through}"
)

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain(text: str) -> str:
    """The text for XML: escaped, without the characters that XML does not allow."""
    return html.escape(_NOT_XML.sub("\ufffd", text))


def _text_width(text: str) -> int:
    """Two cells for a wide character, none for a combining one."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    none = sum(unicodedata.combining(character) > 0 for character in text)
    return max(len(text) + wide - none, 1) * CELL
