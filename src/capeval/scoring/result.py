"""Results: every number with its interval, its per-image scores and a signature to cite it by."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from capeval.errors import MissingDependencyError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas

    from capeval import _core
    from capeval.corpus.corpus import Corpus
    from capeval.metrics import Metric, Vifidel
    from capeval.metrics.meteor.alignment import Alignment
    from capeval.metrics.vifidel.explanation import Explanation
    from capeval.resources.vectors import EmbeddedCorpus


Explained: TypeAlias = "tuple[Alignment | None, Explanation | None]"


@dataclass(frozen=True, eq=False)
class Score:
    """One metric's score of one system."""

    metric: Metric
    value: float
    """The corpus score."""
    interval: tuple[float, float] | None
    """Bootstrap percentile interval over images; None when it was not asked for."""
    signature: str
    """What one needs to get the number again: `cider-d|n:4|sigma:6|df:corpus(8091)|tok:ptb|refs:4|capeval:0.1.0`."""
    statistics: _core.Statistics = field(repr=False)
    """The sufficient statistics behind the score, image by image."""

    @property
    def per_image(self) -> npt.NDArray[np.float64]:
        """Score of each image, shape (images,), aligned with the result's `image_ids`."""
        import numpy as np

        return np.frombuffer(self.statistics.row_scores(), dtype="<f8")

    @property
    def coverage(self) -> float | None:
        """Share of the content words and labels that have a vector; None for a metric that needs no vectors."""
        if not self.metric.uses_embeddings:
            return None
        from capeval.resources.vectors import coverage

        return coverage(self.statistics)

    def per_image_values(self) -> array[float]:
        """The same as `per_image`, without NumPy."""
        return array("d", self.statistics.row_scores())

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, eq=False)
class Result(Mapping[str, Score]):
    """Scores of one system, by metric key: `result["cider-d"].value`."""

    version: str
    image_ids: list[str] = field(repr=False)
    scores: dict[str, Score]
    level: float | None
    """Confidence level of the intervals."""
    corpus: Corpus = field(repr=False)
    tables: _core.MeteorTables | None = field(default=None, repr=False)
    """METEOR's tables, where it was scored."""
    embedded: Mapping[str, EmbeddedCorpus] = field(default_factory=dict, repr=False)
    """The corpus among word vectors, by the metrics that compare meanings."""

    def __getitem__(self, key: str) -> Score:
        try:
            return self.scores[key]
        except KeyError:
            raise KeyError(f"{key!r} was not scored; scored: {', '.join(self.scores)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def has_alignments(self) -> bool:
        """Whether METEOR was scored, so that its alignments can be shown."""
        return self.tables is not None

    def alignment(self, image_id: str) -> Alignment | None:
        """How METEOR aligned the image's candidate with its best reference; printable. None for an image without words.

        Raises `UsageError` when METEOR was not scored, or for an unknown image.
        """
        from capeval.metrics import Meteor
        from capeval.metrics.meteor.alignment import explain

        parts = (part for score in self.values() for part in score.metric.parts)
        metric = next((part for part in parts if isinstance(part, Meteor)), None)
        if metric is None or self.tables is None:
            raise UsageError(f"alignments are METEOR's, which was not scored; scored: {', '.join(self.scores)}")
        candidates, references = self.corpus.texts(image_id)
        return explain(metric, self.tables, candidates[0], references)

    @property
    def has_explanations(self) -> bool:
        """Whether VIFIDEL was scored, so that its plans can be shown."""
        return self._vifidel() is not None

    def explanation(self, image_id: str) -> Explanation:
        """VIFIDEL's plan for an image: which object pays which word; printable. Of several variants, the first's.

        Raises `UsageError` when VIFIDEL was not scored, or for an unknown image.
        """
        found = self._vifidel()
        if found is None:
            raise UsageError(f"explanations are VIFIDEL's, which was not scored; scored: {', '.join(self.scores)}")
        key, metric = found
        return self.embedded[key].explain(metric, self.corpus.number(image_id))

    def explain(self, image_id: str) -> Explained:
        """METEOR's alignment and VIFIDEL's plan of an image, each where the metric was scored.

        Raises `UsageError` when neither was, or for an unknown image.
        """
        if not self.has_alignments and not self.has_explanations:
            raise UsageError(
                f"only METEOR and VIFIDEL explain an image, and neither was scored; scored: {', '.join(self.scores)}"
            )
        return (
            self.alignment(image_id) if self.has_alignments else None,
            self.explanation(image_id) if self.has_explanations else None,
        )

    def _vifidel(self) -> tuple[str, Vifidel] | None:
        from capeval.metrics import Vifidel

        found = ((key, part) for key, score in self.items() for part in score.metric.parts)
        return next(((key, part) for key, part in found if isinstance(part, Vifidel)), None)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `capeval score`: version, images, scores, intervals, signatures; and the coverage of
        metrics that compare word vectors.
        """
        covered = {key: score.coverage for key, score in self.items() if score.coverage is not None}
        return {
            "capeval": self.version,
            "images": len(self.image_ids),
            "scores": {key: score.value for key, score in self.scores.items()},
            "intervals": {
                key: list(score.interval) for key, score in self.scores.items() if score.interval is not None
            },
            "signatures": {key: score.signature for key, score in self.scores.items()},
            **({"coverage": covered} if covered else {}),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """Per-image scores: one row an image (index `image_id`), one column a metric.

        Raises `MissingDependencyError` when pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("Result.to_pandas", extra="pandas") from error
        index = pandas.Index(self.image_ids, name="image_id")
        frame: pandas.DataFrame = pandas.DataFrame(
            {key: score.per_image for key, score in self.scores.items()}, index=index
        )
        return frame

    def __str__(self) -> str:
        from capeval.report.text import table

        return table(self)
