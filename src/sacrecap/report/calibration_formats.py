"""Calibrated figures, in each of the formats of `--format`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Column, Interval, Number, Table, records
from sacrecap.report.score_formats import percent

if TYPE_CHECKING:
    from sacrecap.judgments.calibration.estimates import Calibrated, Calibration
    from sacrecap.report.printing.table import Value


def _figures(calibration: Calibration) -> Iterator[tuple[str, Calibrated]]:
    yield calibration.of, calibration.overall
    yield from calibration.systems.items()
    for (a, b), figure in calibration.pairs.items():
        if len(calibration.pairs) > 1 or not calibration.is_choice:
            yield f"{a} against {b}" if calibration.is_choice else f"{a} − {b}", figure


def _records(calibration: Calibration) -> Table:
    return records(
        ("of", "estimate", "lower", "upper", "n", "worth"),
        [
            (name, figure.estimate, *(figure.interval or (None, None)), figure.n, figure.worth)
            for name, figure in _figures(calibration)
        ],
    )


def table(calibration: Calibration) -> Table:
    """One row per figure."""
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
    return Table([Column("of", align="left"), *map(Column, heads)], rows, title=" ".join(calibration.missing))


def lines(calibration: Calibration) -> list[str]:
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


def plan_tables(calibration: Calibration) -> list[Table]:
    """A row per number of rated captions, where a plan was asked for."""
    if not calibration.plan:
        return []
    heads = ("rated captions", "± with the witnesses", "± alone")
    rows: list[list[Value]] = [
        [f"{step.n:,}", Number(step.calibrated, ".3f"), Number(step.alone, ".3f")] for step in calibration.plan
    ]
    return [Table([*map(Column, heads)], rows, title=f"Plan: {calibration.of}")]


render = Views(
    _records,
    lambda calibration, _: [table(calibration), *plan_tables(calibration)],
    lambda calibration, _: [replace(table(calibration), notes=["", *lines(calibration)]), *plan_tables(calibration)],
).render
"""A calibration as text in the format of a name."""
