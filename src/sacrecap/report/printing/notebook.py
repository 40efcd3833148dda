"""Tables as HTML for notebooks, on light and on dark pages: they use the page's colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sacrecap.report.printing.table import Bar, Cell, Mark, Table, one_line

_LINE = "1px solid rgba(128,128,128,.35)"
_SMALL = "font-size:85%;opacity:.75"
_SIGNS = {Mark.BEST: "*", Mark.WORSE: "†", Mark.SIGNIFICANT: "!"}
_BAR = "#4c8dd6"


def render(tables: Sequence[Table]) -> str:
    """The tables one below the other, each with its title before and its notes after it."""
    return f'<div style="overflow-x:auto">{"".join(map(_table, tables))}</div>'


def _table(table: Table) -> str:
    heads = "".join(
        f'<th scope="col" style="{_set(column.align)};border-bottom:{_LINE};background:none">{_text(column.head)}</th>'
        for column in table.columns
    )
    rows = "".join(
        f"<tr>{''.join(_cell(cell, column.align) for cell, column in zip(row, table.columns, strict=True))}</tr>"
        for row in table.cells()
    )
    title = f'<caption style="text-align:left;caption-side:top;color:inherit">{_text(table.title)}</caption>'
    notes = "".join(f'<div style="{_SMALL};white-space:pre-wrap">{_text(note)}</div>' for note in table.notes if note)
    return (
        f'<table style="border-collapse:collapse;color:inherit;margin:.5em 0">{title if table.title else ""}'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{notes}"
    )


def _text(text: str) -> str:
    return escape(one_line(text).strip())


def _set(align: str) -> str:
    return f"text-align:{align};padding:.2em .7em;vertical-align:top"


def _cell(cell: Cell, align: str) -> str:
    return f'<td style="{_set(align)};background:none;white-space:nowrap">{_content(cell)}</td>'


def _content(cell: Cell) -> str:
    before = f'<span style="{_SMALL}">{_text(cell.before)}</span> ' if cell.before else ""
    value = _bar(cell.value) if isinstance(cell.value, Bar) else _text(str(cell.value))
    if cell.mark is not None:
        value = f"{value}{_SIGNS[cell.mark]}"
    if cell.mark in (Mark.BEST, Mark.SIGNIFICANT):
        value = f"<b>{value}</b>"
    beside = f' <span style="{_SMALL}">({_text(str(cell.beside))})</span>' if cell.beside is not None else ""
    below = f'<div style="{_SMALL}">{_content(cell.below)}</div>' if cell.below is not None else ""
    return before + value + beside + below


def _bar(bar: Bar) -> str:
    share = 100 * bar.filled / bar.cells
    return (
        '<span style="display:inline-block;width:8em;height:.6em;border-radius:.3em;background:rgba(128,128,128,.25)">'
        f'<span style="display:block;width:{share:.0f}%;height:100%;border-radius:inherit;background:{_BAR}"></span>'
        f'</span> <span style="{_SMALL}">of {bar.largest:g}</span>'
    )
