"""A result as one HTML page that needs nothing else: no network, no other file.

The page is assembled from the files in `templates/`: `page.html` around what is its own. Captions come from anywhere,
so the page trusts none of them: they travel as JSON that cannot end its element, the scripts set them as text only, and
the content security policy lets nothing run but the page's own script, which it names by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from os import PathLike
from string import Template
from typing import TYPE_CHECKING

from capeval.data.atomic import atomic_write
from capeval.report.page import page_data

if TYPE_CHECKING:
    from capeval.scoring.result import Result

_SCRIPTS = (
    "dom.js",
    "paged.js",
    "alignment.js",
    "flow.js",
    "details.js",
    "scores.js",
    "extremes.js",
    "histograms.js",
    "table.js",
    "report.js",
)
"""In the order in which they use one another; they are one script on the page."""


def write_report(result: Result, path: str | PathLike[str], *, title: str) -> None:
    """Writes the page, whole or not at all. Raises `DataError` where it cannot be written."""
    page = render_html(result, title=title)
    with atomic_write(path) as file:
        file.write(page)


def render_html(result: Result, *, title: str) -> str:
    """The page. The same result and title give the same text."""
    kind, data = "Caption evaluation report", page_data(result)
    return assemble("report.html", ["report.css"], _SCRIPTS, data, kind=kind, title=title, version=result.version)


def assemble(
    main: str, styles: Sequence[str], scripts: Sequence[str], data: object, *, kind: str, title: str, version: str
) -> str:
    """A page from the templates of these names, which carries the data; `kind` says what it is about."""
    style, script = ("\n".join(map(_template, names)) for names in (styles, scripts))
    return Template(_template("page.html")).substitute(
        main=_template(main),
        kind=kind,
        title=html.escape(_unicode(title)),
        version=html.escape(version),
        policy=_policy(style, script),
        style=style,
        script=script,
        data=_embedded(data),
    )


def _template(name: str) -> str:
    return (files("capeval.report") / "templates" / name).read_text(encoding="utf-8")


def _unicode(text: str) -> str:
    """The text without the lone surrogates by which Python carries a file name that is not UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _policy(style: str, script: str) -> str:
    """Nothing is loaded, and only this style and this script are applied; text cannot become markup."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _embedded(document: object) -> str:
    """JSON for a `<script>` element: no `<` that could open or close a tag, no line separator."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in ("<", "\u2028", "\u2029"):
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
