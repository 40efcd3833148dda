"""Ranked references, in each of the formats of `--format`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Column, Number, Table, records
from sacrecap.scoring.result import counted

if TYPE_CHECKING:
    from sacrecap.judgments.ranking import Ranking
    from sacrecap.report.printing.table import Value


def _records(ranking: Ranking) -> Table:
    keys = [metric.key for metric in ranking.metrics]
    rows = [
        (
            image,
            ranked.number,
            ranked.caption,
            *map(ranked.scores.__getitem__, keys),
            *map(ranked.ranks.__getitem__, keys),
        )
        for image, references in ranking.images.items()
        for ranked in references
    ]
    return records(["image_id", "reference", "caption", *keys, *(f"{key} rank" for key in keys)], rows)


def _table(ranking: Ranking, image: str, what: str = "") -> Table:
    """One row per reference: rank and score by each metric, and the caption; in the order of the last metric."""
    metrics, keys = ranking.metrics, [metric.key for metric in ranking.metrics]
    unscored = [
        (metric.label, sum(math.isnan(ranked.scores[metric.key]) for ranked in ranking.images[image]))
        for metric in metrics
    ]
    missing = [f"no {label} of {counted(count, 'reference')}" for label, count in unscored if count]
    return Table(
        [
            *(Column(metric.label) for metric in metrics),
            Column("reference", align="left", printed="Reference", names=True),
        ],
        [
            [*(f"{ranked.ranks[key]} ({Number(ranked.scores[key], '.3f')})" for key in keys), ranked.caption]
            for ranked in ranking.order(image, keys[-1])
        ],
        title="; ".join([f"{image}{what}", *missing]),
    )


def _correlations(ranking: Ranking) -> list[Table]:
    """How alike two metrics rank; none of a single metric."""
    labels = {metric.key: metric.label for metric in ranking.metrics}
    rows: list[list[Value]] = [
        [labels[a], labels[b], Number(value)] for (a, b), value in ranking.correlations().items()
    ]
    columns = [Column("metric", align="left", names=True), Column("and", align="left", names=True), Column("ρ")]
    return [Table(columns, rows, title="Spearman's ρ of two metrics in an image, mean")] if rows else []


render = Views(
    _records,
    lambda ranking, _: [*(_table(ranking, image) for image in ranking.images), *_correlations(ranking)],
    lambda ranking, _: [
        *(_table(ranking, image, ": rank (score) of each reference against the others") for image in ranking.images),
        *_correlations(ranking),
    ],
).render
"""A ranking as text in the format of a name."""
