"""Long lists, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import func, select
from sqlalchemy.orm import Session

A_PAGE = 50
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
Sought = Annotated[str, Query(max_length=200)]


@dataclass(frozen=True)
class PageOfRows:
    """Some rows of a list, and where they are in it."""

    rows: list[Any]
    number: int
    pages: int
    count: int
    """Rows in all."""
    sought: str = ""
    """What the list was searched for."""

    @classmethod
    def of(cls, rows: list[Any], number: int) -> PageOfRows:
        """A page of rows that are all there."""
        pages = max(1, -(-len(rows) // A_PAGE))
        number = min(number, pages)
        return cls(rows[(number - 1) * A_PAGE : number * A_PAGE], number, pages, len(rows))


def page_of(session: Session, query: Any, number: int, sought: str = "") -> PageOfRows:
    """A page of the rows of a query (a `Select` of any columns); the last one where there are not so many."""
    count = session.execute(select(func.count()).select_from(query.order_by(None).subquery())).scalar_one()
    pages = max(1, -(-count // A_PAGE))
    number = min(number, pages)
    rows = session.execute(query.limit(A_PAGE).offset((number - 1) * A_PAGE)).all()
    return PageOfRows(list(rows), number, pages, count, sought)
