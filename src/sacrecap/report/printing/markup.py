"""Tables as HTML, with classes: reports style them by their own sheet, and notebooks by the one that goes with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from sacrecap.report.printing.table import SIGNS, Bar, Cell, Column, Interval, Table, one_line

# On light and on dark pages: colours are the page's, but for the bars.
_STYLE = (
    ".sacrecap-tables{overflow-x:auto}"
    ".sacrecap-tables table{border-collapse:collapse;color:inherit;margin:.5em 0}"
    ".sacrecap-tables caption{text-align:left;caption-side:top;color:inherit}"
    ".sacrecap-tables :is(th,td){padding:.2em .7em;vertical-align:top;background:none;white-space:nowrap}"
    ".sacrecap-tables th.left,.sacrecap-tables td.left,.sacrecap-tables tbody th{text-align:left;font-weight:inherit}"
    ".sacrecap-tables th.right,.sacrecap-tables td.right{text-align:right}"
    ".sacrecap-tables thead th{border-bottom:1px solid rgba(128,128,128,.35)}"
    ".sacrecap-tables :is(.before,.bounds,.below,.note){font-size:85%;opacity:.75}"
    ".sacrecap-tables :is(.best,.significant)>.value{font-weight:bold}"
    ".sacrecap-tables .below{display:block}"
    ".sacrecap-tables .interval-plot{width:8em;height:1em;vertical-align:middle;stroke:currentcolor}"
    ".sacrecap-tables .axis{stroke-opacity:.3}"
    ".sacrecap-tables .extent{stroke:#4c8dd6;stroke-width:7}"
)


SITE = "https://sacrecap.github.io/sacrecap/"
PAGES = {
    **{
        name: f"reference/metrics/{name}/"
        for name in "bertscore bleu chair cider-d clipscore combine coverage fluency judge meteor rouge rubric "
        "self-cider sentence spice vifidel wmd".split()
    },
    **dict.fromkeys(("cider", "accuracy"), "reference/metrics/cider-d/"),
    **dict.fromkeys(("f", "lsa", "vendi", "mbleu", "div", "distinct"), "reference/metrics/self-cider/"),
    **dict.fromkeys(("long-f1", "precision"), "reference/metrics/coverage/"),
    "refclipscore": "reference/metrics/clipscore/",
    "spider": "reference/metrics/spice/",
    "agreement": "howto/measure-agreement/",
    "interval": "explanation/intervals/",
}
"""The page of the documentation about a term: a metric's name without what follows it, or a word of statistics."""


def link(text: str, page: str) -> str:
    """The text as a link to a page of the documentation, or into one; both are HTML."""
    return f'<a href="{SITE}{page}">{text}</a>'


def _termed(text: str, term: str) -> str:
    names = [name for name in PAGES if re.match(rf"{name}(?![a-z])", term)]
    return link(text, PAGES[max(names, key=len)]) if names else text


def render(tables: Sequence[Table]) -> str:
    """For notebooks: the tables one below the other, each with its title before and its notes after it."""
    parts = []
    for table in tables:
        signatures = f"<pre>{escape(chr(10).join(map(one_line, table.signatures)))}</pre>" if table.signatures else ""
        notes = "".join(f'<div class="note">{_text(note)}</div>' for note in table.notes if note)
        parts.append(html_table(table, title=table.title) + notes + signatures)
    return f'<div class="sacrecap-tables"><style>{_STYLE}</style>{"".join(parts)}</div>'


def html_table(table: Table, kind: str = "", title: str = "") -> str:
    """The table without its notes; `kind` is its class.

    The roles keep it a table for assistive software when narrow screens show its rows as blocks.
    """
    heads = "".join(
        f'<th scope="col" role="columnheader"{_class(column.align, column.kind)}{_title(column.title)}>'
        f"{_termed(_text(column.head), column.term)}</th>"
        if column.head
        else "<td></td>"
        for column in table.columns
    )
    rows = "".join(f'<tr role="row">{"".join(map(_cell, row, table.columns))}</tr>' for row in table.cells())
    caption = f"<caption>{_text(title)}</caption>" if title else ""
    return (
        f'<table role="table"{_class(kind)}>{caption}<thead role="rowgroup"><tr role="row">{heads}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table>'
    )


def _text(text: str) -> str:
    return escape(one_line(text).strip())


def _class(*kinds: str) -> str:
    named = " ".join(filter(None, kinds))
    return f' class="{named}"' if named else ""


def _title(text: str) -> str:
    return f' title="{_text(text)}"' if text else ""


def _cell(cell: Cell, column: Column) -> str:
    element = 'th scope="row" role="rowheader"' if column.names and _value(cell) else 'td role="cell"'
    kinds = _class(column.align, column.kind, cell.kind, cell.mark.value if cell.mark else "")
    return f"<{element}{kinds}{_title(cell.title)}>{_content(cell)}</{element[:2]}>"


def _content(cell: Cell) -> str:
    before = f'<span class="before">{_text(cell.before)}</span> ' if cell.before else ""
    value = f'<span class="value">{_termed(_value(cell), cell.term)}</span>'
    beside = f' <span class="bounds">{_text(cell.beside.joined(" – "))}</span>' if cell.beside else ""
    if cell.below is None:
        return before + value + beside
    kinds = _class("below", cell.below.mark.value if cell.below.mark else "")
    return f"{before}{value}{beside}<span{kinds}>{_content(cell.below)}</span>"


def _value(cell: Cell) -> str:
    """The value as text; a bar as a tick and its interval as an extent, on a line with quarters, between the ends."""
    bar = cell.value
    if not isinstance(bar, Bar):
        text = bar.joined(" – ") if isinstance(bar, Interval) else str(bar)
        return _text(text) + (SIGNS[cell.mark] if cell.mark else "")
    low, high = (bar.interval.low, bar.interval.high) if bar.interval else (0.0, bar.value)
    marks = [("axis", 0.0, bar.largest, 50, 50)]
    marks += [("axis", share * bar.largest, share * bar.largest, 35, 65) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    marks += [("extent", low, high, 50, 50), ("point", bar.value, bar.value, 12, 88)]
    lines = ""
    for kind, *ends, top, bottom in marks:
        start, end = (f"{100 * max(0.0, min(place / bar.largest, 1.0)):.3f}%" for place in ends)
        lines += f'<line class="{kind}" x1="{start}" x2="{end}" y1="{top}%" y2="{bottom}%"/>'
    return f'0 <svg class="interval-plot" aria-hidden="true">{lines}</svg> {bar.largest:g}'
