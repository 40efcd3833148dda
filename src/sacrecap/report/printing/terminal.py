"""Tables for the terminal, by rich: with their natural width, or fitted to a width."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sacrecap.report.printing.table import SIGNS, Cell, Column, Highlight, Interval, Table, one_line

_GAP = 3
"""Cells between two columns."""
_NARROWEST_HEAD = 10
"""Headers are not broken into lines shorter than this: one word per line is hard to read."""
_NARROWEST_NAMES = 16
"""Names are folded to this width before a table is split."""
_NARROWEST_FOLD = 4
"""And to this width if not even one column fits next to them."""

_STRONG = (Highlight.BEST, Highlight.SIGNIFICANT)


def render(tables: Sequence[Table], *, colour: bool = False, width: int | None = None) -> str:
    """The tables with their titles and notes; optionally in colour, and fitted to a width in cells.

    A table that is too wide changes in this order until it fits: line breaks in headers; intervals below their values;
    folded names; several tables of some columns each. Without a width, as in a pipe, no rule is below the headers:
    programs that read the text out would spell it.
    """
    return "\n\n".join(_block(table, colour, width) for table in tables)


def _block(table: Table, colour: bool, width: int | None) -> str:
    """A table, in parts if it is split: the title above the first, the notes below the last."""
    console = Console(file=io.StringIO(), force_terminal=colour, width=width)
    # From here on, a line end in a header is one that we inserted.
    table = replace(table, columns=[replace(column, head=one_line(column.head)) for column in table.columns])
    parts = [table] if width is None else _fitted(table, width)
    lines = _folded(table.title, console, width, "bold") if table.title else []
    for number, part in enumerate(parts):
        lines += [Text()] * (number > 0) + _drawn(part, console, width)
    for note in table.notes:
        lines += _folded(note, console, width)
    lines += [Text(one_line(signature), "dim") for signature in table.signatures]  # whole, to be copied
    return _printed(lines, colour)


# Fitting


def _fitted(table: Table, width: int) -> list[Table]:
    """The table, changed as little as possible to make it fit."""
    for change in (replace, _broken_heads, _stacked):
        table = change(table)
        if _width(table) <= width:
            return [table]
    folded = sum(max(0, size - _NARROWEST_NAMES) for size, column in _sizes(table) if column.names)
    return [table] if _width(table) - folded <= width else _cut(table, width)


def _broken_heads(table: Table) -> Table:
    """Headers of several lines if they are wider than the cells below them."""
    rows = _rows(table)
    columns = []
    for number, column in enumerate(table.columns):
        room = max((line.cell_len for row in rows for line in row[number]), default=0)
        columns.append(replace(column, head=_broken(column.head, room)))
    return replace(table, columns=columns)


def _broken(text: str, room: int) -> str:
    """The words in lines no wider than the available width, or than the widest word."""
    words = text.split()
    room = max([room, _NARROWEST_HEAD, *map(cell_len, words)])
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word}".lstrip()
        if cell_len(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def _stacked(table: Table) -> Table:
    """Intervals below their values."""
    rows = [
        [cell if cell.beside is None else replace(cell, beside=None, below=Cell(cell.beside)) for cell in row]
        for row in table.cells()
    ]
    return replace(table, rows=rows)


def _cut(table: Table, width: int) -> list[Table]:
    """Tables of some columns each; all have the columns of names."""
    sizes = [size for size, _ in _sizes(table)]
    names = [n for n, column in enumerate(table.columns) if column.names]
    room = max(1, width - sum(min(sizes[n], max(_NARROWEST_NAMES, width // 2)) + _GAP for n in names)) + _GAP
    groups: list[list[int]] = []
    free = 0
    for n, size in enumerate(sizes):
        if n in names:
            continue
        if not groups or free < size + _GAP:
            groups.append([])
            free = room
        groups[-1].append(n)
        free -= size + _GAP
    return [_part(table, sorted([*names, *group])) for group in groups]


def _part(table: Table, columns: Sequence[int]) -> Table:
    rows = [[row[n] for n in columns] for row in table.rows]
    return replace(table, columns=[table.columns[n] for n in columns], rows=rows)


def _width(table: Table) -> int:
    return sum(size + _GAP for size, _ in _sizes(table)) - _GAP


def _sizes(table: Table) -> list[tuple[int, Column]]:
    """Each column's width without folding."""
    rows = _rows(table)
    return [
        (
            max([*map(cell_len, column.head.split("\n")), *(line.cell_len for row in rows for line in row[number])]),
            column,
        )
        for number, column in enumerate(table.columns)
    ]


