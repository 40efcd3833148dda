"""A result as one self-contained HTML page: it needs no network, and no other file unless there are many photos.

The page is assembled from the files in `templates/`: `page.html` around the parts of each kind of page. Captions come
from anywhere, so the page does not trust them: they are JSON that cannot end its element, the scripts set them only as
text, and the content security policy lets nothing run but the page's own script, which it names by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import PathLike
from sacrecap.report.bundle import bundle
from sacrecap.report.photos import Images, Photos, photos_of
from sacrecap.report.score_page import page_data

if TYPE_CHECKING:
    from sacrecap.scoring.result import Result


def write_report(result: Result, path: PathLike, *, title: str, images: Images | None = None) -> None:
    """Writes the page, whole or not at all.

    Args:
        result: the result of [`sacrecap.score`][].
        path: the file to write.
        title: the heading of the page, as text.
        images: where the images are, as [`sacrecap.data.images.ImageSource.open`][] takes it: the page then shows them.
            If they are too many to be inside it, they are written into a folder next to it.

    Raises:
        DataError: it cannot be written, or no image has a file.
        MissingDependencyError: Pillow, which images need, is not installed.
        UsageError: `images` is not a source of images.
    """
    with atomic_write(path) as file:
        file.write(_render(result, title, images, path))


def render_html(result: Result, *, title: str, images: Images | None = None) -> str:
    """The page, with all photos inside. The same result, title and images give the same text."""
    return _render(result, title, images, None)


def _render(result: Result, title: str, images: Images | None, path: PathLike | None) -> str:
    data, photos = page_data(result), None
    if images is not None:
        photos = photos_of(images, [image["id"] for image in data["images"]], path)
        data["photos"] = photos.page
    return assemble(
        "report",
        ["report.css"],
        data,
        kind="Caption evaluation report",
        title=title,
        version=result.version,
        photos=photos,
    )


def assemble(
    main: str, styles: Sequence[str], data: object, *, kind: str, title: str, version: str, photos: Photos | None = None
) -> str:
    """A page with the data, from `main.html`, `main.js` with its imports, and the styles.

    `kind` says what the page is about.
    """
    style = "\n".join(map(_template, styles))
    script = bundle(main, lambda module: _template(f"{module}.js"))
    return Template(_template("page.html")).substitute(
        main=_template(f"{main}.html"),
        kind=kind,
        title=html.escape(_unicode(title)),
        version=html.escape(version),
        policy=_policy(style, script, photos.policy if photos else "data:"),
        loads=html.escape(_unicode(photos.loads if photos else "it loads nothing")),
        style=style,
        script=script,
        data=_embedded(data),
    )


def _template(name: str) -> str:
    return (files("sacrecap.report") / "templates" / name).read_text(encoding="utf-8")


def _unicode(text: str) -> str:
    """The text without the lone surrogates that Python uses for a file name that is not UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _policy(style: str, script: str, photos: str) -> str:
    """The policy: only photos are loaded, only this style and this script are applied, text cannot become markup."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            f"img-src {photos}",
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
