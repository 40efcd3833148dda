"""How templates write numbers and times."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache

from markupsafe import Markup

from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.printing.markup import interval_plot
from sacrecap_server.web.markdown import markdown


def score(value: float | None) -> str:
    """Four decimals, as the field prints scores."""
    return "–" if value is None else f"{value:.4f}"


def moment(value: dt.datetime | None) -> Markup:
    """A time to the minute, in UTC, that does not break over lines."""
    text = "–" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"
    return Markup("<time>{}</time>").format(text)


def field(value: dt.datetime | None) -> str:
    """A time as a `datetime-local` input takes it."""
    return "" if value is None else f"{value:%Y-%m-%dT%H:%M}"


def size(value: int) -> str:
    """Bytes, in the unit that suits."""
    if value < 1024:
        return f"{value} bytes"
    return f"{value / 1024:.0f} KiB" if value < 2**20 else f"{value / 2**20:.1f} MiB"


def count(value: int) -> str:
    """A whole number with thousands apart."""
    return f"{value:,}"


def link(contact: str) -> str:
    """A contact as a link's target: an address of a page stays, an e-mail address is written to."""
    return contact if contact.startswith(("https://", "http://")) else f"mailto:{contact}"


@lru_cache(maxsize=512)
def label(metric: str) -> str:
    """A metric's name as the field writes it: CIDEr-D for `cider-d`."""
    return parse_metrics(metric)[0].label


@lru_cache(maxsize=512)
def labels(metrics: str) -> str:
    """The names of a benchmark's metrics, which are given as `sacrecap score` takes them."""
    return ", ".join(metric.label for metric in parse_metrics(metrics))


def interval(value: float, lower: float, upper: float, scale: tuple[float, float]) -> Markup:
    """A score on its interval, on a scale that the rows of a table share."""
    return Markup(interval_plot(value, lower, upper, *scale, f"{lower:.4f} to {upper:.4f}"))  # noqa: S704  (numbers)


def difference(value: float, lower: float, upper: float) -> Markup:
    """A difference on its interval, on a scale of its own with no difference in the middle."""
    reach = max(abs(lower), abs(upper), abs(value)) or 1.0
    return Markup(interval_plot(value, lower, upper, -reach, reach, f"{lower:+.4f} to {upper:+.4f}"))  # noqa: S704


FILTERS = {
    "label": label,
    "labels": labels,
    "score": score,
    "moment": moment,
    "field": field,
    "link": link,
    "size": size,
    "count": count,
    "markdown": markdown,
}