# Drawing


def _drawn(table: Table, console: Console, width: int | None) -> list[Text]:
    """The lines of a table: its headers, a rule, its rows."""
    sizes = _room(table, width)
    heads = [[Text(line) for line in column.head.split("\n")] for column in table.columns]
    highest = max(map(len, heads))
    lines = _beside([[Text()] * (highest - len(head)) + head for head in heads], table.columns, sizes, console)
    if width is not None:
        lines.append(Text("─" * (sum(sizes) + _GAP * (len(sizes) - 1))))
    for row in _rows(table):
        lines += _beside(row, table.columns, sizes, console)
    return lines


def _rows(table: Table) -> list[list[list[Text]]]:
    """The lines of each cell of each row."""
    rows = table.cells()
    signs = [
        any(cell.mark or (cell.below and cell.below.mark) for cell in column) for column in zip(*rows, strict=True)
    ]
    return [
        [
            _lines(cell, bold=column.bold, signs=sign)
            for cell, column, sign in zip(row, table.columns, signs, strict=True)
        ]
        for row in rows
    ]


def _room(table: Table, width: int | None) -> list[int]:
    """The columns' widths: those of names are narrower if the table is too wide."""
    sizes = _sizes(table)
    over = 0 if width is None else max(0, _width(table) - width)
    room = []
    for size, column in sizes:
        less = min(over, max(0, size - _NARROWEST_FOLD)) if column.names else 0
        over -= less
        room.append(size - less)
    return room


def _beside(
    cells: Sequence[Sequence[Text]], columns: Sequence[Column], sizes: Sequence[int], console: Console
) -> list[Text]:
    """A row's cells, of some lines each, side by side."""
    folded = [
        [piece for line in lines for piece in line.wrap(console, size, overflow="fold")] if column.names else lines
        for lines, column, size in zip(cells, columns, sizes, strict=True)
    ]
    drawn = []
    for pieces in zip_longest(*folded, fillvalue=Text()):
        line = Text()
        for number, (piece, column, size) in enumerate(zip(pieces, columns, sizes, strict=True)):
            blanks = Text(" " * (size - piece.cell_len))
            line.append(" " * (_GAP * (number > 0)))
            line = line + piece + blanks if column.align == "left" else line + blanks + piece
        drawn.append(line)
    return drawn


def _lines(cell: Cell, *, bold: bool = False, signs: bool = False) -> list[Text]:
    """A cell's lines: the value with the text next to it, then the text below. There is room for `signs` that others in
    the column have, so that digits are aligned.
    """
    text = Text()
    if cell.before:
        text.append(one_line(cell.before), "dim").append("  ")
    value = cell.value.joined(" – ") if isinstance(cell.value, Interval) else one_line(str(cell.value))
    text.append(value, "bold" if bold or cell.mark in _STRONG else "")
    if cell.beside is not None:
        text.append(f" ({cell.beside})")
    text.append(SIGNS[cell.mark] if cell.mark else " " * signs)
    if cell.below is None:
        return [text]
    below = cell.below.value
    if isinstance(below, Interval):
        return [text, Text(below.joined("–"), "dim").append(" " * signs)]
    return [text, *_lines(cell.below, signs=signs)]


def _folded(text: str, console: Console, width: int | None, style: str = "") -> list[Text]:
    """A sentence, broken into lines of that width."""
    line = Text(one_line(text), style)
    return [line] if width is None else list(line.wrap(console, width)) or [line]


def _printed(lines: Sequence[Text], colour: bool) -> str:
    if not colour:
        return "\n".join(line.plain.rstrip() for line in lines)
    for line in lines:
        line.rstrip()
    text = io.StringIO()
    Console(file=text, force_terminal=True).print(Text("\n").join(lines), soft_wrap=True, end="")
    return text.getvalue()
