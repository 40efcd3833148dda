"""How templates write numbers, times, intervals, and Markdown of strangers, as HTML that does no harm."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.printing.markup import interval_plot


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


_TAGS = set(
    """
    a blockquote br code em h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul
""".split()
)
_parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"]).disable("image")


def _without_host_alone(_: str, __: str, value: str) -> str | None:
    """No `//host`, which would leave the server though it looks like one of its paths."""
    return None if value.replace("\\", "/").startswith("//") else value


@lru_cache(maxsize=256)
def markdown(text: str) -> Markup:
    """CommonMark with tables as HTML: no HTML of the author's, no images, links that search engines do not follow.

    Headings begin at the third level, below those of the page.
    """
    tokens = _parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
    html = _parser.renderer.render(tokens, _parser.options, {})
    return Markup(  # noqa: S704  (cleaned: the tags and attributes named here, and no others)
        nh3.clean(
            html,
            tags=_TAGS,
            attributes={"a": {"href"}},
            attribute_filter=_without_host_alone,
            url_schemes={"http", "https", "mailto"},
            link_rel="nofollow noopener",
        )
    )


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
