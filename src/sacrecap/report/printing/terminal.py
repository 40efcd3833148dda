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
_NARROWEST_NAMES = 16
"""Names are folded to this width before a table is split, and to 4 if not even one column fits next to them."""

_CONSOLE = Console(file=io.StringIO())
"""That which rich wraps texts for, whatever it is."""


def render(tables: Sequence[Table], *, colour: bool = False, width: int | None = None) -> str:
    """The tables with their titles and notes; optionally in colour, and fitted to a width in cells.

    A table that is too wide changes in this order until it fits: line breaks in headers; intervals below their values;
    folded names; several tables of some columns each. Without a width, as in a pipe, no rule is below the headers:
    programs that read the text out would spell it.
    """
    return "\n\n".join(_block(table, colour, width) for table in tables)


def _block(table: Table, colour: bool, width: int | None) -> str:
    """A table, in parts if it is split: the title above the first, the notes below the last."""

    def folded(sentence: str, style: str = "") -> list[Text]:
        line = Text(one_line(sentence), style)
        return [line] if width is None else list(line.wrap(_CONSOLE, width)) or [line]

    # From here on, a line end in a header is one that we inserted.
    table = replace(table, columns=[replace(column, head=one_line(column.head)) for column in table.columns])
    lines = folded(table.title, "bold") if table.title else []
    for number, part in enumerate([table] if width is None else _fitted(table, width)):
        lines += [Text()] * (number > 0) + _drawn(part, width)
    for note in table.notes:
        lines += folded(note)
    lines += [Text(one_line(signature), "dim") for signature in table.signatures]  # whole, to be copied
    if not colour:
        return "\n".join(line.plain.rstrip() for line in lines)
    for line in lines:
        line.rstrip()
    text = io.StringIO()
    Console(file=text, force_terminal=True, width=width).print(Text("\n").join(lines), soft_wrap=True, end="")
    return text.getvalue()


# Fitting


def _fitted(table: Table, width: int) -> list[Table]:
    """The table, changed as little as possible to make it fit."""
    if _width(_sizes(table)) <= width:
        return [table]
    # Headers in lines no wider than the cells below them, or than the widest word; one word per line is hard to read.
    rows, columns = _rows(table), []
    for number, column in enumerate(table.columns):
        words = column.head.split()
        room = max([10, *map(cell_len, words), *(line.cell_len for row in rows for line in row[number])])
        lines = Text(" ".join(words)).wrap(_CONSOLE, room)
        columns.append(replace(column, head="\n".join(line.plain.rstrip() for line in lines)))
    table = replace(table, columns=columns)
    if _width(_sizes(table)) <= width:
        return [table]
    # Intervals below their values.
    cells = [
        [replace(cell, beside=None, below=Cell(cell.beside)) if cell.beside else cell for cell in row]
        for row in table.cells()
    ]
    table = replace(table, rows=cells)
    sizes = _sizes(table)
    names = [number for number, column in enumerate(table.columns) if column.names]
    if _width(sizes) - sum(max(0, sizes[number] - _NARROWEST_NAMES) for number in names) <= width:
        return [table]
    # Tables of some columns each; all have the columns of names.
    room = max(1, width - sum(min(sizes[n], max(_NARROWEST_NAMES, width // 2)) + _GAP for n in names)) + _GAP
    groups: list[list[int]] = []
    free = 0
    for number, size in enumerate(sizes):
        if number not in names:
            if not groups or free < size + _GAP:
                groups.append([*names])
                free = room
            groups[-1].append(number)
            free -= size + _GAP
    parts = []
    for group in map(sorted, groups):
        rows_of_group = [[row[number] for number in group] for row in table.rows]
        parts.append(replace(table, columns=[table.columns[number] for number in group], rows=rows_of_group))
    return parts


def _width(sizes: Sequence[int]) -> int:
    return sum(size + _GAP for size in sizes) - _GAP


def _sizes(table: Table) -> list[int]:
    """Each column's width without folding."""
    rows = _rows(table)
    return [
        max([*map(cell_len, column.head.split("\n")), *(line.cell_len for row in rows for line in row[number])])
        for number, column in enumerate(table.columns)
    ]


# Drawing


def _drawn(table: Table, width: int | None) -> list[Text]:
    """The lines of a table: its headers, a rule, its rows; those of names are narrower if it is too wide."""
    sizes = _sizes(table)
    over = 0 if width is None else max(0, _width(sizes) - width)
    for number, column in enumerate(table.columns):
        less = min(over, max(0, sizes[number] - 4)) if column.names else 0
        over -= less
        sizes[number] -= less
    heads = [[Text(line) for line in column.head.split("\n")] for column in table.columns]
    highest = max(map(len, heads))
    lines = _beside([[Text()] * (highest - len(head)) + head for head in heads], table.columns, sizes)
    if width is not None:
        lines.append(Text("─" * _width(sizes)))
    for row in _rows(table):
        lines += _beside(row, table.columns, sizes)
    return lines


def _rows(table: Table) -> list[list[list[Text]]]:
    """The lines of each cell of each row; there is room for signs in all cells of a column if one of them has any."""
    columns = []
    for column, cells in zip(table.columns, zip(*table.cells(), strict=True), strict=False):
        signs = any(cell.mark or (cell.below and cell.below.mark) for cell in cells)
        columns.append([_lines(cell, bold=column.bold, signs=signs) for cell in cells])
    return [list(row) for row in zip(*columns, strict=True)]


def _beside(cells: Sequence[Sequence[Text]], columns: Sequence[Column], sizes: Sequence[int]) -> list[Text]:
    """A row's cells, of some lines each, side by side."""
    folded = [
        [piece for line in lines for piece in line.wrap(_CONSOLE, size, overflow="fold")] if column.names else lines
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
    """A cell's lines: the value with the text next to it, then the text below; with room for `signs` of others."""
    text = Text()
    if cell.before:
        text.append(one_line(cell.before), "dim").append("  ")
    value = cell.value.joined(" – ") if isinstance(cell.value, Interval) else one_line(str(cell.value))
    text.append(value, "bold" if bold or cell.mark in (Highlight.BEST, Highlight.SIGNIFICANT) else "")
    if cell.beside is not None:
        text.append(f" ({cell.beside})")
    text.append(SIGNS[cell.mark] if cell.mark else " " * signs)
    if cell.below is None:
        return [text]
    below = cell.below.value
    if isinstance(below, Interval):
        return [text, Text(below.joined("–"), "dim").append(" " * signs)]
    return [text, *_lines(cell.below, signs=signs)]
