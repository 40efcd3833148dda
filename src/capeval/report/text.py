"""A result as a table for the terminal."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from capeval.report.formats import percent

if TYPE_CHECKING:
    from capeval.result import Result, Score

_BAR_CELLS = 20


def table(result: Result) -> str:
    """Label, score, interval, and a bar of the score within the metric's range; colours only on a terminal."""
    grid = Table(box=SIMPLE_HEAD, title=_title(result), title_justify="left", title_style="bold")
    grid.add_column("metric")
    grid.add_column("score", justify="right")
    if result.level is not None:
        grid.add_column(f"{percent(result.level)} interval", justify="right")
    grid.add_column("of the range", justify="left")
    for score in result.values():
        interval = [] if score.interval is None else [f"{score.interval[0]:.4f} – {score.interval[1]:.4f}"]
        grid.add_row(score.metric.label, f"[bold]{score.value:.4f}[/bold]", *interval, _bar(score))
    text = io.StringIO()
    # No Unicode where the terminal cannot show it; no colours into a file.
    console = Console(file=text, force_terminal=sys.stdout.isatty(), width=100)
    console.print(grid)
    return text.getvalue().rstrip("\n")


def _title(result: Result) -> str:
    least, most = result.corpus.reference_counts
    references = f"{least}" if least == most else f"{least} to {most}"
    return f"{len(result.image_ids):,} images, {references} references each, {result.corpus.tokenizer} tokens"


def _bar(score: Score) -> str:
    if score.metric.upper is None:
        return ""
    filled = round(_BAR_CELLS * min(score.value / score.metric.upper, 1.0))
    return f"[cyan]{'━' * filled}[/cyan][dim]{'─' * (_BAR_CELLS - filled)}[/dim] of {score.metric.upper:g}"
