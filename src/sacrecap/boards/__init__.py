"""Boards: what a contest tells of systems that were scored on hidden references."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap.boards.contest import Contest, in_folder
    from sacrecap.boards.leaks import CaptionLimits
    from sacrecap.boards.scored import Board, BoardRow, ToldPair, ToldScore, board
    from sacrecap.boards.standing import Standing

__all__ = ["Board", "BoardRow", "CaptionLimits", "Contest", "Standing", "ToldPair", "ToldScore", "board", "in_folder"]
__dir__ = __all__.copy

_HOME = {"CaptionLimits": "leaks", "Contest": "contest", "Standing": "standing", "in_folder": "contest"}


def __getattr__(name: str) -> Any:
    """Names load on first use: the server's children need the rules about leaks, and nothing else, at once."""
    if name not in __all__:
        raise AttributeError(f"module 'sacrecap.boards' has no attribute {name!r}")
    return getattr(import_module(f"sacrecap.boards.{_HOME.get(name, 'scored')}"), name)
