"""Ranked references, in each of the formats of `--format`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from capeval.report.comparison_formats import escape_latex

if TYPE_CHECKING:
    from capeval.judgments.ranking import Ranking


def render(ranking: Ranking, format_: str, *, colour: bool = False) -> str:
    """The ranking as text in the format of that name."""
    if format_ == "table":
        return "\n\n".join(_table(ranking, image, colour) for image in ranking.images)
    return _RENDERERS[format_](ranking)


def _json(ranking: Ranking) -> str:
    return json.dumps(ranking.to_dict(), ensure_ascii=False, indent=1)


def _csv(ranking: Ranking) -> str:
    """A row a reference: its scores, then its ranks."""
    import csv

    keys = [metric.key for metric in ranking.metrics]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["image_id", "reference", "caption", *keys, *(f"{key} rank" for key in keys)])
    for image, ranked in ranking.images.items():
        for one in ranked:
            values = [repr(one.scores[key]) for key in keys]
            writer.writerow([image, one.number, one.caption, *values, *(one.ranks[key] for key in keys)])
    return text.getvalue()


def _rows(ranking: Ranking, image: str) -> list[list[str]]:
    """A row a reference: rank and score by each metric, and the caption; in the order of the last metric."""
    last = ranking.metrics[-1].key
    return [
        [*(f"{one.ranks[metric.key]} ({one.scores[metric.key]:.3f})" for metric in ranking.metrics), one.caption]
        for one in ranking.order(image, last)
    ]


def _table(ranking: Ranking, image: str, colour: bool) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from capeval.report.text import drawn

    title = f"{escape(image)}: rank (score) of each reference against the others"
    grid = Table(
        box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", show_edge=False, pad_edge=False
    )
    for metric in ranking.metrics:
        grid.add_column(metric.label, justify="right")
    grid.add_column("reference")
    for row in _rows(ranking, image):
        grid.add_row(*map(escape, row))
    return drawn(grid, colour=colour)


def _markdown(ranking: Ranking) -> str:
    head = [*(metric.label for metric in ranking.metrics), "reference"]
    parts = []
    for image in ranking.images:
        rows = [[cell.replace("|", r"\|").replace("\n", " ") for cell in row] for row in _rows(ranking, image)]
        lines = [head, [*["---:"] * len(ranking.metrics), "---"], *rows]
        parts.append("\n".join([f"**{image}**", "", *(f"| {' | '.join(line)} |" for line in lines)]))
    return "\n\n".join(parts)


def _latex(ranking: Ranking) -> str:
    """A booktabs table an image."""
    head = " & ".join([*(metric.label for metric in ranking.metrics), "Reference"]) + r" \\"
    columns = "r" * len(ranking.metrics) + "l"
    parts = []
    for image in ranking.images:
        rows = [" & ".join(map(escape_latex, row)) + r" \\" for row in _rows(ranking, image)]
        top = [f"% {image}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule"]
        parts.append("\n".join([*top, *rows, r"\bottomrule", r"\end{tabular}"]))
    return "\n\n".join(parts)


_RENDERERS: dict[str, Callable[[Ranking], str]] = {
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
