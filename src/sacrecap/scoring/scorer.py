"""A scorer for pipelines of others: batches of columns in, the same with columns of scores out."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sacrecap import _core
from sacrecap.choices import ON_BAD_ROW_OF_BATCH, TOKENIZERS, OnBadRowOfBatch, Tokenizer
from sacrecap.corpus.corpus import Corpus, added_up
from sacrecap.data.cells import unwritten, warn_of_empty
from sacrecap.data.inputs import Frame, chosen_columns
from sacrecap.errors import DataError, UnfitImages, UsageError, accepted_name, option, spelled
from sacrecap.metrics.cider import proposed
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Given, Needs
from sacrecap.scoring.collected import Extent, Rows, RowsPart, ScoredAs, Sums
from sacrecap.scoring.result import counted
from sacrecap.scoring.score import CountedMetric, count

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Unpack

    from sacrecap._core import Captions
    from sacrecap.metrics import Metric

B = TypeVar("B")


def _column(frame: Frame, names: Sequence[str], reasons: dict[int, str]) -> Captions:
    """The captions in columns, by the numbers of the rows; notes what is wrong with rows."""
    numbers = list(range(len(frame)))
    builder = _core.CaptionsBuilder(first=0, lenient=True)
    builder.extend(numbers, [[]] * len(numbers))  # so that each row has its place
    for name in names:
        before = len(builder.bad())
        builder.extend(numbers, frame.values(name))
        for row, reason in builder.bad()[before:]:
            reasons.setdefault(row % len(numbers), f"{name}: {reason}")
    unfit: dict[str, str] = {}
    captions = unwritten(builder.finish(), unfit)
    for number, reason in [*unfit.items(), *captions.problems()]:
        reasons.setdefault(int(number), f"{' and '.join(names)}: {reason}")
    return captions


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
        **keywords: the same by keyword. `document_frequency` must be given for metrics that weight words by a corpus.

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
        **keywords: Unpack[Given],
    ) -> None:
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        accepted_name("on_bad_row", on_bad_row, ON_BAD_ROW_OF_BATCH)
        self._needs = Needs.of(needs, keywords, threads=threads)
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
            if metric.scores_sets:
                raise UsageError(
                    f"{metric.key} scores caption sets, and a row is one caption; use "
                    f"{spelled(python='sacrecap.diversity', command='sacrecap diversity')}"
                )
            if metric.uses_document_frequency and "document_frequency" not in self._needs:
                raise UsageError(
                    f"{metric.key} weights words by how many images have them, which a batch cannot tell; give "
                    f"{proposed(metric.parts)}"
                )
            if any(part.trained_on_references for part in metric.parts):
                raise UsageError(
                    f"{metric.key} learns from the references of all images, and a batch has few; score the whole with "
                    "sacrecap.score, in memory or with an engine, or leave the metric out"
                )
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

        frame = Frame(batch)
        clashing = [name for name in self.columns if name in frame.names]
        if clashing:
            raise DataError(
                f"the batch has a column {clashing[0]} already; drop it, or name the columns of scores by "
                f"{option('prefix', 'TEXT')}"
            )
        rows, metrics, *_ = self._counted(frame)
        scores = {name: np.full(len(frame), np.nan) for name in self.columns}
        for metric, column in zip(metrics, scores.values(), strict=False):
            column[rows] = np.frombuffer(metric.statistics.row_scores(), dtype="<f8")
        return frame.with_scores(scores)  # type: ignore[no-any-return]

    def rows(self, batch: object) -> Rows:
        """The rows of the metrics' statistics of a batch; arguments and errors as for a call.

        They are put together with `+` and `sum`, also in other processes, and have intervals and tests. Paired tests
        need the image ids of rows: name their column by `image_id`.
        """
        return Rows(self._scored_as, [self._part(Frame(batch))])

    def statistics(self, batch: object) -> Sums:
        """The sums of the metrics' statistics over the rows of a batch; arguments and errors as for a call.

        They add up in any order: with `+`, with `sum`, and in other processes.
        """
        part, sums = self._part(Frame(batch)), _core.ExactSums()
        sums.add(part.statistics)
        return Sums(self._scored_as, sums, part.extent)

    def _part(self, frame: Frame) -> RowsPart:
        rows, metrics, corpus, ids = self._counted(frame)
        left_out = {"bad row": len(frame) - len(rows)}
        if corpus is None:
            return RowsPart(None, [], Extent(left_out=left_out))
        extent = Extent.of(metrics, corpus, self._needs.threads, added_up(left_out, corpus.reference_captions.left_out))
        return RowsPart(ids, [metric.statistics for metric in metrics], extent)

    def _counted(
        self, frame: Frame
    ) -> tuple[npt.NDArray[np.int64], list[CountedMetric], Corpus | None, list[str] | None]:
        """The numbers of the rows that can be scored, their statistics, corpus and image ids, as far as there are."""
        import numpy as np

        captions, references, ids, reasons = self._checked(frame)
        while True:
            if reasons and self._on_bad_row == "error":
                row = min(reasons)
                more = f" (and {counted(len(reasons) - 1, 'more row')} like it)" if len(reasons) > 1 else ""
                remedy = f"correct it, or give such rows no score with {option('on_bad_row', 'null')}"
                raise DataError(f"row {row} of the batch: {reasons[row]}{more}; {remedy}")
            rows = np.delete(np.arange(len(frame)), list(reasons))
            if not len(rows):
                return rows, [], None, None
            ids_of_rows = None if ids is None else [ids[row] for row in rows]
            places = rows.tolist()
            chosen = captions.select(places)
            described = None if references is None else references.select(places)
            if ids_of_rows is not None and len({*ids_of_rows}) == len(places):  # else their numbers name the rows
                chosen = captions.aligned(ids_of_rows, places)
                described = references and references.aligned(ids_of_rows, places)
            needs, tokenizer = self._needs, self._tokenizer
            try:
                parts = Corpus.of_part(described, {"": chosen}, tokenizer=tokenizer, threads=needs.threads)
                if ids_of_rows is not None:
                    needs = needs.with_({}, image_of=dict(zip(parts[""].image_ids, ids_of_rows, strict=True)))
                return rows, count(parts[""], self.metrics, needs, warned=False), parts[""], ids_of_rows
            except UnfitImages as error:
                reasons.update((int(rows[place]), str(error)) for place in error.places)

    def _checked(self, frame: Frame) -> tuple[Captions, Captions | None, list[str] | None, dict[int, str]]:
        """Captions, references and image ids, None where these are not wanted, by row; and what is wrong with rows."""
        columns = chosen_columns(
            tuple(frame.names), *self._columns, described=self._described, of_images=self._of_images
        )
        reasons: dict[int, str] = {}
        captions = _column(frame, columns.captions, reasons)
        for row, number in enumerate(captions.caption_counts()):
            if number != 1:
                several = f"{number} captions, and a row is one: give each a row of its own"
                reasons.setdefault(row, f"{columns.captions[0]} is {several if number else 'an empty list'}")
        references: Captions | None = None
        ids: list[str] | None = None
        if columns.references:
            references, empty = _column(frame, columns.references, reasons).without_empty()
            names = " and ".join(columns.references)
            has = "have" if len(columns.references) > 1 else "has"
            for row, number in enumerate(references.caption_counts()):
                if not number:
                    reasons.setdefault(row, f"{names} {has} no reference; add references, or remove the row")
            if left_out := [row for row in empty if int(row) not in reasons]:
                warn_of_empty("the batch", "row", left_out)
        if columns.ids:
            from sacrecap.resources.objects_of_images import known_objects

            ids, objects = [], known_objects(self._needs)
            for row, value in enumerate(frame.values(columns.ids[0])):
                try:
                    ids += _core.image_ids([value])
                except DataError as error:
                    ids.append("")
                    reasons.setdefault(row, f"{columns.ids[0]}: {str(error).removeprefix('image id 0 ')}")
                else:
                    if objects is not None and ids[-1] not in objects:
                        unknown = f"no objects are known of image {ids[-1]!r}; give it an empty list if it has none"
                        reasons.setdefault(row, unknown)
        return captions, references, ids, reasons

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
