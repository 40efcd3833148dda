"""The base of all tables, and times in UTC."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from sqlalchemy import DateTime, Dialect, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, mapped_column


class UtcDateTime(TypeDecorator[dt.datetime]):
    """A time in UTC, stored and read as such: SQLite alone would drop the time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: dt.datetime | None, _: Dialect) -> dt.datetime | None:
        return None if value is None else value.astimezone(dt.timezone.utc)

    def process_result_value(self, value: dt.datetime | None, _: Dialect) -> dt.datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=dt.timezone.utc) if value.tzinfo is None else value.astimezone(dt.timezone.utc)


def now() -> dt.datetime:
    """The current time, in UTC."""
    return dt.datetime.now(dt.timezone.utc)


class Base(DeclarativeBase):
    """The tables' common base."""

    type_annotation_map = {dt.datetime: UtcDateTime()}  # noqa: RUF012


Id = Annotated[int, mapped_column(primary_key=True)]
Created = Annotated[dt.datetime, mapped_column(default=now)]
