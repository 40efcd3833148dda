"""Printing: a result gives its tables as values, and each format has one renderer.

    table      `terminal`: rich, cut and folded to the terminal's width
    csv        `separated`: in full precision
    markdown   `markdown`
    latex      `latex`: booktabs
    notebook   `markup`: HTML, which notebooks request from results, and the tables of reports

JSON is each result's own document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sacrecap.choices import FORMATS
from sacrecap.errors import accepted_name

if TYPE_CHECKING:
    from sacrecap.report.printing.table import Table


@dataclass(frozen=True)
class Printed:
    """The parts of a result that the formats print. Computes only what the requested format needs."""

    document: Callable[[], Mapping[str, Any]]
    """Content of JSON."""
    records: Callable[[], Table]
    """Content of CSV: every number in full precision."""
    tables: Callable[[], Sequence[Table]]
    """Table for papers: Markdown and LaTeX."""
    shown: Callable[[], Sequence[Table]]
    """Content for the terminal."""

    def render(self, format_: str, *, colour: bool = False, width: int | None = None) -> str:
        """The result as text in one of `FORMATS`, or as HTML for a `notebook`.

        `colour` and `width` (in cells; None prints lines of any length) describe the terminal, and change only the
        format `table`. Raises `UsageError` for an unknown format.
        """
        if format_ == "notebook":
            from sacrecap.report.printing import markup

            return markup.render(self.shown())
        accepted_name("the format", format_, FORMATS)
        if format_ == "table":
            from sacrecap.report.printing import terminal

            return terminal.render(self.shown(), colour=colour, width=width)
        if format_ == "json":
            return json_text(self.document())
        if format_ == "csv":
            from sacrecap.report.printing import separated

            return separated.render(self.records())
        if format_ == "markdown":
            from sacrecap.report.printing import markdown

            return "\n\n".join(map(markdown.render, self.tables()))
        from sacrecap.report.printing import latex

        return "\n\n".join(map(latex.render, self.tables()))


def json_text(document: Mapping[str, Any]) -> str:
    """The document as JSON, one value per line."""
    import json

    return json.dumps(document, ensure_ascii=False, indent=1)
