"""The page of a board: ranks, scores with their intervals, who is better than whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.report.board_formats import metrics_table, notes, ranks_table, separated_table
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.panels import AXIS, MARK, Mark, Panel, empty, round_values
from sacrecap.report.pictures.svg import svg
from sacrecap.report.printing.figures import Figures

if TYPE_CHECKING:
    from sacrecap.boards.scored import Board

_ROW = 26
"""Height of a system in a picture."""


def page(board: Board, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a board."""
    leader = board.metrics[board.rank_by].label
    keys = [("key first", "better than the column's"), ("key second", "worse"), ("", "= not separated")]
    return ReportPage(
        "",
        "Board",
        "Board",
        board.version,
        {
            "Systems": f"{len(board.rows):,}",
            "Images": f"{board.images:,}",
            "Ranked by": leader,
            "Test": "paired exact test, Holm over all pairs of a metric",
        },
        [
            Section("systems", "Ranks", table=replace(ranks_table(board, Figures()), notes=notes(board))),
            Section(
                "intervals",
                "Scores with their intervals",
                pictures=[(board.metrics[key].label, strips(board, key)) for key in board.metrics],
            ),
            Section("pairs", f"Who is better than whom by {leader}", keys, separated_table(board)),
            Section("metrics", "What the scores are", table=metrics_table(board)),
        ],
        None,
        [],
    )


def strips(board: Board, key: str) -> str:
    """SVG: the scores of all systems by a metric with their intervals, on a scale from the least end to the largest."""
    rows = [row for row in board.rows if row.scores[key].value is not None]
    marks: list[Mark] = [
        {
            **MARK,
            "x": score.value or 0.0,
            "y": place,
            "across": score.interval,
            "size": 0.6,
            "said": f"{row.system}: {score.value:.4f}",
        }
        for place, row in enumerate(rows)
        for score in [row.scores[key]]
    ]
    ends = [end for row in rows for end in row.scores[key].interval or (row.scores[key].value or 0.0,)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = 0.03 * (high - low or 1.0)
    made: Panel = {**empty("plot"), "marks": marks}
    ticks = [(tick, f"{tick:,.6g}") for tick in round_values(low, high, 5)] if high > low else [(low, f"{low:g}")]
    made["x"] = {**AXIS, "ends": (low - room, high + room), "ticks": ticks}
    names = [(float(place), row.system) for place, row in enumerate(rows)]
    made["y"] = {**AXIS, "ends": (len(rows) - 0.5, -0.5), "ticks": names}
    told = "; ".join(f"{row.system} {row.scores[key].value:.4f}" for row in rows)
    return svg(made, f"{board.metrics[key].label}: {told}", height=40 + _ROW * len(rows))
