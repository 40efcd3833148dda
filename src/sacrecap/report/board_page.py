"""The pages of a board (ranks, scores with their intervals, who is better than whom) and of a contest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.report.board_formats import metrics_table, notes, ranks_table, separated_table, set_title
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.svg import Strip, strips, titled
from sacrecap.report.printing.table import Figures
from sacrecap.scoring.result import counted

if TYPE_CHECKING:
    import datetime as dt

    from sacrecap.boards.contest_board import ContestBoard
    from sacrecap.boards.scored import Board

_READING = [
    "Before a score stand its [ranks](explanation/intervals/#ranks): systems that no test separates share them.",
    "Below it stands its [interval](explanation/intervals/).",
]
_TEST = "paired exact sign-flip permutation test, Holm over all pairs of a metric"
_PARTS = {
    "all": "all",
    "public": "the public part; scores of the private one follow after the end",
    "private": "the private part",
}


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
            "Test": _TEST,
        },
        _sections(board),
        reading=_READING,
    )


def contest_page(contest_board: ContestBoard, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a contest: a tab for each set of references, and what its host declares."""
    contest, board = contest_board.contest, contest_board.first
    several = {
        set_title(contest_board, name): _sections(part, f"set-{number}-")
        for number, (name, part) in enumerate(contest_board.sets.items())
    }
    first, *rest = contest_board.sets
    facts = {
        "Host": contest.host,
        "Starts": _when(contest.starts),
        "Ends": _when(contest.ends),
        "Systems": f"{len(board.rows):,}",
        "Images": f"{board.images:,}" + (f" ({_PARTS[contest_board.part]})" if contest.private else ""),
        "Ranked by": board.metrics[board.rank_by].label + (f", {first}" if rest else ""),
        "Test": _TEST,
    }
    sections = [] if rest else next(iter(several.values()))
    if contest.rules:
        sections.append(Section("rules", "Rules", notes=[text.strip() for text in contest.rules.split("\n\n")]))
    remarks = [f"Not read: {what}" for what in contest_board.left_out]
    if contest.private:
        checksum = f"The list of their ids has the SHA-256 {contest.private_part.checksum}"
        is_public = contest_board.part != "private"
        where = ", and is told after the end" if is_public else "; it is private.json beside this page"
        remarks.insert(0, f"{contest.private} % of the images are private. {checksum}{where}.")
    if remarks:
        sections.append(Section("about", "About this board", notes=remarks))
    return ReportPage(
        "",
        "Contest",
        contest.title,
        board.version,
        {name: text for name, text in facts.items() if text},
        sections,
        reading=_READING,
        tabs=several if rest else {},
    )


def _when(time: dt.datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d %H:%M} {time.tzname()}"


def _sections(board: Board, prefix: str = "") -> list[Section]:
    """What a page says of a board; `prefix` is that of the sections' ids, where there are several boards."""
    keys = [("key first", "better than the column's"), ("key second", "worse"), ("", "= not separated")]
    is_by_team = len({row.team for row in board.rows}) == len(board.rows)
    pictures = []
    for key, metric in board.metrics.items():
        scores = [(row.team if is_by_team else row.system, row.scores[key]) for row in board.rows]
        rows = [Strip(name, score.value, score.interval) for name, score in scores if score.value is not None]
        pictures.append((metric.label, strips(rows, metric.label)))
    table = replace(ranks_table(board, Figures()), notes=notes(board))
    versus = f"Who is better than whom by {board.metrics[board.rank_by].label}"
    return [
        Section(f"{prefix}systems", "Ranks", table=table, kind="systems"),
        Section(f"{prefix}intervals", "Scores with their intervals", drawn=titled(pictures)),
        Section(f"{prefix}pairs", versus, keys, separated_table(board), kind="pairs signs"),
        Section(f"{prefix}metrics", "What the scores are", table=metrics_table(board), kind="metrics"),
    ]
