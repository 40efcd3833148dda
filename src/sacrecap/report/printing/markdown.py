"""Tables as GitHub's Markdown."""

from __future__ import annotations

import re

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
    lines = [
        [escape(column.head) for column in table.columns],
        ["---" if column.align == "left" else "---:" for column in table.columns],
        *(map(_cell, row) for row in table.cells()),
    ]
    legend = [f"{_SIGNS[mark]}: {escape(meaning)}." for mark, meaning in table.legend.items()]
    parts = [
        f"**{escape(one_line(table.title).strip())}**" if table.title else "",
        "\n".join(f"| {' | '.join(cells)} |" for cells in lines),
        " ".join([*legend, escape(table.caption)]).strip(),
        "\n".join(f"- {escape(note)}" for note in table.notes),
        "\n".join(["```text", *map(one_line, table.signatures), "```"]) if table.signatures else "",
    ]
    return "\n\n".join(filter(None, parts))


def _cell(cell: Cell) -> str:
    value = escape(str(cell.value))
    parts = [escape(cell.before)] if cell.before else []
    parts.append(_MARKED[cell.mark].format(value) if cell.mark else value)
    if cell.beside is not None:
        parts.append(f"({cell.beside})")
    if cell.below is not None:
        parts.append(f"({_cell(cell.below)})")
    return " ".join(parts)
