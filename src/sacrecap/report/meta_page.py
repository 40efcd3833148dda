"""The page of every metric on every judgment: how metrics agree with people, and what papers print of others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.judgments.agreement_statistics import LABELS
from sacrecap.judgments.meta import published
from sacrecap.report.agreement_formats import missing, systems_tables
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.meta_formats import measured_table, overview, published_table
from sacrecap.report.pictures.svg import Strip, strips, titled
from sacrecap.scoring.result import counted

if TYPE_CHECKING:
    from sacrecap.judgments.meta import Meta


def page(meta: Meta, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of all data sets."""
    metrics = dict.fromkeys(measured.label for agreement in meta.agreements.values() for measured in agreement.measured)
    return ReportPage(
        "",
        "Meta-evaluation",
        f"{counted(len(metrics), 'metric')} on {counted(len(meta.agreements), 'data set')}",
        meta.version,
        {"Data sets": f"{len(meta.agreements):,}", "Metrics": f"{len(metrics):,}"},
        [
            *(Section("across", table.title, table=replace(table, title="")) for table in overview(meta)),
            *(section for name in meta.agreements for section in _sections(meta, name)),
        ],
        reading=[
            "A number says how well a metric [agrees with people](howto/measure-agreement/): 1 is the most.",
            "Chance is 0 for a correlation, and one half for a choice between two captions.",
            "Below each data set stands what papers print of metrics that were not measured here.",
        ],
    )


def _sections(meta: Meta, name: str) -> Iterator[Section]:
    agreement = meta.agreements[name]
    label = LABELS.get(agreement.primary, "accuracy")
    bars = [
        Strip(
            f"{measured.label}*" if measured.fitted else measured.label,
            statistic.value,
            statistic.interval(agreement.resampling.interval),
        )
        for measured in agreement.measured
        for statistic in [measured.statistics[agreement.primary]]
        if math.isfinite(statistic.value)
    ]
    bars.sort(key=lambda strip: -strip.value)
    star = "; * was fitted to these judgments" if any(measured.fitted for measured in agreement.measured) else ""
    drawn = titled([(f"{label}, best first{star}", strips(bars, f"{name}, {label}"))])
    table = measured_table(meta, name)
    table = replace(table, title="", notes=[*missing(agreement), *table.notes])
    yield Section(name, name, [("", meta.protocol(name))], table, drawn)
    for number, part in enumerate(systems_tables(agreement)):
        yield Section(f"{name}-systems-{number}", f"{name}: {part.title}", table=replace(part, title=""))
    if published(name):
        notes = ["Figures of others, which were not measured here."]
        yield Section(
            f"{name}-published", f"{name}: published", table=replace(published_table(meta, name), notes=notes)
        )
