"""Tables as GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sacrecap.report.printing.table import Cell, Highlight, Table, one_line

_SPECIAL = re.compile(
    r"[\\|`*\[$~]"
    r"|<(?=[A-Za-z/!?])"  # A tag; "a < b" is not.
    r"|&(?=#?\w+;)"  # An entity; "x & y" is not.
    r"|(?<![^\W_])_|_(?![^\W_])"  # Emphasis; an underscore within a word is not.
)

_MARKED = {Highlight.BEST: "**{}**", Highlight.WORSE: "{}†", Highlight.SIGNIFICANT: "{}!"}
_SIGNS = {Highlight.BEST: "**Bold**", Highlight.WORSE: "†", Highlight.SIGNIFICANT: "!"}


def escape(text: str) -> str:
    """Text that Markdown shows literally, also in a table; on one line."""
    return _SPECIAL.sub(r"\\\g<0>", one_line(text))


def render(table: Table) -> str:
    """The title in bold, the table, the meaning of its marks, a list of the notes, and signatures as they are."""
    rules = ["---" if column.align == "left" else "---:" for column in table.columns]
    lines = [
        _line(escape(column.head) for column in table.columns),
        _line(rules),
        *(_line(map(_cell, row)) for row in table.cells()),
    ]
    legend = " ".join(
        [*(f"{_SIGNS[mark]}: {escape(meaning)}." for mark, meaning in table.legend.items()), escape(table.caption)]
    )
    parts = [
        f"**{escape(one_line(table.title).strip())}**" if table.title else "",
        "\n".join(lines),
        legend.strip(),
        "\n".join(f"- {escape(note)}" for note in table.notes),
        "\n".join(["```text", *map(one_line, table.signatures), "```"]) if table.signatures else "",
    ]
    return "\n\n".join(filter(None, parts))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    parts = [escape(cell.before), escape(str(cell.value))]
    if cell.mark is not None:
        parts[1] = _MARKED[cell.mark].format(parts[1])
    if cell.beside is not None:
        parts.append(f"({cell.beside})")
    if cell.below is not None:
        parts.append(f"({_cell(cell.below)})")
    return " ".join(parts) if cell.before else " ".join(parts[1:])
