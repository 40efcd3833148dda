"""Templates, how they write numbers, times and contacts, and the sheets, scripts and pictures beside them."""

from __future__ import annotations

import datetime as dt
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles


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


class _Sheets(StaticFiles):
    """Browsers ask each time whether what they have is still right."""

    def file_response(self, *file: Any, **how: Any) -> Response:
        response = super().file_response(*file, **how)
        response.headers["Cache-Control"] = "no-cache"
        return response


STATIC = Mount("/static", _Sheets(directory=Path(__file__).parents[1] / "static"))
