"""Scene graphs as pictures, and how metrics came to an image's score: SPICE's graphs, METEOR's alignment, VIFIDEL's
plan, CHAIR's mentions, what coverage and precision find said, and the terms of a sum.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from sacrecap.metrics.chair import Hallucination
    from sacrecap.metrics.meteor.meteor import Alignment
    from sacrecap.metrics.spice.scene_graph import SceneGraph
    from sacrecap.metrics.spice.spice import GraphMatch, Proposition
    from sacrecap.metrics.statements import Items, Statements
    from sacrecap.metrics.vifidel import Explanation

CELL = 8
"""Width of a character, to which texts are fitted: they are set in a monospaced font."""
ROW = 32
"""Height of a row."""
BOX = 24
"""Height of a box."""
GAP = 8
"""Distance between two boxes of a row, and between the boxes and the edge."""
WIDEST = 560
"""Rows that would be wider continue, indented, on the next line."""


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
    return f'<div class="sacrecap-scroll">{drawn}</div>' if format_ == "notebook" else drawn


def print_match(match: GraphMatch, _: str) -> str:
    """Both sides of SPICE's comparison, for a notebook, the only format."""
    return f"<div><style>{STYLE}</style>{match_figure(match)}</div>"


def match_figure(match: GraphMatch) -> str:
    """Both sides of SPICE's comparison, in HTML that `STYLE` styles."""
    named = zip(("Candidate", "References together"), sides(match), strict=True)
    drawn = "".join(
        f'<h5>{name}</h5><div class="sacrecap-scroll">{svg(side, name, style="")}</div>' for name, side in named
    )
    scores = f"SPICE {match.score:.3f}: precision {match.precision:.3f}, recall {match.recall:.3f}"
    how = "of all that the graphs say. Solid: same word; dashed: synonym; grey: no match."
    return f'<figure class="graph">{drawn}<figcaption>{scores} {how}</figcaption></figure>'


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
            wide = sum(unicodedata.east_asian_width(character) in "WF" for character in part.text)
            combining = sum(unicodedata.combining(character) > 0 for character in part.text)
            inner = max(len(part.text) + wide - combining, 1) * CELL
            width = inner + 2 * GAP
            if x and x + width > WIDEST:
                x, y = 24, y + ROW
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


# Figures of explanations

_LINE = 18
_THICKEST = 26
"""Of a line that moves everything."""


def explanation_figures(explained: Mapping[str, Any]) -> str:
    """The figures of what `Result.explain` returns, one below the other; nothing for what has no words."""
    return "".join(_DRAWN[kind](explanation) for kind, explanation in explained.items() if explanation is not None)


def _alignment(alignment: Alignment) -> str:
    above, below = alignment.candidate, alignment.reference
    links: list[_Link] = []
    for link in alignment.links:
        ours, theirs = " ".join(above[slice(*link.candidate)]), " ".join(below[slice(*link.reference)])
        links.append((link.module, (link.candidate, link.reference), f"{link.module}: {ours} – {theirs}", ""))
    reference = f"reference {alignment.number + 1}"
    keys = "".join(f'<span class="key {kind}">{kind}</span>' for kind in dict.fromkeys(kind for kind, *_ in links))
    caption = f"METEOR: candidate above, {reference} below. {keys}"
    rows = [[(word, "") for word in words] for words in (above, below)]
    return _linked(rows, links, 46, f"METEOR alignment with {reference}", caption)


def _plan(plan: Explanation) -> str:
    if not plan.flows:
        return ""
    rows = [
        [(word, f"{word}: share {share:.3f}, ρ {rho:.3f}") for word, share, rho in zip(*figures, strict=True)]
        for figures in (
            (plan.objects, plan.object_weights, plan.object_importance),
            (plan.words, plan.word_weights, plan.word_importance),
        )
    ]
    dearest = max(*(cost for *_, cost in plan.flows), 1e-12)
    links: list[_Link] = [
        (
            "flow",
            ((i, i + 1), (j, j + 1)),
            f"{plan.objects[i]} → {plan.words[j]}: share {share:.3f} × cost {cost:.3f} = {share * cost:.3f}",
            f' stroke-width="{max(1, _THICKEST * share):.1f}" stroke-opacity="{0.85 - 0.55 * cost / dearest:.2f}"',
        )
        for i, j, share, cost in plan.flows
    ]
    label = "VIFIDEL: objects above, words below"
    how = "a line is as thick as what the object pays the word, and the paler the dearer"
    caption = f"{label}; {how}. Distance {plan.distance:.3f}."
    return _linked(rows, links, 90, label, caption, centred=True)


_Link: TypeAlias = tuple[str, tuple[tuple[int, int], tuple[int, int]], str, str]
"""A line between words: its class, the first word and that after the last one of each row, what it tells, its look."""


