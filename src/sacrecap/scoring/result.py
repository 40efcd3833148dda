"""Results: every number with its interval, its per-image scores and a signature to cite it by."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sacrecap import _core
from sacrecap._core import image_ids
from sacrecap.above import Printable
from sacrecap.errors import DataError, UsageError, of_extra, option, words_of_command_line
from sacrecap.metrics.base import Metric, Ready
from sacrecap.metrics.registry import key_among
from sacrecap.resources.needs import Needs
from sacrecap.scoring.findings import Finding, SystemResult, findings
from sacrecap.scoring.intervals import Interval, Resampling, intervals, notes, opened
from sacrecap.scoring.signature import with_part, without

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas
    from typing_extensions import Self

    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.chair import Hallucination
    from sacrecap.metrics.meteor.meteor import Alignment
    from sacrecap.metrics.spice.spice import GraphMatch
    from sacrecap.metrics.vifidel import Explanation


def finite(value: float) -> float | None:
    """The number as JSON takes it: None for one that is undefined."""
    return value if math.isfinite(value) else None


Value_co = TypeVar("Value_co", covariant=True)


class NotScoredError(KeyError):
    """A result was asked for a score that it does not have; the message is text, not its representation."""

    def __str__(self) -> str:
        return str(self.args[0])


class Keyed(Mapping[str, Value_co]):
    """Systems by name, or scores by key: the mapping in one of the fields, whose keys notebooks complete:
    `result["<TAB>`.
    """

    _field: ClassVar[str]

    def __getitem__(self, name: str) -> Value_co:
        inside: Mapping[str, Value_co] = getattr(self, self._field)
        if name not in inside:
            raise NotScoredError(f"no system is called {name!r}; there are: {', '.join(self)}")
        return inside[name]

    def __iter__(self) -> Iterator[str]:
        return iter(getattr(self, self._field))

    def __len__(self) -> int:
        return len(getattr(self, self._field))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


@dataclass(frozen=True, eq=False)
class Summed:
    """The sums of one metric's statistics over rows that nobody kept, in the place of the rows.

    It stands where [`Statistics`][sacrecap._core.Statistics] of all images would; `row_scores` are of none.
    """

    rows: int
    """Number of rows."""
    unscored: int
    """Number of rows without a score."""
    total: _core.Statistics
    """One row: the sums over all rows, with the metric's formula."""

    @classmethod
    def of_metrics(cls, sums: _core.ExactSums) -> list[Summed]:
        """Those of each metric."""
        return [cls(sums.rows, unscored, sums.statistics(place)) for place, unscored in enumerate(sums.unscored)]

    @property
    def width(self) -> int:
        return self.total.width

    def score(self) -> float:
        return self.total.score()

    def sums(self) -> list[float]:
        return self.total.sums()

    def row_scores(self) -> bytes:
        return b""


