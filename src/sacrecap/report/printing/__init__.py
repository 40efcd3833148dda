"""Printing: a result gives its tables as values, and each format has one renderer.

    table      `terminal`: rich, cut and folded to the terminal's width
    csv        `separated`: in full precision
    markdown   `markdown`
    latex      `latex`: booktabs
    notebook   `markup`: HTML, which notebooks request from results, and the tables of reports

JSON is each result's own document.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sacrecap.choices import FORMATS
from sacrecap.errors import accepted_name
from sacrecap.report.printing import latex, markdown, separated
from sacrecap.report.printing.table import Figures, Records, Table


@dataclass(frozen=True)
class Views:
    """The tables of a kind of result. JSON is the result's own document.

    Each takes the result; `tables` and `in_terminal` also how scores are written.
    """

    records: Callable[[Any], Records]
    """Content of CSV: every number in full precision."""
    tables: Callable[[Any, Figures], Sequence[Table]]
    """Tables for papers: Markdown and LaTeX."""
    in_terminal: Callable[[Any, Figures], Sequence[Table]] | None = None
    """Content for the terminal; the tables for papers by default."""
    papers: bool = True
    """Whether papers print the scores times 100, so that LaTeX does by default."""

    def render(
        self,
        result: Any,
        format_: str,
        *,
        figures: Figures | None = None,
        colour: bool = False,
        width: int | None = None,
    ) -> str:
        """The result as text in one of `FORMATS`, or as HTML for a `notebook`.

        Args:
            result: of the kind of these views.
            format_: the name of the format.
            figures: how scores are written; the format's own way by default.
            colour: whether the format `table` is in colour.
            width: of the terminal, in cells, to which the format `table` is fitted; None for lines of any length.

        Raises `UsageError` for an unknown format.
        """
        if format_ != "notebook":
            accepted_name("the format", format_, FORMATS)
        if format_ == "json":
            return json_text(result.to_dict())
        if format_ == "csv":
            return separated.render(*self.records(result))
        figures = figures or Figures.of(format_, papers=self.papers)
        if format_ in ("markdown", "latex"):
            render = latex.render if format_ == "latex" else markdown.render
            return "\n\n".join(map(render, self.tables(result, figures)))
        tables = (self.in_terminal or self.tables)(result, figures)
        from sacrecap.report.printing import markup, terminal

        return markup.render(tables) if format_ == "notebook" else terminal.render(tables, colour=colour, width=width)


def json_text(document: Mapping[str, Any]) -> str:
    """The document as JSON, one value per line."""
    return json.dumps(document, ensure_ascii=False, indent=1)
