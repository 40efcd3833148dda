"""Where a command's results go: printed, as a report, image by image."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from sacrecap.above import printed
from sacrecap.choices import FINDINGS
from sacrecap.cli import options
from sacrecap.cli.group import Value, declared
from sacrecap.cli.interruptible import stage
from sacrecap.errors import accepted_name

if TYPE_CHECKING:
    from sacrecap.report.printing.figures import Figures


FAILED = 3
"""The exit status of a check that failed."""


class Output:
    """What the options say about the output; each value is that of its option.

    `papers`: whether papers print the scores times 100, so that LaTeX does by default.
    """

    def __init__(
        self,
        *,
        format_: str,
        output: str = "-",
        report: str | None = None,
        title: str | None = None,
        per_image: str | None = None,
        baseline: str | None = None,
        percent: bool | None = None,
        digits: int | None = None,
        strict: frozenset[str] = frozenset(),
        papers: bool = True,
    ) -> None:
        self.format = format_
        self.strict = strict
        self.place = output
        self.report = report
        self.title = title
        self.per_image = per_image
        self.baseline = baseline
        self.figures: Figures | None = None
        """How scores are written, where that was asked for."""
        if percent is not None or digits is not None:
            from sacrecap.report.printing.figures import Figures

            self.figures = Figures.of(format_, percent, digits, papers=papers)

    @property
    def takes_rows(self) -> bool:
        """Whether scores of single images are written."""
        return any(place is not None for place in (self.per_image, self.report, self.baseline))

    def check(self, **other_places: str | None) -> None:
        """Raises, before anything is computed, if something cannot be written, here or by `other_places` (options)."""
        if self.per_image is not None:
            from sacrecap.report.per_image import check_suffix

            check_suffix(self.per_image)
        options.check_outputs(
            output=self.place, per_image=self.per_image, report=self.report, baseline=self.baseline, **other_places
        )

    def write_files(self, result: Any) -> None:
        """Writes the scores of each image, and the baseline, if they are wanted."""
        if self.per_image is not None:
            from sacrecap.report.per_image import write_per_image

            stage.text = "writing"
            write_per_image(result, self.per_image)
        if self.baseline is not None:
            from sacrecap.scoring.check import write_baseline

            write_baseline(result, self.baseline)

    def write_report(self, result: Any, **how: Any) -> None:
        """Writes the report, if one is wanted."""
        if self.report is not None:
            from sacrecap.report.html import write_report

            stage.text = "writing"
            write_report(result, self.report, **(how if self.title is None else {**how, "title": self.title}))

    def judge(self, result: Any, **how: Any) -> int:
        """Prints the result, after a line on standard error for each finding about its captions.

        Returns the exit status: 3 if a finding is of a kind that --strict names.
        """
        is_shown = self.format == "table" and self.place == "-" and sys.stdout.isatty() and sys.stderr.isatty()
        if not is_shown:  # else the table has the lines
            for finding in result.findings:
                click.echo(f"sacrecap: {finding}", err=True)
        self.show(result, **how)
        kinds = {finding.kind for finding in result.findings} & self.strict
        if not kinds:
            return 0
        click.echo(f"sacrecap: found what --strict names: {', '.join(sorted(kinds))}", file=stage.errors or sys.stderr)
        return FAILED

    def show(self, result: Any, **how: Any) -> None:
        """Prints the result; JSON is the result's own document."""
        stage.text = "writing"
        if self.format == "json" and not how and self.figures is None:
            import json

            options.emit(json.dumps(result.to_dict(), ensure_ascii=False, indent=1), self.place)
            return
        if self.figures is not None:
            how["figures"] = self.figures
        terminal = {"colour": options.colour(self.place), "width": options.width(self.place)}
        options.emit(printed(result, self.format, **terminal, **how), self.place)


def _kinds(_: click.Context, __: click.Parameter, lists: tuple[str, ...]) -> frozenset[str]:
    """The kinds of findings that --strict names."""
    named = [kind.strip() for text in lists for kind in text.split(",") if kind.strip()]
    for kind in named:
        accepted_name("--strict", kind, FINDINGS)
    return frozenset(named)


_PER_IMAGE, _REPORT, _TITLE, _BASELINE, _STRICT, _DIGITS = declared(
    f"""
    --per-image FILE  Write each image's scores: .csv, .tsv, .jsonl or .parquet, or CSV to - (stdout).
    --report FILE.html  Write a report: one self-contained page.
    --title TEXT  The heading of the report.
    --baseline FILE.json  Write the scores and captions: a baseline, which sacrecap check compares with.
    --strict KIND,…  Leave with status 3 if such a thing is found about the captions: {", ".join(FINDINGS)}; may be
        repeated.
    --digits N  Decimals of the scores in a table: 4 by default, 1 with --percent.
    """,
    strict={"multiple": True, "callback": _kinds},
    digits={"type": click.IntRange(0, 15)},
)


def _percent(papers: bool) -> list[click.Option]:
    usual = "the default for LaTeX." if papers else "never by default."
    table = f"--percent/--no-percent  Print the scores of a table times 100, as papers do; {usual}"
    return declared(table, percent={"default": None})


def output(
    *,
    per_image: bool = False,
    report: bool = False,
    baseline: bool = False,
    strict: bool = False,
    scores: bool = True,
    papers: bool = True,
    elsewhere: bool = True,
) -> Value:
    """The options about the output, which the command takes as one `Output`.

    Args:
        per_image: whether the command writes the scores of each image.
        report: whether it writes a report.
        baseline: whether it writes a baseline.
        strict: whether it judges captions, see `Output.judge`.
        scores: whether its tables may have scores times 100, and other numbers of decimals.
        papers: whether papers print its scores times 100.
        elsewhere: whether it can print into a file.
    """
    chosen = [
        *((_PER_IMAGE,) if per_image else ()),
        *((_REPORT, _TITLE) if report else ()),
        *((_BASELINE,) if baseline else ()),
        *((_STRICT,) if strict else ()),
        *([*_percent(papers), _DIGITS] if scores else []),
        options.FORMAT,
        *((options.OUTPUT,) if elsewhere else ()),
        options.QUIET,
    ]
    return Value("output", "Output", partial(Output, papers=papers), chosen)
