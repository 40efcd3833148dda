"""What children of the door compute: it is all in `sacrecap.boards`, so that a board by hand has the same numbers."""

from __future__ import annotations

from typing import Any

from sacrecap.boards import Contest


def check(header: dict[str, Any], _: list[bytes]) -> None:
    """Refuses a contest of which no board can be made."""
    Contest.load(header["folder"]).check()


def problems(header: dict[str, Any], files: list[bytes]) -> list[str]:
    """Everything that is wrong with a file."""
    return Contest.load(header["folder"]).problems(files[0])


def scores_told(header: dict[str, Any], files: list[bytes]) -> dict[str, Any]:
    """What its team may know of a file now."""
    return Contest.load(header["folder"]).told(files[0])


def board(header: dict[str, Any], _: list[bytes]) -> None:
    """Writes the pages of the board."""
    Contest.load(header["folder"]).board().write(header["site"])
