"""A result as a table for the terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from capeval.report.formats import percent

if TYPE_CHECKING:
    from capeval.scoring.result import Result, Score

_BAR_CELLS = 20
_WIDTH = 1000
"""Cells to print in: more than any row has, so that nothing is cut or folded whatever the terminal."""


def table(result: Result, *, colour: bool = False) -> str:
    """Label, score, interval, and a bar of the score within the metric's range."""
    grid = Table(
        box=SIMPLE_HEAD,
        title=heading(result),
        title_justify="left",
        title_style="bold",
        show_edge=False,
        pad_edge=False,
    )
    grid.add_column("metric")
    grid.add_column("score", justify="right")
    if result.level is not None:
        grid.add_column(f"{percent(result.level)} interval", justify="right")
    grid.add_column("of the range", justify="left")
    for score in result.values():
        interval = [] if score.interval is None else [f"{score.interval[0]:.4f} – {score.interval[1]:.4f}"]
        grid.add_row(score.metric.label, f"[bold]{score.value:.4f}[/bold]", *interval, _bar(score))
    covered = (score for score in result.values() if score.coverage is not None)
    lines = [f"{s.metric.label}: {s.coverage:.1%} of the content words and labels have a vector" for s in covered]
    return "\n".join([drawn(grid, colour=colour), *lines, *(f"note: {note}" for note in result.notes)])


def grid(title: str, head: list[str], rows: list[list[str]], *, colour: bool = False) -> str:
    """A table of cells under a title, numbers to the right."""
    table = Table(
        box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", show_edge=False, pad_edge=False
    )
    table.add_column(head[0])
    for name in head[1:]:
        table.add_column(escape(name), justify="right")
    for row in rows:
        table.add_row(*map(escape, row))
    return drawn(table, colour=colour)


def drawn(grid: Table, *, colour: bool) -> str:
    """The table as text, whatever the terminal's width; in colour where it is asked for."""
    text = io.StringIO()
    Console(file=text, force_terminal=colour, width=_WIDTH).print(grid)
    return "\n".join(line.rstrip() for line in text.getvalue().rstrip().splitlines())


def heading(result: Result) -> str:
    """What was scored: images, references, tokens."""
    least, most = result.corpus.reference_counts
    references = f"{least}" if least == most else f"{least} to {most}"
    images = "1 image" if len(result.image_ids) == 1 else f"{len(result.image_ids):,} images"
    reference = "reference" if most == 1 else "references"
    return f"{images}, {references} {reference} each, {result.corpus.tokenizer} tokens"


def _bar(score: Score) -> str:
    if score.metric.largest is None:
        return ""
    filled = round(_BAR_CELLS * min(score.value / score.metric.largest, 1.0))
    return f"[cyan]{'━' * filled}[/cyan][dim]{'─' * (_BAR_CELLS - filled)}[/dim] of {score.metric.largest:g}"
