"""Calibrated figures: what people would say, with the witnesses and by the ratings alone; printed, and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sacrecap.judgments.calibration.estimates import Calibrated, Calibration
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.svg import Strip, strips, titled
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Column, Figures, Interval, Number, Records, Table, Value, percent


def _figures(calibration: Calibration) -> list[tuple[str, Calibrated]]:
    return [(calibration.of, calibration.overall), *calibration.systems.items(), *_pairs(calibration)]


def _pairs(calibration: Calibration) -> list[tuple[str, Calibrated]]:
    """Those of every two systems; of choices, one pair is the figure of all of them."""
    if calibration.is_choice and len(calibration.pairs) < 2:
        return []
    between = " against " if calibration.is_choice else " − "
    return [(between.join(names), figure) for names, figure in calibration.pairs.items()]


def _records(calibration: Calibration) -> Records:
    return ("of", "estimate", "lower", "upper", "n", "worth"), [
        (name, figure.estimate, *(figure.interval or (None, None)), figure.n, figure.worth)
        for name, figure in _figures(calibration)
    ]


def _tables(calibration: Calibration, _: Figures, *, in_paper: bool) -> list[Table]:
    """A row per figure; and, where a plan was asked for, a row per number of rated captions."""
    level = percent(calibration.level)
    unit = "choices" if calibration.is_choice else "rated captions"
    heads = ("people would say", f"{level} interval", f"{level} interval, ratings alone", unit, "worth")
    rows: list[list[Value]] = [
        [
            name,
            Number(figure.estimate, ".3f"),
            *(
                "–" if bounds is None else Interval(*bounds, ".3f")
                for bounds in (figure.interval, figure.alone_interval)
            ),
            f"{figure.n:,}",
            f"{figure.worth:,.0f}",
        ]
        for name, figure in _figures(calibration)
    ]
    columns = [Column("of", align="left"), *map(Column, heads)]
    notes = [] if in_paper else ["", *_lines(calibration)]
    tables = [Table(columns, rows, title=" ".join(calibration.missing), notes=notes)]
    if calibration.plan:
        columns = [*map(Column, ("rated captions", "± with the witnesses", "± alone"))]
        rows = [[f"{step.n:,}", Number(step.calibrated, ".3f"), Number(step.alone, ".3f")] for step in calibration.plan]
        tables.append(Table(columns, rows, title=f"Plan: {calibration.of}"))
    return tables


def _lines(calibration: Calibration) -> list[str]:
    """What was calibrated with what, and what is to be known of it."""
    captions = "pairs of captions" if calibration.is_choice else "captions"
    overall = calibration.overall
    judged = f"{calibration.captions:,} {captions}, {overall.n:,} judged, of {overall.images:,} images"
    lines = [
        f"{judged}; witnesses: {', '.join(calibration.witnesses)}",
        "worth: as many would tell as much without the witnesses",
    ]
    if calibration.is_choice and calibration.systems:
        lines.append("systems: strengths after Bradley and Terry, whose sum is 0")
    return [*lines, *calibration.notes]


render = Views(_records, partial(_tables, in_paper=True), partial(_tables, in_paper=False)).render
"""A calibration as text in the format of a name."""


def page(calibration: Calibration, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a calibration."""
    legend = [("key told", "with the witnesses"), ("key alone", "by the ratings alone")]
    unit = "Pairs of captions" if calibration.is_choice else "Captions"
    figures, *plans = _tables(calibration, Figures(), in_paper=False)
    systems, pairs = [*calibration.systems.items()], _pairs(calibration)
    # What is on one scale is in one picture.
    if not calibration.is_choice:
        parts = [("mean ratings", [("all captions", calibration.overall), *systems]), ("differences", pairs)]
    else:
        shares = [(calibration.of, calibration.overall), *pairs]
        parts = [("how often the first is chosen", shares), ("strengths", systems)]
    drawn = []
    for what, part in parts:
        rows = [
            Strip(name, figure.estimate, figure.interval, other=(figure.alone, figure.alone_interval))
            for name, figure in part
        ]
        drawn += [(what, strips(rows, what))] if rows else []
    return ReportPage(
        f"What people would say: {calibration.of}",
        calibration.version,
        {
            unit: f"{calibration.captions:,}",
            "Judged": f"{calibration.overall.n:,}",
            "Images": f"{calibration.overall.images:,}",
            "Witnesses": ", ".join(calibration.witnesses),
            "Intervals": percent(calibration.level),
        },
        [
            Section("people", "With and without the witnesses", legend, drawn=titled(drawn)),
            Section("figures", "What people would say", table=figures, kind="calibrated"),
            *(Section("plan-0", plan.title, table=plan, kind="plan") for plan in plans),
        ],
        reading=[
            "A point is what people would [say of all captions](tutorial/calibrate/), a line its interval.",
            "The grey ones are by the ratings alone: where they are longer, the witnesses helped.",
        ],
        doubts=calibration.missing,
    )
