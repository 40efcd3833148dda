"""Boards: what a contest tells of systems that were scored on hidden references."""

from sacrecap.boards.contest import Contest, in_folder
from sacrecap.boards.leaks import CaptionLimits
from sacrecap.boards.scored import Board, BoardRow, ToldPair, ToldScore, board
from sacrecap.boards.standing import Standing

__all__ = ["Board", "BoardRow", "CaptionLimits", "Contest", "Standing", "ToldPair", "ToldScore", "board", "in_folder"]
