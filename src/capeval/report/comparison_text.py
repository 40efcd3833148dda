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
    from capeval.scoring.comparison import Comparison


_CELLS = 17
"""What a metric's column takes, with the space beside it."""


def tables(comparison: Comparison, *, colour: bool = False, width: int | None = None) -> str:
    """Systems by metrics with ranks and intervals, then pairs by metrics with differences and p.

    Tables wider than `width` cells are cut into several, of some metrics each.
    """
    first = next(iter(comparison.values()))
    metrics = list(comparison.metrics)
    names = max(22, 3 + sum(sorted(map(len, comparison))[-2:]))
    each = len(metrics) if width is None else max(1, (width - names) // _CELLS)
    parts = [metrics[start : start + each] for start in range(0, len(metrics), each)]
    grids = [draw(comparison, part) for draw in (_scores, _pairs) for part in parts]
    legend = [
        "* best   † significantly worse than the best   before each score: the ranks it may have",
        f"p: {tested(comparison)}; ! significant, p ≤ {comparison.alpha:g}",
    ]
    return "\n".join([heading(first), *(f"{drawn(grid, colour=colour)}\n" for grid in grids), *legend])


def _grid(comparison: Comparison, metrics: list[str], head: str) -> Table:
    grid = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    grid.add_column(head)
    for metric in metrics:
        grid.add_column(comparison.metrics[metric].label, justify="right")
    return grid


def _scores(comparison: Comparison, metrics: list[str]) -> Table:
    interval = "" if comparison.level is None else f", {percent(comparison.level)} interval"
    grid = _grid(comparison, metrics, f"score{interval}")
    marks = {metric: best_and_worse(comparison, metric) for metric in metrics}
    ranks = {metric: comparison.ranks(metric) for metric in metrics}
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


def _pairs(comparison: Comparison, metrics: list[str]) -> Table:
    grid = _grid(comparison, metrics, "difference, p")
    for a, b in combinations(comparison, 2):
        cells = []
        for metric in metrics:
            pair = comparison.pair(a, b, metric)
            p = f"{p_text(pair.p_corrected)}{'!' if pair.significant else ' '}"
            cells.append(f"{pair.delta:+.4f} \n{f'[bold]{p}[/bold]' if pair.significant else p}")
        grid.add_row(f"{escape(a)} – {escape(b)}", *cells)
    return grid
