"""Boards: what a contest tells of systems that were scored on hidden references."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap.boards.contest_board import ContestBoard
    from sacrecap.boards.contest_folder import SUFFIXES, Contest, Quota, Submission, Submissions
    from sacrecap.boards.examination import CaptionLimits
    from sacrecap.boards.scored import Board, BoardRow, Standing, ToldPair, ToldScore, board

__all__ = [
    "SUFFIXES",
    "Board",
    "BoardRow",
    "CaptionLimits",
    "Contest",
    "ContestBoard",
    "Quota",
    "Standing",
    "Submission",
    "Submissions",
    "ToldPair",
    "ToldScore",
    "board",
]
__dir__ = __all__.copy

_HOME = {
    "CaptionLimits": "examination",
    "ContestBoard": "contest_board",
    **dict.fromkeys(("SUFFIXES", "Contest", "Quota", "Submission", "Submissions"), "contest_folder"),
}


def __getattr__(name: str) -> Any:
    """Names load on first use: who takes submissions needs the declaration, and no metrics, at once."""
    if name not in __all__:
        raise AttributeError(f"module 'sacrecap.boards' has no attribute {name!r}")
    return getattr(import_module(f"sacrecap.boards.{_HOME.get(name, 'scored')}"), name)
