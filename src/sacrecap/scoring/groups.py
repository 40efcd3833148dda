"""Scores of groups of images, such as nocaps' domains or MSR-VTT's categories.

Every image has the score that it has in the whole: words are weighed by all images.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sacrecap._core import image_ids
from sacrecap.errors import DataError
from sacrecap.scoring.intervals import intervals
from sacrecap.scoring.result import Score, finite, within
from sacrecap.scoring.signature import Signature

if TYPE_CHECKING:
    from sacrecap.scoring.result import Result


@dataclass(frozen=True)
class Groups:
    """The scores of each group, by what the images of it have in common."""

    column: str
    """What that is called: the column of a file."""
    scores: Mapping[str, Mapping[str, Score]]
    """By group and metric."""
    left_out: int = 0
    """Images of no group."""

    @classmethod
    def of(cls, scores: Mapping[str, Mapping[str, Score]], column: str, left_out: int) -> Groups:
        """Those of groups, of which there is one at least. Raises `DataError` without any."""
        if not scores:
            raise DataError(
                f"no image that was scored has a value in {column}; sacrecap inspect FILE says which columns a file has"
            )
        return cls(column, scores, left_out)

    def images(self, group: str) -> int:
        """Number of images in the group."""
        return max(score.statistics.rows for score in self.scores[group].values())

    @property
    def notes(self) -> list[str]:
        """What a reader of the groups needs to know."""
        note = "Groups: each image has the score that it has among all images, whose references weigh the words."
        return [
            note,
            *([f"{self.left_out:,} images have no {self.column}, and are in no group."] if self.left_out else []),
        ]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: images, scores and intervals of each group."""
        return {
            group: {
                "images": self.images(group),
                "scores": {key: finite(score.value) for key, score in scores.items()},
                "intervals": {key: list(score.interval) for key, score in scores.items() if score.interval is not None},
            }
            for group, scores in self.scores.items()
        }


def grouped(result: Result, groups: Mapping[str, Any], column: str = "group") -> Result:
    """The result with the scores of each group; see `Result.by`."""
    for score in result.values():
        _ = score.rows  # of every image, or an error
    places: dict[str, list[int]] = {}
    of = dict(zip(image_ids(groups), groups.values(), strict=True))
    for place, image in enumerate(result.image_ids):
        if image in of:
            places.setdefault(str(of[image]), []).append(place)
    scores = {group: _scores(result, of_group, f"{column}={group}") for group, of_group in sorted(places.items())}
    left_out = len(result.image_ids) - sum(map(len, places.values()))
    return replace(result, groups=Groups.of(scores, column, left_out))


def _scores(result: Result, places: list[int], group: str) -> dict[str, Score]:
    """The scores over these images, those of that group."""

    def signed(whole: str) -> str:
        return str(Signature.read(whole).without("interval").with_("group", group))

    statistics = [score.rows.select(places) for score in result.values()]
    metrics = [score.metric for score in result.values()]
    method = result.resampling.interval_method
    alone = len(places) < 2 and method == "jackknife"  # which one image has no interval by
    bounds = [None] * len(metrics) if alone else intervals(statistics, metrics, result.resampling)
    return {
        metric.key: within(Score(metric, table, signed(result[metric].signature)), between, result.resampling)
        for metric, table, between in zip(metrics, statistics, bounds, strict=True)
    }
