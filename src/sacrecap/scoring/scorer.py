"""A scorer for pipelines of others: batches of columns in, the same with columns of scores out."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sacrecap import _core
from sacrecap.choices import ON_BAD_ROW_OF_BATCH, TOKENIZERS, OnBadRowOfBatch, Tokenizer
from sacrecap.corpus.corpus import Corpus, added
from sacrecap.data.frames import Frame, chosen_columns, opened
from sacrecap.data.partitioned.column_checks import ColumnCheck
from sacrecap.errors import DataError, UnfitImages, UsageError, accepted_name, option, spelled
from sacrecap.metrics.base import Ready
from sacrecap.metrics.cider import proposed
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Given, Needs
from sacrecap.resources.objects_of_images import known_objects
from sacrecap.scoring.count import CountedMetric, count_quietly
from sacrecap.scoring.folded import Folded
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.result import Result, Score, counted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Unpack

    from sacrecap.corpus.corpus import Tallies
    from sacrecap.metrics import Metric

B = TypeVar("B")
Span: TypeAlias = "tuple[()] | tuple[int, int]"
"""The fewest and the most of something; empty without any rows."""

_OF_IMAGES = {"images", "objects"}
"""Needs that are found by image id."""


class Scorer:
    """Scores captions where they are: in batches of a pipeline's own rows, on any number of machines.

    `scorer(batch)` returns the batch with a column of scores per metric, in the order of its rows. Each row is a
    caption with its references, by itself: the scores are those of `sacrecap.score(…).per_image` to the bit, whatever
    the batches. Image ids may repeat, or be absent. `scorer.statistics(batch)` gives sums instead, which add up to the
    score of the corpus.

    A scorer is small when it is pickled: document frequencies that come from a file go by its path, and every process
    of a machine maps the same memory. Networks load when a process first needs them, once.

    Args:
        metrics: as for [`sacrecap.score`][]; of captions, not of caption sets.
        captions: the column of captions, one per row. By default `candidate`, `prediction`, `caption` or what else
            the readers of files know (see `docs/reference/files.md`).
        references: the column of references, lists of texts or a text; or several such columns. By default
            `references`, `reference`, or a second column of captions. Not read where no metric needs references.
        image_id: the column of image ids, for metrics that look at images or objects; read for no other.
        prefix: put before the names of the columns of scores, which are the metrics' keys.
        on_bad_row: what to do with a row without references, or with one that cannot be scored: `error`, or `null`, no
            score by any metric. A caption that is null is an empty one.
        tokenizer: see [`sacrecap.tokenize`][]; not `ptb-stream`, in which captions depend on their neighbours.
        threads: number of threads; 0 means one per core. One by default, since pipelines have a process per core.
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][].
        **given: the same by keyword. `document_frequency` must be given for metrics that weight words by a corpus.

    Raises:
        UsageError: an unknown metric, one that depends on the other rows of a batch, or an unacceptable value.

    Examples:
        >>> scorer = sacrecap.Scorer("rouge-l, bleu-1")
        >>> batch = {"caption": ["a dog", "a bus"], "references": [["a dog runs"], ["a red bus", "one bus"]]}
        >>> {name: [round(score, 3) for score in scorer(batch)[name]] for name in scorer.columns}
        {'rouge-l': [0.772, 0.772], 'bleu-1': [0.607, 1.0]}
        >>> total = sum(scorer.statistics(batch) for _ in range(3))
        >>> total.result()
        <Result of 6 images: rouge-l 0.7722, bleu-1 0.7788>
    """

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric] = "coco",
        *,
        captions: str | None = None,
        references: str | Sequence[str] | None = None,
        image_id: str | None = None,
        prefix: str = "",
        on_bad_row: OnBadRowOfBatch = "error",
        tokenizer: Tokenizer = "ptb",
        threads: int = 1,
        needs: Needs | Mapping[str, object] | None = None,
        **given: Unpack[Given],
    ) -> None:
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        accepted_name("on_bad_row", on_bad_row, ON_BAD_ROW_OF_BATCH)
        self._needs = Needs.of(needs, given, threads=threads)
        self.metrics: tuple[Metric, ...] = parse_metrics(metrics, self._needs)
        """The metrics, as values."""
        about = references if references is None or isinstance(references, str) else tuple(references)
        self._columns = (captions, about, image_id)
        self._prefix, self._on_bad_row, self._tokenizer = prefix, on_bad_row, tokenizer
        if tokenizer == "ptb-stream":
            raise UsageError(
                "the tokenizer ptb-stream reads all captions as one text, and rows come in batches; take ptb"
            )
        for metric in self.metrics:
            _check(metric, self._needs)
        parts = [part for metric in self.metrics for part in metric.parts]
        self._described = any(part.needs_references for part in parts)
        self._of_images = any(_OF_IMAGES & {*part.needs} for part in parts)

    @property
    def columns(self) -> list[str]:
        """Names of the columns of scores, which are float64: for the schema of what comes out."""
        return [f"{self._prefix}{metric.key}" for metric in self.metrics]

    def __call__(self, batch: B) -> B:
        """The batch with a column of scores per metric.

        Args:
            batch: a pyarrow RecordBatch or Table, a pandas or Polars DataFrame, or a dictionary of columns.

        Returns:
            The same kind of batch. A row without a score is null in Arrow and Polars, None in lists, NaN elsewhere.

        Raises:
            DataError: a column is missing, or a row cannot be scored; the message names it.
        """
        import numpy as np

        frame = opened(batch)
        taken = [name for name in self.columns if name in frame.names]
        if taken:
            raise DataError(
                f"the batch has a column {taken[0]} already; drop it, or name the columns of scores by "
                f"{option('prefix', 'TEXT')}"
            )
        rows, found, *_ = self._counted(frame)
        scores = {name: np.full(len(frame), np.nan) for name in self.columns}
        for one, column in zip(found, scores.values(), strict=False):
            column[rows] = np.frombuffer(one.statistics.row_scores(), dtype="<f8")
        return frame.with_scores(scores)  # type: ignore[no-any-return]

    def statistics(self, batch: object) -> Sums:
        """The sums of the metrics' statistics over the rows of a batch; arguments and errors as for a call.

        They add up in any order: with `+`, with `sum`, and in other processes.
        """
        import pyarrow

        frame = opened(batch)
        rows, found, corpus = self._counted(frame)
        fold = _core.Fold(0, 0)
        if corpus is None:
            return Sums(self, fold, (), (), {}, len(frame))
        fold.add([one.statistics for one in found], pyarrow.array(rows), self._needs.threads)
        about = tuple(one.ready.signature for one in found)
        seen = corpus.tallies(self._needs.threads)
        return Sums(self, fold, about, corpus.reference_counts, seen, len(frame) - len(rows))

    def _counted(self, frame: Frame) -> tuple[npt.NDArray[np.int64], list[CountedMetric], Corpus | None]:
        """The rows that can be scored, their statistics and their corpus; none without any row.

        Raises `DataError` for a row that cannot be scored, unless such have no score.
        """
        import numpy as np
        import pyarrow

        columns, reasons = self._checked(frame)
        while True:
            if reasons and self._on_bad_row == "error":
                raise _bad_row(reasons)
            rows = np.delete(np.arange(len(frame)), list(reasons))
            if not len(rows):
                return rows, [], None
            numbers = pyarrow.array(rows)
            try:
                found, corpus = self._score(numbers, *(None if own is None else own.take(numbers) for own in columns))
            except UnfitImages as error:
                reasons.update((int(rows[place]), str(error)) for place in error.places)
            else:
                return rows, found, corpus

    def _checked(self, frame: Frame) -> tuple[list[Any], dict[int, str]]:
        """The columns of captions, references and image ids, None where they are not wanted; and what is wrong with
        rows, by place.
        """
        import pyarrow

        found = ColumnCheck(is_table=False, has_lists=False)  # a row is one caption
        chosen = chosen_columns(
            tuple(frame.names), *self._columns, described=self._described, of_images=self._of_images
        )
        columns = {name: frame.column(name, found.bad) for name in chosen.all}
        captions = found.captions([columns[chosen.captions]], [chosen.captions])
        if pyarrow.types.is_nested(captions.type):
            raise DataError(f"the column {chosen.captions} has lists; a row is one caption: give each a row of its own")
        references = ids = None
        if chosen.references:
            references = found.references([columns[name] for name in chosen.references], chosen.references)
        if chosen.image_id is not None:
            ids = found.ids(columns[chosen.image_id], chosen.image_id)
            objects = known_objects(self._needs)
            for place, image in enumerate(ids.to_pylist()):
                if objects is not None and image not in objects:
                    found.bad(place, f"no objects are known of image {image!r}; give it an empty list if it has none")
        return [captions, references, ids], found.reasons

    def _score(self, numbers: Any, captions: Any, references: Any, ids: Any) -> tuple[list[CountedMetric], Corpus]:
        """The statistics of rows with these numbers, and their corpus."""
        described = None if references is None else _core.Captions.of_arrow(numbers, references)
        [corpus] = Corpus.of_part(
            described,
            {"": _core.Captions.of_arrow(numbers, captions)},
            tokenizer=self._tokenizer,
            threads=self._needs.threads,
        ).values()
        needs = self._needs
        if ids is not None:
            needs = needs.with_({}, image_of=dict(zip(corpus.image_ids, ids.to_pylist(), strict=True)))
        return count_quietly(corpus, self.metrics, needs), corpus

    def __reduce__(self) -> tuple[Any, ...]:
        return _here, (vars(self),)

    def __repr__(self) -> str:
        return f"<Scorer: {', '.join(metric.key for metric in self.metrics)}>"


_KEPT = 4
_known: dict[bytes, Scorer] = {}
"""Scorers that came from elsewhere, by the checksum of what came: a process to which one comes with every task opens
files and networks once.
"""


def _here(state: dict[str, Any]) -> Scorer:
    """The scorer that was pickled, as this process has it."""
    scorer = Scorer.__new__(Scorer)
    vars(scorer).update(state)
    try:
        checksum = hashlib.sha256(pickle.dumps(state)).digest()
    except (pickle.PicklingError, AttributeError, TypeError):  # holds what only the pickler of the other side can take
        return scorer
    if checksum not in _known:
        while len(_known) >= _KEPT:
            _known.pop(next(iter(_known)), None)
        _known[checksum] = scorer
    return _known[checksum]


def _check(metric: Metric, needs: Needs) -> None:
    """Raises `UsageError` for a metric whose score of a row depends on other rows."""
    if metric.scores_sets:
        raise UsageError(
            f"{metric.key} scores caption sets, and a row is one caption; use "
            f"{spelled(python='sacrecap.diversity', command='sacrecap diversity')}"
        )
    if metric.uses_document_frequency and "document_frequency" not in needs:
        raise UsageError(
            f"{metric.key} weights words by how many images have them, which a batch cannot tell; give "
            f"{proposed(metric.parts)}"
        )
    if any(part.trained_on_references for part in metric.parts):
        raise UsageError(
            f"{metric.key} learns from the references of all images, and a batch has few; score the whole with "
            "sacrecap.score, in memory or with an engine, or leave the metric out"
        )


def _bad_row(reasons: Mapping[int, str]) -> DataError:
    row = min(reasons)
    others = f" (and {counted(len(reasons) - 1, 'more row')} like it)" if len(reasons) > 1 else ""
    return DataError(
        f"row {row} of the batch: {reasons[row]}{others}; correct it, or give such rows no score with "
        f"{option('on_bad_row', 'null')}"
    )


class Sums:
    """The sums of metrics' statistics over rows, of one batch or of many: what the score of a corpus is made of.

    The sums are exact: any batches in any order give the same bits, those of [`sacrecap.score`][].
    """

    def __init__(
        self,
        scorer: Scorer,
        fold: _core.Fold,
        about: tuple[tuple[str, ...], ...],
        references: Span,
        seen: Tallies,
        bad_rows: int,
    ) -> None:
        self._scorer, self._fold, self._about, self._references, self._seen = scorer, fold, about, references, seen
        self.bad_rows = bad_rows
        """Number of rows that are left out, since they cannot be scored (`on_bad_row="null"`)."""

    @property
    def rows(self) -> int:
        """Number of rows that were scored."""
        return self._fold.rows

    def __add__(self, other: object) -> Sums:
        """The sums over the rows of both. Raises `UsageError` for those of other metrics or settings."""
        if not isinstance(other, Sums):
            return self if other == 0 else NotImplemented
        if self._about and other._about and self._about != other._about:
            raise UsageError(f"sums by other settings cannot be added: {self._about} and {other._about}")
        fold = _core.Fold(0, 0)
        fold.merge(self._fold)
        fold.merge(other._fold)
        spans = [*self._references, *other._references]
        references = (min(spans), max(spans)) if spans else ()
        about, seen = self._about or other._about, added(self._seen, other._seen)
        return Sums(self._scorer, fold, about, references, seen, self.bad_rows + other.bad_rows)

    __radd__ = __add__  # of `sum`, which begins with 0

    def result(self) -> Result:
        """The scores of all rows as a corpus, as [`sacrecap.score`][] returns them: without intervals, and without the
        rows, so that there are no scores of images, and nothing is explained. What is found about captions has the
        number of a row in its batch for an example, and is nothing that takes several rows, such as a common beginning.

        Raises `DataError` where no row was scored.
        """
        if not self.rows:
            raise DataError("no row was scored")
        scorer = self._scorer
        nothing = _core.Captions.of_images([], None)
        [corpus] = Corpus.of_part(None, {"": nothing}, tokenizer=scorer._tokenizer).values()
        corpus.reference_counts = self._references or (0, 0)
        corpus.is_part_with(self._seen)
        scores = {}
        for place, (metric, about, unscored) in enumerate(
            zip(scorer.metrics, self._about, self._fold.unscored(), strict=True)
        ):
            total = self._fold.statistics(place)
            signature = CountedMetric(metric, Ready(corpus._core, signature=about), total).signature(corpus)
            scores[metric.key] = Score(metric, Folded(self.rows, unscored, total, total.select([])), signature)
        return Result(_core.__version__, [], scores, Resampling(None), corpus, scorer._needs)

    def __repr__(self) -> str:
        return f"<Sums of {counted(self.rows, 'row')}: {', '.join(metric.key for metric in self._scorer.metrics)}>"