def _linked(
    rows: Sequence[Sequence[tuple[str, str]]],
    links: Sequence[_Link],
    gap: int,
    label: str,
    caption: str,
    *,
    centred: bool = False,
) -> str:
    """Two rows of words, with what each tells when it is pointed at, and the lines between them."""
    starts = [[0, *accumulate(CELL * (len(word) + 2) for word, _ in row)] for row in rows]  # two blanks between words
    widths = [max(places[-1] - 2 * CELL, CELL) for places in starts]
    lefts = [(max(widths) - width) / 2 if centred else 0.0 for width in widths]
    width, height = max(widths) + 4, 2 * _LINE + gap
    drawn = ""
    for kind, spans, title, look in links:
        above, below = (
            left + (places[first] + places[end]) / 2 - CELL
            for left, places, (first, end) in zip(lefts, starts, spans, strict=True)
        )
        drawn += (
            f'<line class="{kind}" x1="{above:g}" y1="{_LINE + 5}" x2="{below:g}" y2="{_LINE + gap - 13}"{look}>'
            f"<title>{plain(title)}</title></line>"
        )
    for side, row in enumerate(rows):
        matched = {number for _, spans, *_ in links for number in range(*spans[side])}
        drawn += "".join(
            f'<text class="{"matched" if number in matched else "unmatched"}" x="{lefts[side] + start:g}" '
            f'y="{_LINE + gap * side}" textLength="{CELL * len(word)}">'
            f"{title and f'<title>{plain(title)}</title>'}{plain(word)}</text>"
            for number, ((word, title), start) in enumerate(zip(row, starts[side], strict=False))
        )
    return (
        f'<figure class="alignment"><div class="sacrecap-scroll"><svg role="img" aria-label="{label}" '
        f'preserveAspectRatio="xMinYMid" viewBox="-2 0 {width} {height}" width="{width}" height="{height}">'
        f"{drawn}</svg></div><figcaption>{caption}</figcaption></figure>"
    )


def _mentions(hallucination: Hallucination) -> str:
    """The candidate sentence by sentence; the objects that are not there are marked."""
    sentences = [
        "".join(_piece(text, mention.there, mention.object) if mention else plain(text) for text, mention in pieces)
        for pieces in hallucination.pieces()
    ]
    if not sentences:
        return ""
    kind = ' class="numbered"' if len(sentences) > 1 else ""
    missed = f" There and not named: {plain(', '.join(hallucination.missed))}." if hallucination.missed else ""
    return (
        f'<figure class="mentions"><ol{kind}>{"".join(f"<li>{sentence}</li>" for sentence in sentences)}</ol>'
        '<figcaption>CHAIR: <span class="there">named and there</span>, <mark>named and not there</mark>, '
        f"{len(hallucination.hallucinated)} of {len(hallucination.mentions)}.{missed}</figcaption></figure>"
    )


def _piece(text: str, there: float | None, title: str = "", mark: str = "mark") -> str:
    """The text marked as there, or by a tag as not there; not at all for None."""
    if there is None:
        return plain(text)
    tag = 'span class="there"' if there else mark
    titled = f' title="{plain(title)}{"" if there else ": not there"}"' if title else ""
    return f"<{tag}{titled}>{plain(text)}</{tag.partition(' ')[0]}>"


def _statements(statements: Statements) -> str:
    """The caption with what no reference says marked, and the references with what it leaves out."""
    (caption,), references = (
        ["".join(_piece(text, support, mark=mark) for text, support in caption) for caption in side.pieces()]
        for side, mark in ((statements.candidate, "mark"), (statements.references, 'span class="left-out"'))
    )
    shares = "; ".join(f"{kind} {share}" for kind, share in statements.shares.items())
    return (
        f'<figure class="mentions"><p>{caption}</p><ol class="numbered">'
        f"{''.join(f'<li>{reference}</li>' for reference in references)}</ol>"
        '<figcaption>The caption: <span class="there">said and supported</span>, <mark>said and not supported</mark>. '
        f'The references below it: <span class="left-out">left out</span>. {shares}.</figcaption></figure>'
    )


def _items(items: Items) -> str:
    """The items one below the other: said in every part, in none, or with the share that is said."""
    looks = {"yes": ("there", "said"), "not mentioned": ("left-out", "not mentioned")}
    rows = []
    for item, share, answer in zip(items.items, items.said, items.answers, strict=True):
        look, title = looks.get(answer or "", ("", "says nothing" if share is None else f"{share:.0%} of it is said"))
        rows.append(f'<li><span class="{look}" title="{title}">{plain(item)}</span></li>')
    return (
        f'<figure class="mentions"><ol>{"".join(rows)}</ol><figcaption>The items: <span class="there">said</span>, '
        '<span class="left-out">not mentioned</span>, others said in part.</figcaption></figure>'
    )


_DRAWN: dict[str, Callable[[Any], str]] = {
    "alignment": _alignment,
    "explanation": _plan,
    "graph": match_figure,
    "hallucination": _mentions,
    "statement": _statements,
    "item": _items,
}
"""The figure of each kind of explanation."""
