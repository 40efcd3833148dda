"""Scores that others computed, as a metric: a column of the table that `--scores` names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from os import PathLike
from typing import Any, ClassVar

from sacrecap import _core
from sacrecap.choices import TAKEN
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError, option, warn
from sacrecap.metrics.base import PythonMetric, Ready
from sacrecap.metrics.declared import parameter, spell
from sacrecap.resources.needs import Needs
from sacrecap.resources.outside_scores import OutsideScores, read_scores, strays

_UNKNOWN = "unknown"


class Outside(PythonMetric):
    """A column of scores of others, under the name of the column; the corpus score is their mean."""

    column: str = parameter("the column", default="scores", in_name=True)
    better: str = parameter("which scores are better", default="higher", choices=("higher", "lower"))
    range: str = parameter("smallest and largest score, as 0..1", default=_UNKNOWN, kind=str)

    title = "Outside"
    summary = "Others gave the caption a good score."
    equation = "the mean of a column of scores"
    source = "computed elsewhere"
    upper = None
    nothing: ClassVar[dict[str, str]] = {"no row for a caption": "an error", "an empty cell": "no score"}
    needs = ("scores",)
    reads_tokens = False
    no_score_where = "the table of scores has none"

    def complete(self) -> None:
        """Refuses a range that is none."""
        self._bounds()

    def _bounds(self) -> tuple[float | None, float | None]:
        low, dots, high = self.range.partition("..")
        if self.range == _UNKNOWN:
            return None, None
        try:
            bounds = float(low), float(high)
        except ValueError:
            bounds = 0.0, 0.0
        if not dots or not bounds[0] < bounds[1]:
            raise UsageError(f"{self.column}: range must be a smaller and a larger number, as 0..1, got {self.range!r}")
        return bounds

    name: Any = property(attrgetter("column"))
    label: Any = property(attrgetter("key"))

    def __str__(self) -> str:
        return self.column + self._in_parentheses(self.parameters())

    @property
    def lower_is_better(self) -> bool:
        return self.better == "lower"

    largest: Any = property(lambda metric: metric._bounds()[1])
    smallest: Any = property(lambda metric: metric._bounds()[0])

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Finds the rows of the corpus. Raises `DataError` for a caption without score, or one out of range."""
        scores = outside_scores(needs)
        names = (self.column, self.column.removeprefix(TAKEN))
        column = None if scores is None else next((name for name in names if name in scores.columns), None)
        if scores is None or column is None:
            file = option("scores", "FILE", flag="--scores")
            raise UsageError(f"{self.key} is a column of scores that others computed: {file}")
        candidates = [corpus.given(image)[0] for image in corpus.image_ids]
        per_image = [["\n".join(texts)] if self.scores_sets else texts for texts in candidates]
        images = [image for image, texts in zip(needs.images(corpus), per_image, strict=True) for _ in texts]
        aligned = scores.aligned(images, [caption for texts in per_image for caption in texts])
        values = aligned.columns[column]
        low, high = self._bounds()
        beyond = [] if low is None or high is None else [value for value in values if not low <= value <= high]
        if beyond:
            message = f"has the score {spell(beyond[0])}; correct the range, or the file"
            raise UsageError(f"{self.key}: {scores.source} {message}")
        return Ready(corpus._core, digests=lambda: {"scores": _core.digest(images, [*map(repr, values)])}, own=values)

    def statistics(self, corpus: Corpus, ready: Ready) -> Sequence[Sequence[float]]:  # noqa: ARG002
        return [(0.0, 0.0) if math.isnan(value) else (value, 1.0) for value in ready.own]


class OutsideOfSets(Outside):
    """The same of caption sets."""

    scores_sets = True


def outside_scores(needs: Needs) -> OutsideScores | None:
    """The scores that a call was given; a file is read once. Warns of what looks as if it stood for no score."""
    source: Any = needs.get("scores")
    if source is None or isinstance(source, OutsideScores):
        return source
    key = ("scores", str(source) if isinstance(source, (str, PathLike)) else id(source))

    def read() -> OutsideScores:
        scores = read_scores(source)
        for name, values in scores.columns.items():
            for stray in strays(values, f"{scores.source}, column {name}"):
                warn(stray)
        return scores

    return needs.once(key, read)


def for_system(needs: Needs, name: str) -> Needs:
    """The needs for the captions of one of several systems."""
    scores = outside_scores(needs)
    return needs if scores is None else needs.with_({"scores": scores.of_system(name)})
