"""Ranked references, in each of the formats of `--format`."""

from __future__ import annotations

import math
from functools import partial

from sacrecap.judgments.ranking import Ranking
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Column, Figures, Number, Records, Table, Value
from sacrecap.scoring.result import counted


def _records(ranking: Ranking) -> Records:
    keys = [metric.key for metric in ranking.metrics]
    rows = []
    for image, references in ranking.images.items():
        for ranked in references:
            scores, ranks = ([values[key] for key in keys] for values in (ranked.scores, ranked.ranks))
            rows.append((image, ranked.number, ranked.caption, *scores, *ranks))
    return ["image_id", "reference", "caption", *keys, *(f"{key} rank" for key in keys)], rows


def _tables(ranking: Ranking, _: Figures, *, in_paper: bool) -> list[Table]:
    """A row per reference of an image, in the order of the last metric: rank and score by each, the caption; and then
    how alike two metrics rank.
    """
    labels = {metric.key: metric.label for metric in ranking.metrics}
    what = "" if in_paper else ": rank (score) of each reference against the others"
    tables = []
    for image, references in ranking.images.items():
        unscored = {key: sum(math.isnan(ranked.scores[key]) for ranked in references) for key in labels}
        missing = [f"no {labels[key]} of {counted(count, 'reference')}" for key, count in unscored.items() if count]
        columns = [*map(Column, labels.values()), Column("reference", align="left", printed="Reference", names=True)]
        rows: list[list[Value]] = [
            [*(f"{ranked.ranks[key]} ({Number(ranked.scores[key], '.3f')})" for key in labels), ranked.caption]
            for ranked in ranking.order(image, ranking.metrics[-1].key)
        ]
        tables.append(Table(columns, rows, title="; ".join([f"{image}{what}", *missing])))
    rows = [[labels[a], labels[b], Number(value)] for (a, b), value in ranking.correlations().items()]
    columns = [Column("metric", align="left", names=True), Column("and", align="left", names=True), Column("ρ")]
    return [*tables, *([Table(columns, rows, title="Spearman's ρ of two metrics in an image, mean")] if rows else [])]


render = Views(_records, partial(_tables, in_paper=True), partial(_tables, in_paper=False)).render
"""A ranking as text in the format of a name."""
