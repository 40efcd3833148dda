"""The page of a contest: a tab for each set of references, and what its host declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sacrecap.report.board_formats import set_title
from sacrecap.report.board_page import READING, TEST, sections
from sacrecap.report.html import ReportPage, Section

if TYPE_CHECKING:
    import datetime as dt

    from sacrecap.boards.contest_board import ContestBoard

_PARTS = {
    "all": "all",
    "public": "the public part; scores of the private one follow after the end",
    "private": "the private part",
}


def page(contest_board: ContestBoard, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a contest."""
    contest, board = contest_board.contest, contest_board.first
    facts: dict[str, str | None] = {
        "Host": contest.host,
        "Starts": _when(contest.starts),
        "Ends": _when(contest.ends),
        "Systems": f"{len(board.rows):,}",
        "Images": f"{board.images:,} ({_PARTS[contest_board.part]})" if contest.private else f"{board.images:,}",
        "Ranked by": board.metrics[board.rank_by].label
        + (f", {next(iter(contest_board.sets))}" if len(contest_board.sets) > 1 else ""),
        "Test": TEST,
    }
    several: Mapping[str, Sequence[Section]] = {
        set_title(contest_board, name): sections(part, f"set-{number}-")
        for number, (name, part) in enumerate(contest_board.sets.items())
    }
    alone = len(several) == 1
    return ReportPage(
        "",
        "Contest",
        contest.title,
        board.version,
        {name: text for name, text in facts.items() if text},
        [*(next(iter(several.values())) if alone else ()), *_about(contest_board)],
        reading=READING,
        tabs={} if alone else several,
    )


def _when(time: dt.datetime | None) -> str | None:
    return None if time is None else f"{time:%Y-%m-%d %H:%M} {time.tzname()}"


def _about(board: ContestBoard) -> list[Section]:
    """The rules, and what makes the board checkable."""
    contest = board.contest
    lines = []
    if contest.rules:
        lines.append(Section("rules", "Rules", notes=[text.strip() for text in contest.rules.split("\n\n")]))
    remarks = [f"Not read: {what}" for what in board.left_out]
    if contest.private:
        remarks.insert(
            0,
            f"{contest.private} % of the images are private. The list of their ids has the SHA-256 "
            f"{contest.private_part.checksum}"
            + ("; it is private.json beside this page." if board.part == "private" else ", and is told after the end."),
        )
    return [*lines, *([Section("about", "About this board", notes=remarks)] if remarks else [])]