@dataclass(frozen=True, eq=False, repr=False)
class Score(float):
    """One metric's score of one system: of its captions, or of its caption sets.

    It is a float, its value; results of arithmetic are plain floats.

    Examples:
        >>> score = sacrecap.score({"1": ["a dog runs"], "2": ["a red bus"]}, {"1": "a dog", "2": "a bus"})["rouge-l"]
        >>> f"{score:.3f}", round(score * 100, 1), score > 0.5
        ('0.772', 77.2, True)
        >>> print(score)
        0.7722 [0.1221, 0.9640]
    """

    metric: Metric
    """The metric with its parameters."""
    statistics: _core.Statistics | Summed
    """The sufficient statistics behind the score, image by image; or their sums, where those were added up."""
    signature: str
    """All that the number depends on: `cider-d|images:60/60|refs:5@61d5ba81|caps:4b1cf2c4|df:corpus(60)|tok:ptb|…`."""
    interval: tuple[float, float] | None = None
    """Interval over images; None if it was not requested."""
    ready: Ready | None = None
    """The prepared metric for this corpus; None for a score derived from others, and for one that was pickled."""

    def __new__(cls, metric: Metric, statistics: _core.Statistics | Summed, *_: object, **__: object) -> Self:
        """The number: NaN if no image has a score."""
        unscored = 0 if metric.no_score_where is None else statistics.unscored
        return super().__new__(cls, math.nan if unscored == statistics.rows else statistics.score())

    def __getnewargs__(self) -> tuple[Metric, _core.Statistics | Summed]:  # type: ignore[override]
        return self.metric, self.statistics

    @property
    def key(self) -> str:
        """The metric's key: `cider-d(sigma=5)`."""
        return self.metric.key

    @property
    def label(self) -> str:
        """The metric's name as papers print it."""
        return self.metric.label

    @property
    def value(self) -> float:
        """The score over all images that have one; NaN if no image has one."""
        return float(self)

    @property
    def unscored(self) -> int:
        """Number of images without a score, which the metric leaves out: 0 for most metrics."""
        return 0 if self.metric.no_score_where is None else self.statistics.unscored

    @property
    def rows(self) -> _core.Statistics:
        """The statistics of every image. Raises `UsageError` if an engine added them up and kept none."""
        if not isinstance(self.statistics, _core.Statistics):
            raise UsageError(
                f"{self.key}: the statistics of every image were added up, and not kept; score with intervals, or with "
                "EngineOptions(…, rows=True)"
            )
        return self.statistics

    @property
    def per_image(self) -> npt.NDArray[np.float64]:
        """Score of each image, shape (images,), aligned with the result's `image_ids`; NaN for no score. As a list of
        Python's floats: `per_image.tolist()`. Of none, where an engine added statistics up.
        """
        import numpy as np

        return np.frombuffer(self.statistics.row_scores(), dtype="<f8")

    @property
    def landmarks(self) -> dict[str, float]:
        """Scores to see this one beside, such as `chance` and `people`; empty for most metrics."""
        return self.metric.landmarks(self.statistics)

    @property
    def coverage(self) -> float | None:
        """Share of the words that the metric knows, by a vector or a parser; None for one that knows every word."""
        return self.metric.coverage(self.statistics)

    def per_image_values(self) -> array[float]:
        """The same as `per_image`, without NumPy."""
        return array("d", self.statistics.row_scores())

    def __eq__(self, other: object) -> bool:
        """A number is compared with the value; another score must be of the same metric, too."""
        if isinstance(other, Score) and other.metric != self.metric:
            return False
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = float.__hash__

    def __str__(self) -> str:
        """The value, with its interval if there is one."""
        if math.isnan(self.value):
            return "nan (no image has a score)"
        return f"{self.value:.4f}" + ("" if self.interval is None else " [{:.4f}, {:.4f}]".format(*self.interval))

    def __repr__(self) -> str:
        """The same, and the signature, which begins with the metric."""
        return f"{self} {self.signature}"

    def __getstate__(self) -> dict[str, object]:
        """Pickles the numbers; what the metric took is taken again by the result where an explanation needs it."""
        return {**vars(self), "ready": None}


def within(score: Score, interval: Interval | None, how: Resampling) -> Score:
    """The score with this interval, which was made so; without any where no image has a score."""
    if interval is None or how.interval is None or not math.isfinite(score.value):
        return score
    bounds = score.metric.smallest, score.metric.largest
    spread = opened(interval, score.value, bounds, score.statistics.rows - score.unscored, how.interval)
    if spread is None:
        return score
    return replace(score, interval=spread, signature=with_part(score.signature, "interval", how.signed))


def scored(scores: Mapping[str, Score], key: str | Metric) -> Score:
    """The score of that metric, or key in any spelling. Raises `NotScoredError`, a `KeyError`, where there is none."""
    matching = key_among(scores, key)
    if matching is None:
        name = key.key if isinstance(key, Metric) else key
        raise NotScoredError(f"{name!r} was not scored; scored: {', '.join(scores)}")
    return scores[matching]


