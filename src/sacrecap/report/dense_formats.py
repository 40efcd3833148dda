"""Scores of timed captions, in each of the formats of `--format`."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.printing import Views
from sacrecap.report.printing.figures import Figures
from sacrecap.report.printing.table import Column, Table, records

if TYPE_CHECKING:
    from sacrecap.report.printing.table import Value
    from sacrecap.scoring.dense import Dense

_LABELS = {"recall": "Recall", "precision": "Precision", "f": "F"}


def _records(result: Dense) -> Table:
    """One row per metric and overlap."""
    rows: list[tuple[object, ...]] = [
        (name, tiou, score)
        for name, own in result.scores.items()
        for tiou, score in zip(result.tious, own, strict=True)
    ]
    rows += [(f"soda-c {name}", None, score) for name, score in (result.soda or {}).items()]
    return records(("metric", "tiou", "score"), rows)


def _tables(result: Dense, figures: Figures) -> list[Table]:
    """The scores by overlap, then SODA_c."""
    heads = [f"tIoU {tiou:g}" for tiou in result.tious]
    columns = [Column("metric", align="left", names=True), *(Column(head) for head in [*heads, "mean"])]
    rows: list[list[Value]] = [
        [_label(name), *(figures.number(score) for score in [*own, fmean(own)])] for name, own in result.scores.items()
    ]
    videos = "1 video" if result.videos == 1 else f"{result.videos:,} videos"
    found = [Table(columns, rows, title=f"{videos}{figures.said and f'; {figures.said}'}")]
    if result.soda is not None:
        columns = [Column("SODA_c", align="left", names=True), Column("score")]
        rows = [[_LABELS[name], figures.number(own)] for name, own in result.soda.items()]
        found.append(Table(columns, rows))
    return found


def _label(name: str) -> str:
    return _LABELS.get(name) or parse_metrics(name)[0].label


render = Views(_records, _tables).render
"""Scores of timed captions as text in the format of a name."""
