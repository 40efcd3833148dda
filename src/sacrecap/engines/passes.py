"""The two passes over a part of the input: functions that depend on the part and the plan alone."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial as bound
from typing import TYPE_CHECKING, Any, TypeAlias

from sacrecap import _core
from sacrecap.corpus.corpus import SAMPLE, Corpus, Tallies, WholeCorpus, added, encode_captions, tokenize
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.data.partitioned import BadRow
from sacrecap.engines.duplicates import split_keys
from sacrecap.engines.plan import Plan, Shuffle
from sacrecap.engines.sample import ImageSample, Kept
from sacrecap.engines.work import packed, unpacked
from sacrecap.errors import DataError, SacrecapWarning, engine_option, option
from sacrecap.metrics.lengths import reason, strictest
from sacrecap.scoring.count import count_quietly

if TYPE_CHECKING:
    from sacrecap._core import Captions
    from sacrecap.data.partitioned import Batch, Part, PartScores, Written
    from sacrecap.engines.plan import Shared
    from sacrecap.engines.work import WorkFolder
    from sacrecap.metrics import Metric
    from sacrecap.metrics.base import Learner

ROWS = 32_768
"""Rows of a batch: more are counted faster, and take more memory."""
MOST_WARNINGS = 20
"""Different warnings of a part that are kept."""


REFERENCES = "references"
"""The documents that words are weighed by, and that metrics learn from: the references of all images."""
SEVERAL = "several"
"""Those of the images that have several."""

Known: TypeAlias = "Mapping[str, WholeCorpus]"
"""What the first pass found out of the whole input, by what the documents are."""
Frequencies: TypeAlias = "dict[str, dict[bool, _core.DocumentFrequency]]"
"""Document frequencies by what the documents are, and whether words are stems."""

RARE = 2
"""An n-gram in one document weighs as much as one in none, so those are not kept."""
_SHARD_BYTES = 32 << 20
"""Bytes of input whose counts make a shard."""
_MOST_SHARDS = 64


class Counters:
    """Document frequencies as they are counted, by what the documents are and whether words are stems; and metrics that
    learn from references.
    """

    def __init__(self, plan: Plan, memory: int, folder: str) -> None:
        self._plan, self._folder = plan, folder
        self._share = memory // max(len(plan.documents) * len(plan.orders) + len(plan.learning), 1)
        self._counters: dict[str, dict[bool, _core.FrequencyCounter]] = {}
        self.images: dict[str, int] = {}
        made = {metric: metric.learner(plan.needs, memory=self._share) for metric in plan.learning}
        self.learners: dict[Metric, Learner] = {metric: own for metric, own in made.items() if own is not None}

    def _of(self, documents: str) -> dict[bool, _core.FrequencyCounter]:
        plan, self.images[documents] = self._plan, self.images.get(documents, 0)
        if documents not in self._counters:
            self._counters[documents] = {
                stems: _core.FrequencyCounter(n, stems, plan.tokenizer, memory=self._share, folder=self._folder)
                for stems, n in plan.orders.items()
            }
        return self._counters[documents]

    def add(self, documents: str, images: Captions, chosen: Sequence[int] | None = None) -> None:
        """Counts the captions of these images; of the chosen ones, by number."""
        numbers = range(images.image_count) if chosen is None else chosen
        encoded = encode_captions(images, numbers, self._plan.tokenizer, self._plan.threads)
        for counter in self._of(documents).values():
            counter.add(encoded, self._plan.threads)
        if documents == REFERENCES:
            for learner in self.learners.values():
                learner.add(images, encoded, self._plan.threads)
        self.images[documents] += len(numbers)

    def merge(self, counts: Counts) -> None:
        """Adds what was counted elsewhere."""
        for documents, by_kind in counts.frequencies.items():
            counters = self._of(documents)
            for stems, counted in by_kind.items():
                counters[stems].merge(counted, self._plan.threads)
        for documents, images in counts.images.items():
            self.images[documents] = self.images.get(documents, 0) + images
        for metric, learner in counts.learners.items():
            self.learners[metric].merge(learner)

    def finish(self, minimum: int) -> Frequencies:
        """The frequencies of n-grams that are in so many documents at least."""
        threads = self._plan.threads
        return {
            documents: {stems: counter.finish(minimum, threads=threads) for stems, counter in counters.items()}
            for documents, counters in self._counters.items()
        }

    def known(self, minimum: int) -> Known:
        """What the first pass found out, without n-grams in fewer documents."""
        learnt: dict[Hashable, Any] = {metric: learner.finish() for metric, learner in self.learners.items()}
        return {
            documents: WholeCorpus(
                self.images[documents],
                {stems: DocumentFrequency(core, documents) for stems, core in counted.items()},
                learnt if documents == REFERENCES else {},
            )
            for documents, counted in self.finish(minimum).items()
        }


@dataclass
class Counts:
    """What the first pass found in a part, by itself."""

    images: dict[str, int] = field(default_factory=dict)
    frequencies: Frequencies = field(default_factory=dict)
    learners: dict[Metric, Learner] = field(default_factory=dict)


def count_into(plan: Plan, counters: Counters, part: Part) -> Counts:
    """The first pass, where nothing is kept of a part by itself. Of what it could warn, the second pass warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SacrecapWarning)
        for batch in batches_of(plan, part):
            if len(batch.image_ids):
                _count(plan, counters, batch)
    return Counts()


