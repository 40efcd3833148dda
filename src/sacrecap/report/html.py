"""A result as one self-contained HTML page: it needs no network, and no other file unless there are many photos.

The page is one frame, one style, the sections and their tables, and the scripts of the blocks that answer the reader,
from the files in `templates/`. Captions come from anywhere, so the page does not trust them: they are compressed JSON,
which the scripts set only as text, and the content security policy lets nothing run but the page's own script, which it
names by its hash. Nothing becomes markup but what Python drew.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib import import_module
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any, TypeAlias

from sacrecap.data.source import PathLike
from sacrecap.data.writers import atomic_write
from sacrecap.report.explanation_pictures import STYLE
from sacrecap.report.photos import Images, Photos, photos_of
from sacrecap.report.printing import markup
from sacrecap.report.printing.table import one_line, percent

if TYPE_CHECKING:
    from sacrecap.boards.contest_board import ContestBoard
    from sacrecap.boards.scored import Board
    from sacrecap.data.objects import Located
    from sacrecap.judgments.agreement_result import Agreement
    from sacrecap.judgments.calibration.estimates import Calibration
    from sacrecap.judgments.meta import Meta
    from sacrecap.report.printing.table import Table
    from sacrecap.scoring.comparison import Comparison
    from sacrecap.scoring.diversity_result import Diversity
    from sacrecap.scoring.result import Result

    Reported: TypeAlias = Result | Comparison | Diversity | Agreement | Board | ContestBoard | Meta | Calibration

_NO_SCRIPT = '<noscript><p class="note">This page needs JavaScript to show images and pictures.</p></noscript>'
_PAGES = {
    "Agreement": ("agreement_report", "page", "agreement", "Agreement of metrics with people"),
    "Board": ("board_report", "page", "", "Board"),
    "Calibration": ("calibration_report", "page", "", "Calibration"),
    "Comparison": ("comparison_page", "page", "comparison", "Comparison of captioning systems"),
    "ContestBoard": ("board_report", "contest_page", "", "Contest"),
    "Diversity": ("diversity_page", "page", "diversity", "Diversity of caption sets"),
    "Meta": ("meta_report", "page", "", "Meta-evaluation"),
    "Result": ("score_page", "page", "score", "Caption evaluation report"),
}
"""The page of each type of result: the module beside this one and its function there that describe it; the script in
`templates/` that adds the blocks that answer the reader, if it needs one; what stands above its title.
"""


@dataclass(frozen=True)
class Section:
    """A part of a page: its heading, its table, and the place of the blocks that scripts add."""

    id: str
    heading: str
    legend: Sequence[tuple[str, str]] = ()
    """What stands beside the heading: pieces of text, each after the class of its look."""
    table: Table | None = None
    """Its notes stand below it."""
    drawn: str = ""
    """HTML of its pictures."""
    notes: Sequence[str] = ()
    """Remarks above the blocks that scripts add."""
    kind: str = ""
    """The class of its table; its id by default."""
    folded: bool = False
    """Whether it is seen when it is asked for."""


@dataclass(frozen=True)
class ReportPage:
    """What a page says."""

    title: str
    """The heading, unless the caller gives one."""
    version: str
    """That of sacrecap."""
    facts: Mapping[str, str]
    """What was scored and how, below the title."""
    sections: Sequence[Section]
    """The last is that of the images."""
    data: Any = None
    """What the scripts read, without photos."""
    reading: Sequence[str] = ()
    """How to read the page, in three lines at most, with links into the documentation as Markdown has them."""
    doubts: Sequence[str] = ()
    """What was left out, and what was found that makes scores doubtful: in colour, before everything else."""
    drawings: Mapping[int, str] = field(default_factory=dict)
    """HTML that scripts show with the image of this number."""
    located: Sequence[Sequence[Located]] = ()
    """The objects that scripts show on the photos of the images, of each in their order."""
    tabs: Mapping[str, Sequence[Section]] = field(default_factory=dict)
    """Above the sections, those of which one tab is seen at a time."""


def write_report(
    result: Reported,
    path: PathLike,
    *,
    title: str | None = None,
    images: Images | None = None,
    draw: Sequence[str] = (),
) -> None:
    """Writes the page of a result, whole or not at all.

    Args:
        result: of [`sacrecap.score`][], [`sacrecap.compare`][], [`sacrecap.diversity`][],
            [`sacrecap.judgments.agreement`][], [`sacrecap.judgments.meta`][], [`sacrecap.judgments.calibrate`][] or
            [`sacrecap.boards.board`][].
        path: the file to write.
        title: the heading of the page, as text; by default it names the systems or the data set.
        images: where the images are, as [`sacrecap.data.images.ImageSource.open`][] takes it: the page then shows them.
            If they are too many to be inside it, they are written into a folder next to it.
        draw: of caption sets, ids of images whose similarities, positions and topics are always on the page.

    Raises:
        DataError: it cannot be written, or no image has a file.
        MissingDependencyError: Pillow, which images need, is not installed.
        UsageError: `images` is not a source of images, or an image without caption sets is to be drawn.
    """
    with atomic_write(path) as file:
        file.write(_render(result, title, images, draw, path))


def render_html(
    result: Reported, *, title: str | None = None, images: Images | None = None, draw: Sequence[str] = ()
) -> str:
    """The page, with all photos inside. The same arguments give the same text."""
    return _render(result, title, images, draw, None)


def _render(
    result: Reported, title: str | None, images: Images | None, draw: Sequence[str], path: PathLike | None
) -> str:
    names = (kind.__name__ for kind in type(result).__mro__)
    module, function, script_name, kind = next(_PAGES[name] for name in names if name in _PAGES)
    describe: Callable[..., ReportPage] = getattr(import_module(f"sacrecap.report.{module}"), function)
    page = describe(result, draw)
    photos, boxes, sections = Photos(), {}, [*page.sections]
    if images is not None:
        entries = page.data["images"] if page.data else []
        photos = photos_of(images, [image["id"] for image in entries], path)
        for image, address in zip(entries, photos.addresses, strict=True):
            image["photo"] = address
        from sacrecap.report.pictures import svg

        if photos.notes:
            sections[-1] = replace(sections[-1], notes=[*sections[-1].notes, *photos.notes])
        sized = enumerate(zip(photos.sizes, page.located, strict=False))  # most pages are not about objects
        boxes = {at: svg.boxes(size, located) for at, (size, located) in sized if size and located}
    facts = dict(page.facts)
    if resampling := getattr(result, "resampling", None):  # a calibration draws no samples
        level, method = resampling.interval, resampling.interval_method
        how = "jackknife" if method == "jackknife" else "bootstrap"
        facts["Intervals"] = "none" if level is None else f"{percent(level)}, {how} over images"
    facts["sacrecap"] = page.version
    reading = (
        re.sub(r"\[(.*?)\]\((.*?)\)", lambda match: markup.link(match[1], match[2]), escape(line))
        for line in page.reading
    )
    style = _template("page.css") + STYLE
    # The module of all pages and that of this one are one script: a page may load nothing.
    modules = ("common", script_name) if script_name else ()
    script = "".join(_MODULE.sub("", _template(f"{name}.js")) for name in modules)
    style_digest, script_digest = (
        base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)
    )
    data = ""
    if page.data:  # compressed JSON, as text without any sign of markup: captions come from anywhere
        document = {**page.data, "drawings": page.drawings, "boxes": boxes}
        data = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = base64.b64encode(gzip.compress(data.encode("utf-8", "replace"), 6, mtime=0)).decode()
    text = Template(_template("page.html")).substitute(
        kind=kind,
        title=escape(page.title if title is None else title),
        version=escape(page.version),
        # Only photos are loaded, only this style and this script are applied, only drawings become markup.
        policy=f"default-src 'none'; style-src 'sha256-{style_digest}'; script-src 'sha256-{script_digest}'; img-src "
        f"{photos.policy}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types drawings",
        loads=escape(photos.loads),
        doubts=_listed("doubts", "What to know before the scores", map(escape, filter(None, page.doubts))),
        reading=_listed("reading", "How to read this", reading),
        facts="".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items()),
        sections=_tabs(page.tabs) + "".join(map(_section, sections)),
        noscript=_NO_SCRIPT if script else "",
        style=style,
        script=script,
        data=data,
    )
    # Without the lone surrogates that Python uses for a file name that is not UTF-8.
    return text.encode("utf-8", "replace").decode()


def _listed(id_: str, label: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f'<ul id="{id_}" aria-label="{label}">{items}</ul>' if items else ""


def _tabs(tabs: Mapping[str, Sequence[Section]]) -> str:
    """Each tab's name as a button of a group of which one is chosen, before what it shows: without a script."""
    parts = "".join(
        f'<input type="radio" name="tab" id="tab-{number}"{" checked" if number == 0 else ""}>'
        f'<label for="tab-{number}">{escape(name)}</label><div class="panel">{"".join(map(_section, sections))}</div>'
        for number, (name, sections) in enumerate(tabs.items())
    )
    return f'<div class="tabs" role="group" aria-label="Sets of references">{parts}</div>' if parts else ""


