"""Every metric on every judgment: how metrics agree with people, and what papers print of others; and as a page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from sacrecap.judgments.agreement_statistics import LABELS
from sacrecap.judgments.meta import Meta, published
from sacrecap.report.agreement_report import lines, missing, systems_tables, table
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.svg import Strip, strips, titled
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Number, Records, Table, Value
from sacrecap.scoring.result import counted


def _records(meta: Meta) -> Records:
    """One row per data set, metric and statistic, and one per published figure."""
    rows: list[tuple[object, ...]] = []
    for name, agreement in meta.agreements.items():
        for measured in agreement.measured:
            source = ("fitted" if measured.fitted else "", measured.signature)
            for statistic, estimate in measured.statistics.items():
                bounds = estimate.interval(agreement.resampling.interval) or (None, None)
                rows.append((name, measured.name, statistic, estimate.value, *bounds, *source))
        rows += [
            (name, figure.metric, agreement.primary, figure.value, None, None, "published", figure.source)
            for figure in published(name)
        ]
    return ("dataset", "metric", "statistic", "value", "lower", "upper", "what", "source"), rows


def _tables(meta: Meta) -> list[Table]:
    tables = overview(meta)
    for name, agreement in meta.agreements.items():
        title = "; ".join([f"{name}: {meta.protocol(name)}", *missing(agreement)])
        tables += [replace(table(agreement), title=title, notes=["", *lines(agreement)]), *systems_tables(agreement)]
        tables += _published_tables(meta, name, title=f"{name}: figures of others, which were not measured here")
    return tables


def overview(meta: Meta) -> list[Table]:
    """How well each metric agrees with people on each data set, the best of them first; nothing of a single one."""
    if len(meta.agreements) < 2:
        return []
    columns = [Column("metric", align="left", names=True)]
    values: dict[tuple[str, str], dict[str, float]] = {}
    for name, agreement in meta.agreements.items():
        columns.append(Column(f"{name}: {LABELS.get(agreement.primary, 'accuracy')}", term="agreement"))
        for measured in agreement.measured:
            values.setdefault((measured.label, measured.name), {})[name] = measured.statistics[agreement.primary].value

    def mean(known: dict[str, float]) -> float:
        return fmean(value if math.isfinite(value) else -1.0 for value in known.values())

    rows: list[list[Value]] = [
        [Cell(label, term=key), *(Number(known[name], ".3f") if name in known else "" for name in meta.agreements)]
        for (label, key), known in sorted(values.items(), key=lambda item: -mean(item[1]))
    ]
    return [Table(columns, rows, title="Agreement with people")]


def _published_tables(meta: Meta, name: str, **around: Any) -> list[Table]:
    """What papers print of metrics on a data set, if they do, with a title or notes around it."""
    label = LABELS.get(meta.agreements[name].primary, meta.agreements[name].primary)
    columns = [Column("published", align="left"), Column(label), Column("source", align="left")]
    rows: list[list[Value]] = [
        [figure.metric, Number(figure.value, ".3f"), figure.source] for figure in published(name)
    ]
    return [Table(columns, rows, **around)] if rows else []


render = Views(_records, lambda meta, _: _tables(meta)).render
"""The tables as text in the format of a name."""


def page(meta: Meta, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of all data sets."""
    metrics = dict.fromkeys(measured.label for agreement in meta.agreements.values() for measured in agreement.measured)
    return ReportPage(
        f"{counted(len(metrics), 'metric')} on {counted(len(meta.agreements), 'data set')}",
        meta.version,
        {"Data sets": f"{len(meta.agreements):,}", "Metrics": f"{len(metrics):,}"},
        [
            *(Section("across", table.title, table=table) for table in overview(meta)),
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
    notes = [*missing(agreement), "", *lines(agreement)]
    yield Section(name, name, [("", meta.protocol(name))], replace(table(agreement), notes=notes), drawn)
    for number, part in enumerate(systems_tables(agreement)):
        yield Section(f"{name}-systems-{number}", f"{name}: {part.title}", table=part)
    for part in _published_tables(meta, name, notes=["Figures of others, which were not measured here."]):
        yield Section(f"{name}-published", f"{name}: published", table=part)