def count_part(plan: Plan, memory: int, work: WorkFolder | None, part: Part) -> Counts:
    """The first pass of a part by itself; its counts are kept in the folder, if there is one."""
    name = part.fingerprint("counts")
    kept = None if work is None else work.load(name)
    if kept is not None:
        return unpacked(kept)  # type: ignore[no-any-return]
    with counters_of(plan, memory) as counters:
        try:
            count_into(plan, counters, part)
        except BadFileError:
            if plan.on_bad_file == "error":
                raise
            return Counts()
        found = Counts(counters.images, counters.finish(1), counters.learners)
    if work is not None and not found.learners:
        work.save(name, packed(found))
    return found


@contextmanager
def counters_of(plan: Plan, memory: int) -> Iterator[Counters]:
    """Counters; what memory does not hold is on this machine's disk, mapped, so that its folder may go."""
    with tempfile.TemporaryDirectory(prefix="sacrecap-", ignore_cleanup_errors=True) as folder:
        yield Counters(plan, memory, folder)


def shuffle_of_counts(plan: Plan, memory: int, minimum: int, parts: Sequence[Part]) -> Shuffle:
    """Brings equal n-grams together; a shard is finished to the frequencies of those in so many documents."""
    shards = min(1 + sum(part.bytes for part in parts) // _SHARD_BYTES, _MOST_SHARDS)
    return Shuffle(shards, bound(merged, plan, memory, 1), bound(_finished, plan, memory, minimum))


def count_and_split(plan: Plan, memory: int, work: WorkFolder | None, shards: int, part: Part) -> list[Any]:
    """The first pass of a part: its counts without frequencies, then a piece of those for each shard."""
    counts = count_part(plan, memory, work, part)
    pieces: list[Frequencies] = [{} for _ in range(shards)]
    for documents, by_kind in counts.frequencies.items():
        for stems, own in by_kind.items():
            for piece, split in zip(pieces, own.split(shards), strict=True):
                piece.setdefault(documents, {})[stems] = split
    return [Counts(counts.images, {}, counts.learners), *pieces]


def merged(plan: Plan, memory: int, minimum: int, *pieces: Frequencies) -> Frequencies:
    """Pieces of a shard added up: n-grams in so many documents at least."""
    with counters_of(plan, memory) as counters:
        for piece in pieces:
            counters.merge(Counts(frequencies=piece))
        return counters.finish(minimum)


def assembled(plan: Plan, memory: int, minimum: int, others: Counts, *shards: Frequencies) -> tuple[None, Known]:
    """What the first pass found out: of all shards, and what else was counted."""
    with counters_of(plan, memory) as counters:
        for counts in (others, *(Counts(frequencies=shard) for shard in shards)):
            counters.merge(counts)
        return None, counters.known(minimum)


def _finished(plan: Plan, memory: int, minimum: int, *pieces: Frequencies) -> tuple[None, Frequencies]:
    return None, merged(plan, memory, minimum, *pieces)


def _count(plan: Plan, counters: Counters, batch: Batch) -> None:
    if REFERENCES not in plan.documents:
        for name, column in zip(plan.systems, batch.captions, strict=True):
            counters.add(name, captions(batch, column))
        return
    references = captions(batch, batch.references)
    counters.add(REFERENCES, references)
    if SEVERAL in plan.documents:
        counts = references.caption_counts()
        several = [number for number, count in enumerate(counts) if count > 1]
        if several:
            counters.add(SEVERAL, references, several)


@dataclass
class Extent:
    """How much a system has."""

    images: int = 0
    captions: int = 0
    caption_counts: tuple[int, int] | None = None
    """The least and the most captions per image; None without images."""
    reference_counts: tuple[int, int] | None = None
    """The least and the most references per image."""
    words: set[str] = field(default_factory=set)
    """The different words of the captions, where they are wanted."""

    @classmethod
    def of(cls, corpus: Corpus) -> Extent:
        """That of a corpus."""
        return cls(len(corpus), corpus.candidate_count, corpus.candidate_counts, corpus.reference_counts)

    def merge(self, other: Extent) -> None:
        """Adds that of other images."""
        self.images += other.images
        self.captions += other.captions
        self.caption_counts = _span(self.caption_counts, other.caption_counts)
        self.reference_counts = _span(self.reference_counts, other.reference_counts)
        self.words |= other.words


def _span(one: tuple[int, int] | None, other: tuple[int, int] | None) -> tuple[int, int] | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


@dataclass
class Partial:
    """What the second pass made of some parts; merging is the same in any order."""

    samples: int
    seed: int
    folds: dict[str, _core.Fold] = field(default_factory=dict)
    """Sums by what they are of: a system's name, or what else a call needs."""
    extents: dict[str, Extent] = field(default_factory=dict)
    """How much each system has."""
    tallies: dict[str, Tallies] = field(default_factory=dict)
    """What one look at each system's captions counted."""
    kept: dict[str, ImageSample] = field(default_factory=dict)
    """Samples of images: of all, and of what else a call needs."""
    skipped: list[BadRow] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    """The files of images' scores."""
    keys: list[bytes] = field(default_factory=list)
    """Hashes of the images' ids (uint64)."""

    @classmethod
    def empty(cls, plan: Plan) -> Partial:
        """Of no image."""
        return cls(plan.samples, plan.seed)

    def fold(self, name: str, *, replicates: bool = True) -> _core.Fold:
        """The sums of that name, empty ones at first."""
        return self.folds.setdefault(name, _core.Fold(self.samples if replicates else 0, self.seed))

    def extent(self, name: str) -> Extent:
        """How much the system of that name has."""
        return self.extents.setdefault(name, Extent())

    def sample(self, name: str = "") -> ImageSample:
        """The sample of that name."""
        return self.kept.setdefault(name, ImageSample(SAMPLE))

    @property
    def images(self) -> int:
        """Number of images."""
        return max((extent.images for extent in self.extents.values()), default=0)

    def merge(self, other: Partial) -> None:
        """Adds what other parts had."""
        for name, fold in other.folds.items():
            if name in self.folds:
                self.folds[name].merge(fold)
            else:
                self.folds[name] = fold
        for name, extent in other.extents.items():
            self.extent(name).merge(extent)
        for name, counts in other.tallies.items():
            self.tallies[name] = added(self.tallies.get(name, {}), counts)
        for name, sample in other.kept.items():
            self.sample(name).merge(sample)
        self.skipped += other.skipped
        self.written += other.written
        self.warnings = list(dict.fromkeys([*self.warnings, *other.warnings]))[:MOST_WARNINGS]


def score_and_split(
    plan: Plan,
    known: Shared[Known],
    scores: Callable[[Part], PartScores] | None,
    work: WorkFolder | None,
    about: str,
    shards: int,
    part: Part,
) -> list[Any]:
    """The second pass of a part: what it made, then hashes of ids for each shard.

    Args:
        plan: what is scored.
        known: what the first pass found out.
        scores: opens the file of each image's scores, where they are wanted.
        work: keeps what the pass made, if it is given.
        about: stands for what the first pass found out.
        shards: how many there are.
        part: the part.
    """
    name = part.fingerprint("scores", about)
    kept = None if work is None else work.load(name)
    if kept is not None:
        partial = unpacked(kept)
    else:
        try:
            partial = score_part(plan, known.get(), scores, part)
        except BadFileError as error:
            if plan.on_bad_file == "error":
                raise
            partial = Partial.empty(plan)
            partial.skipped.append(BadRow.of_file(part.file, error))
            return [partial, *split_keys([], shards)]
        if work is not None:
            work.save(name, packed(partial))
    keys, partial.keys = partial.keys, []
    return [partial, *split_keys(keys, shards)]


def score_part(plan: Plan, known: Known, scores: Callable[[Part], PartScores] | None, part: Part) -> Partial:
    """The part's rows as statistics, folded; see `score_and_split`."""
    if plan.sets is None:
        score = score_captions
    else:
        from sacrecap.engines.caption_sets import score_sets as score
    partial = Partial.empty(plan)
    place = nullcontext() if scores is None else scores(part)
    with warnings.catch_warnings(record=True) as warned, place as written:
        warnings.simplefilter("always", SacrecapWarning)
        for batch in batches_of(plan, part, whole=plan.keep is not None):
            partial.skipped += batch.bad
            if len(batch.image_ids):
                score(plan, known, partial, batch, written)
        if written is not None:
            partial.written.append(written.finish())
    partial.warnings = list(dict.fromkeys(str(one.message) for one in warned))[:MOST_WARNINGS]
    return partial


def score_captions(plan: Plan, known: Known, partial: Partial, batch: Batch, written: PartScores | None) -> None:
    """Folds the scores of each system's captions."""
    references = None if batch.references is None else captions(batch, batch.references)
    systems = {name: captions(batch, column) for name, column in zip(plan.systems, batch.captions, strict=True)}
    corpora = Corpus.of_part(
        references, systems, tokenizer=plan.tokenizer, whole=known.get(REFERENCES), threads=plan.threads
    )
    for name, corpus in corpora.items():
        counted = count_quietly(corpus, plan.metrics, plan.needs)
        partial.fold(name).add([one.statistics for one in counted], batch.image_ids, plan.threads)
        for group, places in _groups(batch).items():
            rows = [one.statistics.select(places) for one in counted]
            partial.fold(group_fold(name, group)).add(rows, batch.image_ids.take(places), plan.threads)
        partial.extent(name).merge(Extent.of(corpus))
        partial.tallies[name] = added(partial.tallies.get(name, {}), corpus.tallies(plan.threads))
        if written is not None:
            columns = {one.metric.key: one.statistics.row_scores() for one in counted}
            written.add(batch.image_ids, columns, name if len(plan.systems) > 1 else None, batch.whole)
    partial.keys.append(_core.image_keys(batch.image_ids))
    keep(partial.sample(), partial.keys[-1], references, list(systems.values()))


MOST_GROUPS = 1_000
"""Groups of images whose sums are kept: each has its own bootstrap samples."""


def group_fold(system: str, group: str = "") -> str:
    """The name of the sums of a group of images; without one, how those of all groups begin."""
    return f"{system}\0group\0{group}"


def _groups(batch: Batch) -> dict[str, list[int]]:
    """Places of the images of each group. Raises `DataError` for too many groups."""
    found: dict[str, list[int]] = {}
    for place, group in enumerate(() if batch.groups is None else batch.groups.to_pylist()):
        if group is not None:
            found.setdefault(group, []).append(place)
    check_groups(found)
    return found


def check_groups(groups: Collection[str]) -> None:
    """Raises `DataError` for too many groups."""
    if len(groups) > MOST_GROUPS:
        raise DataError(
            f"{option('by')}: the column has more than {MOST_GROUPS:,} different values ({next(iter(groups))}, …), and "
            f"an engine keeps sums for each; name a column of few values, or take {option('engine', 'local')}"
        )


def keep(sample: ImageSample, keys: bytes, references: Captions | None, systems: list[Captions]) -> None:
    """Adds the images that belong to the sample, with their captions; `keys` are the hashes of their ids (uint64)."""
    wanted = sample.wanted(keys)
    if not wanted:
        return
    ids = systems[0].image_ids
    images = []
    for place, order in wanted:
        described = [] if references is None else references.captions(ids[place])
        images.append(Kept(order, ids[place], described, [own.captions(ids[place]) for own in systems]))
    sample.add(images)


class BadFileError(DataError):
    """A file, or the part of it that was asked for, cannot be read."""


def batches_of(plan: Plan, part: Part, *, whole: bool = False) -> Iterator[Batch]:
    """The part's batches; all columns too, if wanted.

    Raises:
        BadFileError: it cannot be read.
        DataError: the first row that cannot be used, unless such are skipped.
    """
    from sacrecap.data.partitioned import batches

    every = batches(part, plan.columns, rows=ROWS, whole=whole)
    while True:
        try:
            batch = next(every, None)
        except DataError as error:
            raise BadFileError(str(error)) from error
        if batch is None:
            return
        batch = batch.without(_of_several(plan, batch) | _too_long(plan, batch), part)
        if batch.bad and plan.on_bad_row == "error":
            raise bad_row(batch.bad[0])
        yield batch


def _of_several(plan: Plan, batch: Batch) -> dict[int, str]:
    """Places of rows with several candidates, where each image has one, and what is wrong."""
    import pyarrow.compute as pc
    from pyarrow import types

    found: dict[int, str] = {}
    for column in batch.captions if plan.sets is None else ():
        if types.is_list(column.type) or types.is_large_list(column.type):
            counts = enumerate(pc.list_value_length(column).to_pylist())
            found |= {row: f"has {count} candidates; keep one for each image" for row, count in counts if count > 1}
    return found


def _too_long(plan: Plan, batch: Batch) -> dict[int, str]:
    """Places of rows with a sentence that is too long for a metric, and what is wrong."""
    found: dict[int, str] = {}
    if (limit := strictest(plan.scored)) is not None:
        most, metric = limit
        for place, text in batch.longer_than(most):  # a word has a byte at least
            words = len(tokenize([text], tokenizer=plan.tokenizer)[0])
            if words > most:
                found[place] = reason(metric, words)
    return found


def bad_row(row: BadRow) -> DataError:
    """The error that a row is which cannot be used, unless such are skipped."""
    return DataError(f"{row}; correct it, or leave such rows out with {engine_option('on_bad_row', 'skip')}")


def captions(batch: Batch, column: Any) -> Captions:
    """A column of the batch, with its image ids."""
    return _core.Captions.of_arrow(batch.image_ids, column)
