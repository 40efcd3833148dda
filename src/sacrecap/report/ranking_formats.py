"""Ranked references, in each of the formats of `--format`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Column, Number, Table, records

if TYPE_CHECKING:
    from sacrecap.judgments.ranking import RankedReference, Ranking
    from sacrecap.report.printing.table import Value


def _records(ranking: Ranking) -> Table:
    """One row per reference: its scores, then its ranks."""
    keys = [metric.key for metric in ranking.metrics]
    heads = ["image_id", "reference", "caption", *keys, *(f"{key} rank" for key in keys)]
    return records(
        heads,
        [
            (
                image,
                reference.number,
                reference.caption,
                *(reference.scores[key] for key in keys),
                *(reference.ranks[key] for key in keys),
            )
            for image, ranked in ranking.images.items()
            for reference in ranked
        ],
    )


def _table(ranking: Ranking, image: str, what: str = "") -> Table:
    """One row per reference: rank and score by each metric, and the caption; in the order of the last metric."""
    last = ranking.metrics[-1].key
    return Table(
        [
            *(Column(metric.label) for metric in ranking.metrics),
            Column("reference", align="left", printed="Reference", names=True),
        ],
        [
            [*(_place(reference, metric.key) for metric in ranking.metrics), reference.caption]
            for reference in ranking.order(image, last)
        ],
        title="; ".join([f"{image}{what}", *_missing(ranking, image)]),
    )


def _place(ranked: RankedReference, key: str) -> str:
    return f"{ranked.ranks[key]} ({Number(ranked.scores[key], '.3f')})"


def _missing(ranking: Ranking, image: str) -> list[str]:
    """How many of the image's references have no score, by metric."""
    counts = [
        (metric.label, sum(math.isnan(ranked.scores[metric.key]) for ranked in ranking.images[image]))
        for metric in ranking.metrics
    ]
    return [f"no {label} of {count} reference{'' if count == 1 else 's'}" for label, count in counts if count]


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
