"""Tables as LaTeX, by the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from sacrecap.report.printing.table import Cell, Column, Highlight, Interval, Table, one_line

_TEXT = r"\=backslash ~=asciitilde ^=asciicircum `=asciigrave |=bar <=less >=greater"
_MATHS = (
    "×=times ≤=leq ≥=geq ≠=neq ≈=approx ↑=uparrow →=rightarrow ↓=downarrow Δ=Delta α=alpha β=beta γ=gamma δ=delta "
    "ε=varepsilon λ=lambda μ=mu ρ=rho σ=sigma τ=tau"
)
_SIGNS = {
    **{sign: rf"\text{command}{{}}" for sign, command in (pair.split("=") for pair in _TEXT.split())},
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    # Unicode that pdfTeX does not know without further packages; letters of any script are unchanged.
    "–": "--",
    "—": "---",
    "−": "$-$",
    "²": "$^2$",
    **{sign: rf"$\{command}$" for sign, command in (pair.split("=") for pair in _MATHS.split())},
}
_LIGATURES = "-',"
"""Signs that form a ligature when repeated: -- is a dash."""

_MARKED = {Highlight.BEST: r"\textbf{%s}", Highlight.WORSE: r"%s$^{\dagger}$", Highlight.SIGNIFICANT: r"%s$^{*}$"}
_LEGEND = {Highlight.BEST: "Bold", Highlight.WORSE: r"$^{\dagger}$", Highlight.SIGNIFICANT: "$^{*}$"}


def escape(text: str) -> str:
    """Text that LaTeX prints literally, on one line."""
    escaped = ""
    for character in one_line(text):
        written = _SIGNS.get(character, character)
        joins = escaped[-1:] == written[0] and written[0] in _LIGATURES
        escaped += "{}" * joins + written
    return escaped


def render(table: Table) -> str:
    """The table with its caption, with a row for each column where it is too wide; comments before it have the notes,
    and the signatures as they are.
    """
    if table.turns and len(table.rows) < len(table.columns) - 1:
        rows = [[column.printed or column.head for column in table.columns]]
        rows += [[_value(replace(cell, mark=None)) for cell in row] for row in table.cells()]
        if sum(max(map(len, column)) for column in zip(*rows, strict=True)) > 48:  # a column of a page of two
            first, *rest = table.columns
            heads, *columns = zip(*table.cells(), strict=True)
            table = replace(
                table,
                columns=[replace(first, head="", printed=""), *(Column(str(head.value)) for head in heads)],
                rows=[[column.printed or column.head, *cells] for column, cells in zip(rest, columns, strict=True)],
            )
    legend = [f"{_LEGEND[mark]}: {escape(meaning)}." for mark, meaning in table.legend.items()]
    title = escape(one_line(table.title).strip())
    caption = " ".join(filter(None, [title and f"{title}.", *legend, escape(table.caption)]))
    label = re.sub("[^a-z0-9]+", "-", table.title.lower()).strip("-")[:40] or "scores"
    letters = "".join(column.align[0] for column in table.columns)
    lines = [_line(escape(column.printed or column.head) for column in table.columns), r"\midrule"]
    for row in table.cells():
        lines.append(_line(map(_value, row)))
        if any(cell.below for cell in row):
            below = [rf"{{\scriptsize {_value(cell.below)}}}" if cell.below else "" for cell in row]
            lines.append(_line(below).lstrip())
    comments = [f"% {line}" for line in (*map(escape, table.notes), *map(one_line, table.signatures)) if line]
    begin = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", rf"\label{{tab:{label}}}"]
    tabular = [rf"\begin{{tabular}}{{{letters}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*comments, *begin, *tabular, r"\end{table}"])


def _line(cells: Iterable[str]) -> str:
    line = rf"{' & '.join(cells)} \\"
    # After \\ and after a rule, [ would begin a length, and * would forbid a page break.
    return f"{{}}{line}" if line.lstrip().startswith(("[", "*")) else line


def _value(cell: Cell) -> str:
    text = f"[{cell.value.joined(', ')}]" if isinstance(cell.value, Interval) else escape(str(cell.value))
    if cell.mark is not None:
        text = _MARKED[cell.mark] % text
    before = f"{escape(cell.before)} " if cell.before else ""
    beside = f" ({cell.beside})" if cell.beside else ""
    return f"{before}{text}{beside}"
