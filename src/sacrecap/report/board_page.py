"""The page of a board: ranks, scores with their intervals, who is better than whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.report.board_formats import metrics_table, notes, ranks_table, separated_table
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.svg import Strip, strips
from sacrecap.report.printing.figures import Figures
from sacrecap.scoring.result import counted

if TYPE_CHECKING:
    from sacrecap.boards.scored import Board


def page(board: Board, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a board."""
    return ReportPage(
        "",
        "Board",
        f"{counted(len(board.rows), 'system')} on {counted(board.images, 'image')}",
        board.version,
        {
            "Systems": f"{len(board.rows):,}",
            "Images": f"{board.images:,}",
            "Ranked by": board.metrics[board.rank_by].label,
            "Test": TEST,
        },
        sections(board),
        reading=READING,
    )


READING = [
    "Before a score stand its [ranks](explanation/intervals/#ranks): systems that no test separates share them.",
    "Below it stands its [interval](explanation/intervals/).",
]
TEST = "paired exact sign-flip permutation test, Holm over all pairs of a metric"


def sections(board: Board, prefix: str = "") -> list[Section]:
    """What a page says of a board; `prefix` is that of the sections' ids, where there are several boards."""
    leader = board.metrics[board.rank_by].label
    keys = [("key first", "better than the column's"), ("key second", "worse"), ("", "= not separated")]
    return [
        Section(
            f"{prefix}systems",
            "Ranks",
            table=replace(ranks_table(board, Figures()), notes=notes(board)),
            kind="systems",
        ),
        Section(
            f"{prefix}intervals",
            "Scores with their intervals",
            pictures=[(board.metrics[key].label, _strips(board, key)) for key in board.metrics],
        ),
        Section(
            f"{prefix}pairs", f"Who is better than whom by {leader}", keys, separated_table(board), kind="pairs signs"
        ),
        Section(f"{prefix}metrics", "What the scores are", table=metrics_table(board), kind="metrics"),
    ]


def _strips(board: Board, key: str) -> str:
    """The scores of all systems by a metric with their intervals."""
    is_by_team = len({row.team for row in board.rows}) == len(board.rows)
    scores = [(row.team if is_by_team else row.system, row.scores[key]) for row in board.rows]
    rows = [Strip(system, score.value, score.interval) for system, score in scores if score.value is not None]
    return strips(rows, board.metrics[key].label)
