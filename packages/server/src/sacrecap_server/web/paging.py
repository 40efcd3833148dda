"""Long lists, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query

A_PAGE = 50
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]


@dataclass(frozen=True)
class PageOfRows:
    """Some rows of a list, and where they are in it."""

    rows: list[Any]
    number: int
    pages: int
    count: int
    """Rows in all."""

    @classmethod
    def of(cls, rows: list[Any], number: int) -> PageOfRows:
        """A page of rows that are all there."""
        pages = max(1, -(-len(rows) // A_PAGE))
        number = min(number, pages)
        return cls(rows[(number - 1) * A_PAGE : number * A_PAGE], number, pages, len(rows))
