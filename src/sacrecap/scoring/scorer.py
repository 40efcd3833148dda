"""A scorer for pipelines of others: batches of columns in, the same with columns of scores out."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sacrecap import _core
from sacrecap.choices import ON_BAD_ROW_OF_BATCH, TOKENIZERS, OnBadRowOfBatch, Tokenizer
from sacrecap.corpus.corpus import Corpus
from sacrecap.data.frames import Frame, chosen_columns, opened
from sacrecap.data.partitioned.column_checks import ColumnCheck
from sacrecap.errors import DataError, UnfitImages, UsageError, accepted_name, option, spelled
from sacrecap.metrics.cider import proposed
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Given, Needs
from sacrecap.resources.objects_of_images import known_objects
from sacrecap.scoring.collected import Extent, Rows, RowsPart, ScoredAs, Sums
from sacrecap.scoring.count import CountedMetric, count_quietly
from sacrecap.scoring.result import counted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Unpack

    from sacrecap.metrics import Metric

B = TypeVar("B")
_OF_IMAGES = {"images", "objects"}
"""Needs that are found by image id."""


class Scorer:
    """Scores captions where they are: in batches of a pipeline's own rows, on any number of machines.

    `scorer(batch)` returns the batch with a column of scores per metric, in the order of its rows. Each row is a
    caption with its references, by itself: the scores are those of `sacrecap.score(…).per_image` to the bit, whatever
    the batches. Image ids may repeat, or be absent. `scorer.rows(batch)` gives what scores are made of, of which the
    score of the corpus is made, with intervals and tests; `scorer.statistics(batch)` the same added up.

    A scorer is small when it is pickled: document frequencies that come from a file go by its path, and every process
    of a machine maps the same memory. Networks load when a process first needs them, once.

    Args:
        metrics: as for [`sacrecap.score`][]; of captions, not of caption sets.
        captions: the column of captions, one per row. By default `candidate`, `prediction`, `caption` or what else
            the readers of files know (see `docs/reference/files.md`).
        references: the column of references, lists of texts or a text; or several such columns. By default
            `references`, `reference`, or a second column of captions. Not read where no metric needs references.
        image_id: the column of image ids, for metrics that look at images or objects, and for paired tests of `rows`.
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
        self._scored_as = ScoredAs(self.metrics, self._needs, tokenizer)
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

    def rows(self, batch: object) -> Rows:
        """The rows of the metrics' statistics of a batch; arguments and errors as for a call.

        They are put together with `+` and `sum`, also in other processes, and have intervals and tests. Paired tests
        need the image ids of rows: name their column by `image_id`.
        """
        return Rows(self._scored_as, [self._part(opened(batch))])

    def statistics(self, batch: object) -> Sums:
        """The sums of the metrics' statistics over the rows of a batch; arguments and errors as for a call.

        They add up in any order: with `+`, with `sum`, and in other processes.
        """
        return Sums.of(self._scored_as, self._part(opened(batch)))

    def _part(self, frame: Frame) -> RowsPart:
        rows, found, corpus, ids = self._counted(frame)
        bad = len(frame) - len(rows)
        if corpus is None:
            return RowsPart(None, [], Extent(bad_rows=bad))
        return RowsPart(ids, [one.statistics for one in found], Extent.of(found, corpus, self._needs.threads, bad))

    def _counted(
        self, frame: Frame
    ) -> tuple[npt.NDArray[np.int64], list[CountedMetric], Corpus | None, list[str] | None]:
        """The rows that can be scored, their statistics, corpus and image ids; none without any row, or as far as they
        are not wanted.

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
                return rows, [], None, None
            numbers = pyarrow.array(rows)
            try:
                found, corpus = self._score(numbers, *(None if own is None else own.take(numbers) for own in columns))
            except UnfitImages as error:
                reasons.update((int(rows[place]), str(error)) for place in error.places)
            else:
                ids = columns[2]
                return rows, found, corpus, None if ids is None else ids.take(numbers).to_pylist()

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
