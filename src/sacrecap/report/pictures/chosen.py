"""Which images are in pictures: those asked for, or the most and the least diverse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sacrecap.errors import UsageError, option, some
from sacrecap.report.pictures.charts import LeftOutError, diversities

if TYPE_CHECKING:
    from sacrecap.scoring.diversity_result import Diversity

CHOSEN = 10
"""Number of images in the pictures by default, as in the paper: half of them the most diverse, half the least."""


def check_images(requested: Sequence[str], known: Sequence[str]) -> None:
    """Raises `UsageError` if one of the requested images is unknown."""
    unknown = sorted(set(requested) - set(known), key=requested.index)
    if unknown:
        raise UsageError(
            f"{option('images', flag='--draw')} names {some(unknown)} without caption sets; the first image that has "
            f"them is {known[0]!r}"
        )


def chosen_images(result: Diversity, requested: Iterable[str] = (), most: int = CHOSEN) -> list[str]:
    """The requested images, or the most and the least diverse by the mean over systems, the most diverse first.

    Raises `UsageError` for an image without caption sets.
    """
    chosen = list(dict.fromkeys(requested))
    check_images(chosen, next(iter(result.values())).image_ids)
    return chosen or ends_of(ranked(result), most)


def ranked(result: Diversity) -> list[str]:
    """All images, the most diverse first; ties, and all images if no diversity was scored, in the result's order."""
    try:
        means = diversities(result)
    except LeftOutError:
        return next(iter(result.values())).image_ids
    return sorted(means, key=lambda image: -means[image])


def ends_of(order: list[str], most: int) -> list[str]:
    """That many from both ends of an order, in that order."""
    if len(order) <= most:
        return order
    return [*order[: (most + 1) // 2], *order[len(order) - most // 2 :]]
