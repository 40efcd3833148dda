"""Where a command runs, and where its results go: printed, as a report, image by image."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import click

from sacrecap.above import printed
from sacrecap.choices import ENGINES, FINDINGS, EngineName
from sacrecap.cli import options
from sacrecap.cli.group import Value, declared
from sacrecap.cli.interruptible import stage
from sacrecap.errors import accepted_name
from sacrecap.parameters import Parameter, read_call, read_parameters

if TYPE_CHECKING:
    from sacrecap.engines import EngineOptions

Engine: TypeAlias = "EngineOptions | Literal['local']"
FAILED = 3
"""The exit status of a check that failed."""


@dataclass(eq=False)
class Output:
    """What the options say about the output; each value is that of its option."""

    format_: str
    output: str = "-"
    report: str | None = None
    title: str | None = None
    per_image: str | None = None
    baseline: str | None = None
    percent: bool | None = None
    digits: int | None = None
    strict: frozenset[str] = frozenset()
    papers: bool = True
    """Whether papers print the scores times 100, so that LaTeX does by default."""

    def check(self, **other_places: str | None) -> None:
        """Raises, before anything is computed, if something cannot be written, here or by `other_places` (options)."""
        if self.per_image is not None:
            from sacrecap.report.per_image import check_suffix

            check_suffix(self.per_image)
        options.check_outputs(
            output=self.output, per_image=self.per_image, report=self.report, baseline=self.baseline, **other_places
        )

    def finish(self, result: Any, *, explained: Any = None, **report: Any) -> int:
        """Writes what is wanted (scores of images, a baseline, a report, written as `report` says), and prints the
        result, after a line on standard error for each finding. Returns the exit status: 3 if a finding is of a kind
        that --strict names.
        """
        stage.text = "writing"
        if self.per_image is not None:
            from sacrecap.report.per_image import write_per_image

            write_per_image(result, self.per_image)
        if self.baseline is not None:
            from sacrecap.scoring.check import write_baseline

            write_baseline(result, self.baseline)
        if self.report is not None:
            from sacrecap.report.html import write_report

            write_report(result, self.report, **(report if self.title is None else {**report, "title": self.title}))
        findings = getattr(result, "findings", ())
        is_shown = self.format_ == "table" and self.output == "-" and sys.stdout.isatty() and sys.stderr.isatty()
        for finding in () if is_shown else findings:  # else the table has the lines
            click.echo(f"sacrecap: {finding}", err=True)
        self.show(result, **({"explained": explained} if explained else {}))
        kinds = {finding.kind for finding in findings} & self.strict
        if not kinds:
            return 0
        click.echo(f"sacrecap: found what --strict names: {', '.join(sorted(kinds))}", file=stage.errors or sys.stderr)
        return FAILED

    def show(self, result: Any, **how: Any) -> None:
        """Prints the result; JSON is the result's own document."""
        stage.text = "writing"
        if self.percent is not None or self.digits is not None:
            from sacrecap.report.printing.table import Figures

            how["figures"] = Figures.of(self.format_, self.percent, self.digits, papers=self.papers)
        if self.format_ == "json" and not how:
            import json

            options.emit(json.dumps(result.to_dict(), ensure_ascii=False, indent=1), self.output)
            return
        terminal = {"colour": options.colour(self.output), "width": options.width(self.output)}
        options.emit(printed(result, self.format_, **terminal, **how), self.output)


def _kinds(_: click.Context, __: click.Parameter, lists: tuple[str, ...]) -> frozenset[str]:
    """The kinds of findings that --strict names."""
    named = [kind.strip() for text in lists for kind in text.split(",") if kind.strip()]
    for kind in named:
        accepted_name("--strict", kind, FINDINGS)
    return frozenset(named)


def output(names: str, *, papers: bool = True, elsewhere: bool = True) -> Value:
    """The options about the output that are named, with those of all commands, which the command takes as one `Output`:
    whether papers print its scores times 100, and whether it can print into a file.
    """
    usual = "the default for LaTeX" if papers else "never by default"
    named = declared(
        f"""
        --per-image FILE  Write each image's scores: .csv, .tsv, .jsonl or .parquet, or CSV to - (stdout).
        --report FILE.html  Write a report: one self-contained page.
        --title TEXT  The heading of the report.
        --baseline FILE.json  Write the scores and captions: a baseline, which sacrecap check compares with.
        --strict KIND,…  Leave with status 3 if such a thing is found about the captions: {", ".join(FINDINGS)}; may be
            repeated.
        --percent/--no-percent  Print the scores of a table times 100, as papers do; {usual}.
        --digits N  Decimals of the scores in a table: 4 by default, 1 with --percent.
        """,
        strict={"multiple": True, "callback": _kinds},
        percent={"default": None},
        digits={"type": click.IntRange(0, 15)},
    )
    chosen = [option for option in named if option.name in names.split()]
    chosen += [options.FORMAT, options.OUTPUT, options.QUIET] if elsewhere else [options.FORMAT, options.QUIET]
    return Value("output", "Output", partial(Output, papers=papers), chosen)


_OF_RAY: dict[str, Parameter] = {
    "address": ("HOST:PORT", str),
    "workers": ("a whole number of at least 1", options.number(int, 1, math.inf)),
}


def engine_of(*, engine: str) -> Engine:
    """What --engine says."""
    before, _, address = engine.partition(":")
    is_address = before == "ray" and address and "(" not in address
    name, parameters = (before, {"address": address}) if is_address else read_call("--engine", engine)
    accepted_name("--engine", name, ENGINES)
    values = read_parameters(f"--engine {name}", parameters, _OF_RAY if name == "ray" else {})
    if name == "local":
        return "local"
    from sacrecap.engines import EngineOptions

    return EngineOptions(cast("EngineName", name), **values)


ENGINE = Value(
    "engine",
    "Engine",
    engine_of,
    declared(
        """
        --engine NAME|NAME(…)  Where it runs: local (all in memory), stream (piece by piece, in little memory), or ray,
            ray:HOST:PORT, ray(workers=N) (on a cluster). Same numbers.
        """,
        engine={"default": "local", "shell_complete": lambda _, __, begun: [e for e in ENGINES if e.startswith(begun)]},
    ),
)
"""--engine: `local`, or `EngineOptions`."""
