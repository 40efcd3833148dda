"""The page of a calibration: what people would say, with the witnesses and by the ratings alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.report.calibration_formats import lines, plan_tables, table
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.svg import Strip, strips, titled
from sacrecap.report.score_formats import percent

if TYPE_CHECKING:
    from sacrecap.judgments.calibration.estimates import Calibration


def page(calibration: Calibration, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a calibration."""
    legend = [("key told", "with the witnesses"), ("key alone", "by the ratings alone")]
    unit = "Pairs of captions" if calibration.is_choice else "Captions"
    figures = replace(table(calibration), notes=lines(calibration))
    return ReportPage(
        "",
        "Calibration",
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
            Section("people", "With and without the witnesses", legend, drawn=titled(_pictures(calibration))),
            Section("figures", "What people would say", table=figures, kind="calibrated"),
            *(
                Section(f"plan-{number}", plan.title, table=replace(plan, title=""), kind="plan")
                for number, plan in enumerate(plan_tables(calibration))
            ),
        ],
        reading=[
            "A point is what people would [say of all captions](tutorial/calibrate/), a line its interval.",
            "The grey ones are by the ratings alone: where they are longer, the witnesses helped.",
        ],
        doubts=calibration.missing,
    )


def _pictures(calibration: Calibration) -> list[tuple[str, str]]:
    """What is on one scale is in one picture, figures of systems and of pairs of them: each figure with the witnesses,
    and below it by the ratings alone.
    """
    systems = {"all captions": calibration.overall, **calibration.systems}
    between = " against " if calibration.is_choice else " − "
    pairs = {between.join(names): figure for names, figure in calibration.pairs.items()}
    if not calibration.is_choice:
        parts = [("mean ratings", systems), ("differences", pairs)]
    else:
        shares = {calibration.of: calibration.overall, **(pairs if len(pairs) > 1 else {})}
        parts = [("how often the first is chosen", shares), ("strengths", calibration.systems)]
    return [
        (
            what,
            strips(
                [
                    Strip(name, figure.estimate, figure.interval, other=(figure.alone, figure.alone_interval))
                    for name, figure in figures.items()
                ],
                what,
            ),
        )
        for what, figures in parts
        if figures
    ]
