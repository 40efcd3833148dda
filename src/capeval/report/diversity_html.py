"""Scores of caption sets as one HTML page that needs nothing else, assembled as the report of one system is.

Several captions an image by several systems make a large document: the page carries it compressed.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from capeval.data.atomic import atomic_write
from capeval.report.diversity_page import diversity_page
from capeval.report.html import assemble

if TYPE_CHECKING:
    from capeval.scoring.diversity_result import Diversity

_STYLES = ("report.css", "diversity.css")
_SCRIPTS = (
    "dom.js",
    "paged.js",
    "set_figures.js",
    "marks.js",
    "plot.js",
    "set_plots.js",
    "set_image.js",
    "set_table.js",
    "diversity.js",
)
"""In the order in which they use one another; they are one script on the page."""


def write_diversity_report(
    result: Diversity, path: str | PathLike[str], *, title: str | None = None, images: Sequence[str] = ()
) -> None:
    """Writes the page, whole or not at all.

    Args:
        result: what [`capeval.diversity`][] gave.
        path: where to.
        title: the systems' names by default.
        images: ids of images whose similarities, places and topics are on the page in any case.

    Raises:
        DataError: it cannot be written.
        UsageError: an image without caption sets is asked for.
    """
    page = render_diversity_html(result, title=title, images=images)
    with atomic_write(path) as file:
        file.write(page)


def render_diversity_html(result: Diversity, *, title: str | None = None, images: Sequence[str] = ()) -> str:
    """The page. The same result, title and images give the same text."""
    return assemble(
        "diversity.html",
        _STYLES,
        _SCRIPTS,
        {"gzip": _compressed(diversity_page(result, images))},
        kind="Diversity of caption sets",
        title=title or _title(result),
        version=result.version,
    )


def _title(result: Diversity) -> str:
    names = list(result)
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _compressed(document: object) -> str:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), mtime=0)).decode()
