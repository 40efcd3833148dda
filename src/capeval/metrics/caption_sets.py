"""What metrics of caption sets have in common."""

from typing import ClassVar

from capeval.metrics.base import Metric


class SetMetric(Metric):
    """A metric of an image's captions together, as a set, between 0 and 1."""

    upper: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[str, ...]] = ("caption sets",)
    scores_sets: ClassVar[bool] = True
