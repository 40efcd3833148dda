"""A comparison as tables for the terminal."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from capeval.report.comparison_formats import best_and_worse, p_text, rank_text, tested
from capeval.report.formats import percent
from capeval.report.text import drawn, heading

if TYPE_CHECKING:
    from capeval.comparison import Comparison


def tables(comparison: Comparison, *, colour: bool = False) -> str:
    """Systems by metrics with ranks and intervals, then pairs by metrics with differences and p."""
    first = next(iter(comparison.values()))
    legend = [
        "* best   † significantly worse than the best   before each score: the ranks it may have",
        f"p: {tested(comparison)}; ! significant, p ≤ {comparison.alpha:g}",
    ]
    scores, pairs = (drawn(grid, colour=colour) for grid in (_scores(comparison), _pairs(comparison)))
    return "\n".join([heading(first), scores, "", pairs, "", *legend])


def _grid(comparison: Comparison, head: str) -> Table:
    grid = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    grid.add_column(head)
    for metric in comparison.metrics.values():
        grid.add_column(metric.label, justify="right")
    return grid


def _scores(comparison: Comparison) -> Table:
    interval = "" if comparison.level is None else f", {percent(comparison.level)} interval"
    grid = _grid(comparison, f"score{interval}")
    marks = {metric: best_and_worse(comparison, metric) for metric in comparison.metrics}
    ranks = {metric: comparison.ranks(metric) for metric in comparison.metrics}
    for system, result in comparison.items():
        cells = []
        for metric, (best, worse) in marks.items():
            score = result[metric]
            value = f"{score.value:.4f}"
            value = f"[bold]{value}[/bold]*" if system in best else f"{value}{'†' if system in worse else ' '}"
            bounds = "" if score.interval is None else f"\n[dim]{score.interval[0]:.4f}–{score.interval[1]:.4f} [/dim]"
            cells.append(f"[dim]{rank_text(ranks[metric][system])}[/dim]  {value}{bounds}")
        grid.add_row(escape(system), *cells)
    return grid


def _pairs(comparison: Comparison) -> Table:
    grid = _grid(comparison, "difference, p")
    for a, b in combinations(comparison, 2):
        cells = []
        for metric in comparison.metrics:
            pair = comparison.pair(a, b, metric)
            p = f"{p_text(pair.p_corrected)}{'!' if pair.significant else ' '}"
            cells.append(f"{pair.delta:+.4f} \n{f'[bold]{p}[/bold]' if pair.significant else p}")
        grid.add_row(f"{escape(a)} – {escape(b)}", *cells)
    return grid
