"""Forced choice: how often a metric prefers the caption that people preferred."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sacrecap.choices import CATEGORIES, TIES
from sacrecap.errors import accepted_name
from sacrecap.judgments.bootstrap import Estimate, image_numbers, ratio
from sacrecap.scoring.ranks import gaps

if TYPE_CHECKING:
    from sacrecap.judgments.bootstrap import Floats
    from sacrecap.judgments.judged_rows import Pairs
    from sacrecap.judgments.row_scorer import Columns
    from sacrecap.scoring.intervals import Resampling

ALL = "all"


def categories(pairs: Pairs) -> list[str]:
    """The categories of the pairs in their usual order, then `all`."""
    present = dict.fromkeys(pairs.categories)
    usual = [name for name in CATEGORIES if name in present]
    return [*usual, *(name for name in present if name and name not in usual), ALL]


def credit(difference: Floats, preferred: Floats | Sequence[int], ties: str) -> Floats:
    """The credit: 1 for a right answer, 0 for a wrong one, and for a tie what `ties` says.

    `difference` is how much B is preferred over C, `preferred` the sign of the truth. Raises `UsageError` for unknown
    `ties`.
    """
    accepted_name("ties", ties, TIES)
    right: Floats = (np.sign(difference) == np.asarray(preferred)).astype(np.float64)
    right[difference == 0] = 0.5 if ties == "half" else 0.0
    return right


def difference(columns: Columns) -> Floats:
    """How much a metric prefers B over C: 0, which is a tie, if only rounding tells them apart, or one has no score."""
    return gaps(columns["b"], columns["c"])


def named(pairs: Pairs) -> Floats:
    """Shape (pairs, categories): 1 if a pair is of the category."""
    names = categories(pairs)  # once: it looks at every pair
    return np.array([[float(name in (category, ALL)) for name in names] for category in pairs.categories])


def members(pairs: Pairs) -> Floats:
    """The same, with undecided pairs in no category."""
    decided = np.asarray(pairs.preferred) != 0
    counted: Floats = named(pairs) * decided[:, None]
    return counted


def accuracy(credits: Floats, pairs: Pairs, resampling: Resampling) -> dict[str, Estimate]:
    """Mean credit over the decided pairs of each category, and of all."""
    decided = (np.asarray(pairs.preferred) != 0).astype(np.float64)
    return shares(credits * decided, decided, pairs, resampling)


def shares(right: Floats, decided: Floats, pairs: Pairs, resampling: Resampling) -> dict[str, Estimate]:
    """Sum of `right` over sum of `decided`, which have a number for each pair, by category."""
    of_category = named(pairs)
    images = image_numbers([row.image_id for row in pairs.rows])
    estimates = ratio(right[:, None] * of_category, decided[:, None] * of_category, images, resampling)
    return dict(zip(categories(pairs), estimates, strict=True))


def tied(difference: Floats, pairs: Pairs) -> dict[str, int]:
    """Decided pairs on which the metric ties, by category."""
    counted = members(pairs)
    numbers = ((difference == 0).astype(float) @ counted).astype(int).tolist()
    return dict(zip(categories(pairs), numbers, strict=True))


def counts(pairs: Pairs) -> dict[str, int]:
    """Decided pairs by category."""
    return dict(zip(categories(pairs), members(pairs).sum(axis=0).astype(int).tolist(), strict=True))
