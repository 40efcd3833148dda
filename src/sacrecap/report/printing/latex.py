"""Tables as LaTeX, by the package booktabs."""

from __future__ import annotations

from collections.abc import Iterable

from sacrecap.report.printing.table import Cell, Highlight, Interval, Table, one_line

_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    # Unicode that pdfTeX does not know without further packages; letters of any script are unchanged.
    "–": "--",
    "—": "---",
    "−": "$-$",
    "²": "$^2$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "↑": r"$\uparrow$",
    "→": r"$\rightarrow$",
    "↓": r"$\downarrow$",
    "Δ": r"$\Delta$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
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
    """The table; comments before it give the text for its caption."""
    legend = [f"{_LEGEND[mark]}: {escape(meaning)}." for mark, meaning in table.legend.items()]
    said = [escape(table.title), " ".join([*legend, escape(table.caption)]).strip(), *map(escape, table.notes)]
    letters = "".join(column.align[0] for column in table.columns)
    lines = [_line(escape(column.printed or column.head) for column in table.columns), r"\midrule"]
    for row in table.cells():
        lines.append(_line(map(_value, row)))
        if any(cell.below for cell in row):
            below = [rf"{{\scriptsize {_value(cell.below)}}}" if cell.below else "" for cell in row]
            lines.append(_line(below).lstrip())
    comments = [f"% {line}" for line in said if line]
    begin, end = rf"\begin{{tabular}}{{{letters}}}", r"\end{tabular}"
    return "\n".join([*comments, begin, r"\toprule", *lines, r"\bottomrule", end])


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
