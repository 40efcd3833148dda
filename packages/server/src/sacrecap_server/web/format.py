"""How templates write numbers, times and contacts."""

from __future__ import annotations

import datetime as dt

from markupsafe import Markup


def moment(value: dt.datetime | None) -> Markup:
    """A time to the minute, in UTC, that does not break over lines."""
    text = "–" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"
    return Markup("<time>{}</time>").format(text)


def count(value: int) -> str:
    """A whole number with thousands apart."""
    return f"{value:,}"


def link(contact: str) -> str:
    """A contact as a link's target: an address of a page stays, an e-mail address is written to."""
    return contact if contact.startswith(("https://", "http://")) else f"mailto:{contact}"


FILTERS = {"moment": moment, "link": link, "count": count}
