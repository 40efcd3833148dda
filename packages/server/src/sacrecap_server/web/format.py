"""Templates, and how they write numbers, times and contacts."""

from __future__ import annotations

import datetime as dt
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup


def moment(value: dt.datetime | None) -> Markup:
    """A time to the minute, in UTC, that does not break over lines."""
    text = "–" if value is None else f"{value.astimezone(dt.timezone.utc):%Y-%m-%d %H:%M} UTC"
    return Markup("<time>{}</time>").format(text)


def count(value: int) -> str:
    """A whole number with thousands apart."""
    return f"{value:,}"


def link(contact: str) -> str:
    """A contact as a link's target: an address of a page stays, an e-mail address is written to."""
    return contact if contact.startswith(("https://", "http://")) else f"mailto:{contact}"


@cache
def templates(folder: Path) -> Environment:
    """The templates of a folder. They depend on no setting: the servers of one process share them, compiled once."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(moment=moment, link=link, count=count)
    return environment
