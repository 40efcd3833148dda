"""Every metric on every judgment, in each of the formats of `--format`."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from sacrecap.judgments.agreement_statistics import LABELS
from sacrecap.judgments.meta import published
from sacrecap.report.agreement_formats import lines, missing, systems_tables, table
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Number, Table, records

if TYPE_CHECKING:
    from sacrecap.judgments.meta import Meta
    from sacrecap.report.printing.table import Value


def _records(meta: Meta) -> Table:
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
    return records(("dataset", "metric", "statistic", "value", "lower", "upper", "what", "source"), rows)


def _tables(meta: Meta) -> list[Table]:
    tables = overview(meta)
    for name, agreement in meta.agreements.items():
        tables += [measured_table(meta, name), *systems_tables(agreement)]
        if published(name):
            title = f"{name}: figures of others, which were not measured here"
            tables.append(replace(published_table(meta, name), title=title))
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


def measured_table(meta: Meta, name: str) -> Table:
    """What is measured here on a data set."""
    agreement = meta.agreements[name]
    title = "; ".join([f"{name}: {meta.protocol(name)}", *missing(agreement)])
    return replace(table(agreement), title=title, notes=["", *lines(agreement)])


def published_table(meta: Meta, name: str) -> Table:
    """What papers print of metrics on a data set."""
    primary = meta.agreements[name].primary
    columns = [Column("published", align="left"), Column(LABELS.get(primary, primary)), Column("source", align="left")]
    rows: list[list[Value]] = [
        [figure.metric, Number(figure.value, ".3f"), figure.source] for figure in published(name)
    ]
    return Table(columns, rows)


render = Views(_records, lambda meta, _: _tables(meta)).render
"""The tables as text in the format of a name."""
