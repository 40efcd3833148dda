"""Markdown that strangers wrote, as HTML that does no harm."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

_TAGS = set(
    """
    a blockquote br code em h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul
""".split()
)
_parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"]).disable("image")


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
            url_schemes={"http", "https", "mailto"},
            link_rel="nofollow noopener",
        )
    )