def _section(section: Section) -> str:
    name = f"{section.id}-heading"
    pieces = "".join(f'<span class="{kind}">{escape(text)}</span>' for kind, text in section.legend)
    legend = f'<p class="legend">{pieces}</p>' if pieces else ""
    table = ""
    if section.table:  # it scrolls by itself where it is wider than the page, with the arrow keys too
        lines = escape("\n".join(map(one_line, section.table.signatures)))
        table = (
            f'<div class="wide-table" tabindex="0" role="group" aria-labelledby="{name}">'
            f"{markup.html_table(section.table, section.kind or section.id)}</div>"
            f"{_paragraphs('legend', section.table.notes)}"
            + (f'<div class="signatures"><pre>{lines}</pre></div>' if lines else "")
        )
    head = f'<h2 id="{name}">{section.heading}</h2>'
    content = (
        f'<div class="section-head">{"" if section.folded else head}{legend}</div>{table}'
        f"{_paragraphs('note', section.notes)}{section.drawn}"
    )
    if section.folded:
        content = f"<details><summary>{head}</summary>{content}</details>"
    return f'<section id="{section.id}" aria-labelledby="{name}" tabindex="-1">{content}</section>'


def _paragraphs(kind: str, texts: Sequence[str]) -> str:
    return "".join(f'<p class="{kind}">{escape(text)}</p>' for text in texts if text)


def _template(name: str) -> str:
    return (files("sacrecap.report") / "templates" / name).read_text(encoding="utf-8")


_MODULE = re.compile(r"^import [^;]*;\n|^export |^ */\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)
"""What joins the modules, and the comments that declare types."""