def counted(number: int, what: str) -> str:
    """`1 image`, `2,000 images`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def values_of(scores: Mapping[str, Score]) -> str:
    """Keys and values in one line: `rouge-l 0.5163, cider-d 1.8330`."""
    return ", ".join(f"{key} {score.value:.4f}" for key, score in scores.items())


@dataclass(frozen=True, eq=False, repr=False)
class Result(Printable, Keyed[Score]):
    """Scores of one system, by metric key or metric: `result["cider-d"].value`, `result[CiderD()].value`.

    Every spelling of a metric is a key: `result["CIDEr"]`, `result["Bleu_4"]`, `result["cider-d(sigma=6)"]`.

    Examples:
        >>> references, captions = sacrecap.example.references(), sacrecap.example.systems()["careful"]
        >>> result = sacrecap.score(references, captions, "rouge-l, cider-d")
        >>> f"{result['CIDEr']:.3f}", list(result), result.images
        ('1.833', ['rouge-l', 'cider-d'], 60)
        >>> sacrecap.score(references, captions, "cider-d", interval=None)["cider-d"].signature
        'cider-d|images:60/60|refs:5@ac46d984|caps:af9c7323|df:corpus(60)|tok:ptb|sacrecap:0.1.0'
        >>> result
        <Result of 60 images: rouge-l 0.6447, cider-d 1.8334>
    """

    version: str
    """Version of sacrecap."""
    image_ids: list[str]
    """The images, in the order of the references."""
    scores: dict[str, Score]
    """The same as the mapping: each score by its metric's key, in the order of `metrics`."""
    resampling: Resampling
    """How the intervals were made, if there are any."""
    corpus: Corpus
    """The captions that were scored."""
    needs: Needs = field(default_factory=Needs)
    """The needs that were given; explanations use them again if the result was pickled."""
    groups: Groups | None = None
    """The scores of groups of images, where they were asked for: see `by`."""

    _field: ClassVar[str] = "scores"

    def __getitem__(self, key: str | Metric) -> Score:
        return scored(self.scores, key)

    @property
    def images(self) -> int:
        """Number of images scored; `image_ids` are empty where an engine added their statistics up."""
        return max((score.statistics.rows for score in self.scores.values()), default=len(self.image_ids))

    @cached_property
    def findings(self) -> list[Finding]:
        """What a look at the captions says about the scores, before anybody believes them; empty for ordinary ones."""
        return findings(self.corpus.seen, [score.metric for score in self.scores.values()])

    @property
    def notes(self) -> list[str]:
        """Notes on the scores and their intervals."""
        scores, weighed = self.scores.values(), "document_frequency" not in self.needs
        general = notes((of.metric for of in scores), self.resampling, images=self.images, own_frequencies=weighed)
        if self.groups is not None:
            general += self.groups.notes
        better = [score.label for score in scores if self.corpus.filled and score.metric.lower_is_better]
        if better:
            images = f"{counted(self.corpus.filled, 'image')} without candidate, scored as an empty caption, can"
            remedy = f"leave such out by {option('on_missing', 'skip')}"
            general.append(f"{', '.join(better)}: lower is better, and {images} only improve it; {remedy}.")
        of_metrics = (note for score in scores for note in score.metric.notes(score.statistics))
        usage = () if self.needs.usage is None else (f"judge: {self.needs.usage}",)
        return [*general, *dict.fromkeys(of_metrics), *usage]

    @property
    def explains(self) -> tuple[str, ...]:
        """The kinds of explanations that the scored metrics give of an image: `alignment`, `explanation`, `graph`,
        `hallucination`, `statement`, `item`.
        """
        return tuple(self._explaining)

    @property
    def _explaining(self) -> dict[str, tuple[Score, Metric]]:
        """By kind, the first score that is explained so, and the metric that does it."""
        first: dict[str, tuple[Score, Metric]] = {}
        for score in self.scores.values():
            for part in (score.metric, *score.metric.parts):
                if part.explains:
                    first.setdefault(part.explains, (score, part))
        return first

    def alignment(self, image_id: str) -> Alignment | None:
        """How METEOR aligned the image's candidate with its best reference; printable. None for an image without words.

        Raises `UsageError` when METEOR was not scored, or for an unknown image.
        """
        return self._explained("alignment", "alignments are METEOR's", image_id)  # type: ignore[no-any-return]

    def explanation(self, image_id: str) -> Explanation:
        """VIFIDEL's plan for an image: which object moves to which word; printable. If several variants were scored, of
        the first.

        Raises `UsageError` when VIFIDEL was not scored, or for an unknown image.
        """
        return self._explained("explanation", "explanations are VIFIDEL's", image_id)  # type: ignore[no-any-return]

    def graph(self, image_id: str) -> GraphMatch:
        """The scene graphs that SPICE compared for an image: all that the candidate and the references say, whatever
        the category, and what matches by which rule; printable, and drawn in a notebook.

        Raises `UsageError` when SPICE was not scored, or for an unknown image.
        """
        return self._explained("graph", "scene graphs are SPICE's", image_id)  # type: ignore[no-any-return]

    def hallucination(self, image_id: str) -> Hallucination:
        """Which words of the image's candidate name which object, where they stand, and which objects are not there;
        printable. Of several settings of CHAIR, the first's.

        Raises `UsageError` when CHAIR was not scored, or for an unknown image.
        """
        return self._explained("hallucination", "hallucinations are CHAIR's", image_id)  # type: ignore[no-any-return]

    def explain(self, image_id: str) -> dict[str, Any]:
        """How the scored metrics came to the image's scores, by kind: METEOR's `alignment`, VIFIDEL's `explanation`,
        SPICE's `graph`, CHAIR's `hallucination`, the `statement` of coverage and precision, rubric's `item`.

        Each prints as text and has `to_dict`; an alignment is None for an image without words. Of several metrics that
        explain in the same kind, the first's.

        Raises `UsageError` when no scored metric explains an image, or for an unknown image.
        """
        if not self.explains:
            raise UsageError(
                "only METEOR, VIFIDEL, SPICE, CHAIR, coverage, precision and rubric explain an image, and none of them "
                f"was scored; scored: {', '.join(self.scores)}"
            )
        return {kind: self._explained(kind, kind, image_id) for kind in self.explains}

    def _explained(self, kind: str, whose: str, image_id: str) -> Any:
        """The explanation of that kind by the first metric that gives one."""
        if not self.corpus.candidate_captions.image_count:
            raise UsageError("the captions were not kept, so nothing is explained; score them with sacrecap.score")
        if kind not in self._explaining:
            raise UsageError(f"{whose}, which was not scored; scored: {', '.join(self.scores)}")
        score, part = self._explaining[kind]
        number, ready = self.corpus.number(image_id), score.ready
        if ready is None:  # as the score was pickled
            prepare = partial(score.metric.ready, self.corpus, self.needs)
            ready = self.needs.once(("ready", score.metric), prepare, of=self.corpus)
        return part.explain_image(ready.parts.get(part, ready), self.corpus, number)

    @words_of_command_line()  # the document of the command, to the letter
    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap score`: version, images, scores, intervals, signatures, findings; coverage of
        metrics that compare word vectors; landmarks of metrics that have some; the images given and what was left out,
        where something was; how many images have no score, where some have none; the intervals' method where it is not
        the percentile; notes where there are any. A score is None if no image has one.
        """
        scores, usage, notes = self.scores.items(), self.needs.usage, self.notes
        lacking = {key: unscored for key, score in scores if (unscored := score.unscored)}
        landmarks = {key: marks for key, score in scores if (marks := score.landmarks)}
        coverage = {key: share for key, score in scores if (share := score.coverage) is not None}
        return {
            "sacrecap": self.version,
            "images": self.images,
            **self.corpus.left_out_in_json(self.images),
            "scores": {key: finite(score.value) for key, score in scores},
            "intervals": {key: list(score.interval) for key, score in scores if score.interval is not None},
            **({"without_score": lacking} if lacking else {}),
            "signatures": {key: score.signature for key, score in scores},
            "findings": [finding.to_dict() for finding in self.findings],
            **({"coverage": coverage} if coverage else {}),
            **({"landmarks": landmarks} if landmarks else {}),
            **(self.resampling.to_dict() if self.resampling.interval is not None else {}),
            **({} if self.groups is None else {"by": self.groups.column, "groups": self.groups.to_dict()}),
            **({} if usage is None else {"judge": usage.to_dict()}),
            **({"notes": notes} if notes else {}),
        }

    def by(self, groups: Mapping[str, Any], column: str = "group") -> Result:
        """The result with the scores of groups of images in `groups`, which tables, JSON and reports show.

        Args:
            groups: the group of each image, by image id; images without one are in no group.
            column: what the groups are called.

        Raises:
            DataError: no image has a group.
            UsageError: an engine added the statistics up, and kept none of single images.

        Examples:
            >>> references, captions = sacrecap.example.references(), sacrecap.example.systems()["careful"]
            >>> result = sacrecap.score(references, captions, "rouge-l", interval=None)
            >>> by = result.by({image: image[0] for image in result.image_ids}, "letter")
            >>> by.groups.images("b"), f"{by.groups.scores['b']['rouge-l']:.3f}"
            (9, '0.669')
        """
        for score in self.values():
            _ = score.rows  # of every image, or an error
        places: dict[str, list[int]] = {}
        group_of = dict(zip(image_ids(groups), groups.values(), strict=True))
        for place, image in enumerate(self.image_ids):
            if image in group_of:
                places.setdefault(str(group_of[image]), []).append(place)
        if not places:
            raise DataError(
                f"no image that was scored has a value in {column}; sacrecap inspect FILE says which columns a file has"
            )
        how, metrics = self.resampling, [score.metric for score in self.scores.values()]
        scores: dict[str, dict[str, Score]] = {}
        for group in sorted(places):
            tables = [score.rows.select(places[group]) for score in self.scores.values()]
            alone = len(places[group]) < 2 and how.interval_method == "jackknife"  # one image has no interval by that
            bounds = [None] * len(metrics) if alone else intervals(tables, metrics, how)
            scores[group] = {}
            for (key, score), table, between in zip(self.scores.items(), tables, bounds, strict=True):
                signature = with_part(without(score.signature, "interval"), "group", f"{column}={group}")
                scores[group][key] = within(Score(score.metric, table, signature), between, how)
        return replace(self, groups=Groups(column, scores, len(self.image_ids) - sum(map(len, places.values()))))

    def flat(self, prefix: str = "", *, percent: bool = False) -> dict[str, float]:
        """The scores as a flat dictionary of floats, for loggers.

        Args:
            prefix: put before each name, such as `"val/"`.
            percent: scores times 100, as papers print them.

        Returns:
            the score of each metric by its key, in names that MLflow takes too: of letters, digits, `_`, `-`, `.`, `/`
            and blanks alone, so that `cider-d(sigma=5)` is `cider-d.sigma_5`. NaN if no image has a score.

        Examples:
            >>> result = sacrecap.score({"1": ["a dog runs"]}, {"1": "a dog runs"}, "rouge-s, rouge-l", interval=None)
            >>> result.flat("val/", percent=True)
            {'val/rouge-s': 100.0, 'val/rouge-l': 100.0}
        """
        flat = {}
        for key, score in self.scores.items():
            inside = key.replace("(", ".").replace(")", "").replace(", ", ".")
            name = re.sub(r"[^\w\-./ ]", "_", inside, flags=re.ASCII)
            flat[f"{prefix}{name}"] = score.value * (100 if percent else 1)
        return flat

    def to_pandas(self) -> pandas.DataFrame:
        """Per-image scores: one row per image (index `image_id`), one column per metric.

        Raises `MissingDependencyError` when pandas is not installed.
        """
        with of_extra("pandas", "Result.to_pandas"):
            import pandas
        columns = {key: score.per_image for key, score in self.scores.items()}
        return pandas.DataFrame(columns, index=pandas.Index(self.image_ids, name="image_id"))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<Result of {counted(self.images, 'image')}: {values_of(self.scores)}>"


@dataclass(frozen=True)
class Groups:
    """The scores of each group, by what the images of it have in common."""

    column: str
    """What that is called: the column of a file."""
    scores: Mapping[str, Mapping[str, Score]]
    """By group and metric."""
    left_out: int = 0
    """Images of no group."""

    def images(self, group: str) -> int:
        """Number of images in the group."""
        return max(score.statistics.rows for score in self.scores[group].values())

    @property
    def notes(self) -> list[str]:
        """What a reader of the groups needs to know."""
        note = "Groups: each image has the score that it has among all images, whose references weigh the words."
        outside = f"{self.left_out:,} images have no {self.column}, and are in no group."
        return [note, outside] if self.left_out else [note]

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


_SAID = {
    "no candidate": "images without candidate",
    "several candidates": "images with several candidates",
    "bad row": "rows that cannot be scored",
    "extra candidate": "candidates of images without references",
    "blank reference": "references that are blank",
    "excluded annotation": "captions that the data set excludes",
    "filled": "images without candidate",
}


def images_of(result: SystemResult) -> str:
    """How many images were scored, of how many given ones where those are more: `593 of 5,000 images`."""
    every = result.images + result.corpus.images_left_out
    of_every = f" of {every:,}" if every > result.images else ""
    return f"{result.images:,}{of_every} image{'' if every == 1 else 's'}"


def left_out(systems: Mapping[str, SystemResult]) -> str:
    """What was left out, of which systems where these differ, and how many images count as an empty caption."""
    corpora = {name: result.corpus for name, result in systems.items()}
    phrases: dict[str, list[str]] = {"left out": [], "scored as empty captions": []}
    for reason, what in _SAID.items():
        is_filled = reason == "filled"
        counts = {name: of.filled if is_filled else of.left_out.get(reason, 0) for name, of in corpora.items()}
        if len({*counts.values()}) == 1:  # one number where all systems have as many
            counts = {"": next(iter(counts.values()))}
        phrases["scored as empty captions" if is_filled else "left out"] += [
            f"{count:,} {what if count > 1 else what.replace('s ', ' ', 1).replace('are', 'is')}"
            + f" ({name})" * bool(name)
            for name, count in counts.items()
            if count
        ]
    return "; ".join(f"{what}: {', '.join(parts)}" for what, parts in phrases.items() if parts)


def missing(results: Mapping[str, Mapping[str, Score]]) -> list[str]:
    """How many images have no score, by metric, and of which system."""
    phrases = []
    for key, score in next(iter(results.values())).items():
        counts = {system: result[key].unscored for system, result in results.items()}
        of_systems = [f"{counted(count, 'image')} of {system}" for system, count in counts.items() if count]
        if of_systems and len({*counts.values()}) == 1:
            of_systems = [counted(score.unscored, "image") + (" of each" if len(results) > 1 else "")]
        if of_systems:
            phrases.append(f"no {score.label} of {', '.join(of_systems)}")
    return phrases
