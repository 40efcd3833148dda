"""Scores of caption sets as one self-contained HTML page, assembled like the report of one system.

Several captions per image by several systems make a large document: the page carries it compressed.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sacrecap.data.atomic import atomic_write
from sacrecap.data.images import ImageSource
from sacrecap.data.source import PathLike
from sacrecap.errors import warn
from sacrecap.report.diversity_page import diversity_page
from sacrecap.report.html import assemble
from sacrecap.report.photos import Images, photos_of

if TYPE_CHECKING:
    from sacrecap.scoring.diversity_result import Diversity


def write_diversity_report(
    result: Diversity,
    path: PathLike,
    *,
    title: str | None = None,
    draw: Sequence[str] = (),
    images: Images | Sequence[str] | None = None,
) -> None:
    """Writes the page, whole or not at all.

    Args:
        result: the result of [`sacrecap.diversity`][].
        path: the file to write.
        title: the systems' names by default.
        draw: ids of images whose similarities, positions and topics are always on the page.
        images: where the images are, as [`sacrecap.report.html.write_report`][] takes it. (A list of ids now belongs in
            `draw`.)

    Raises:
        DataError: it cannot be written, or no image has a file.
        MissingDependencyError: Pillow, which images need, is not installed.
        UsageError: an image without caption sets is asked for, or `images` is not a source of images.
    """
    with atomic_write(path) as file:
        file.write(_render(result, title, draw, images, path))


def render_diversity_html(
    result: Diversity,
    *,
    title: str | None = None,
    draw: Sequence[str] = (),
    images: Images | Sequence[str] | None = None,
) -> str:
    """The page, with all photos inside. The same result, title, `draw` and images give the same text."""
    return _render(result, title, draw, images, None)


def _render(
    result: Diversity,
    title: str | None,
    draw: Sequence[str],
    images: Images | Sequence[str] | None,
    path: PathLike | None,
) -> str:
    if images is None or isinstance(images, str | os.PathLike | Mapping | ImageSource):
        source = images
    else:
        warn("images=[…] of a report of caption sets is now called draw=[…]; images= says where the photos are")
        source, draw = None, images
    data, photos = diversity_page(result, draw), None
    if source is not None:
        photos = photos_of(source, [image["id"] for image in data["images"]], path)
        data["photos"] = photos.page
    return assemble(
        "diversity",
        ["report.css", "diversity.css"],
        {"gzip": _compressed(data)},
        kind="Diversity of caption sets",
        title=title or _title(result),
        version=result.version,
        photos=photos,
    )


def _title(result: Diversity) -> str:
    names = list(result)
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _compressed(document: object) -> str:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), mtime=0)).decode()
