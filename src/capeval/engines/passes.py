"""The two passes over a part of the input: functions that depend on the part and the plan alone."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from capeval import _core
from capeval.corpus.corpus import Corpus
from capeval.engines.plan import SAMPLE, Plan
from capeval.engines.sample import Kept, Sample
from capeval.errors import CapevalWarning, DataError
from capeval.scoring.count import count_quietly

if TYPE_CHECKING:
    from capeval._core import Captions
    from capeval.corpus.document_frequency import CorpusFrequencies
    from capeval.data.partitioned import BadRow, Batch, Part, PartScores
    from capeval.engines.plan import Shared

MOST_WARNINGS = 20
"""Different warnings of a part that are kept."""


class Counters:
    """Document frequencies as they are counted, by whether of stems."""

    def __init__(self, plan: Plan, memory: int, folder: str) -> None:
        share = memory // max(len(plan.orders), 1)
        self._counters = {
            stems: _core.FrequencyCounter(n, stems, plan.tokenizer, memory=share, folder=folder)
            for stems, n in plan.orders.items()
        }

    def add(self, references: Captions, plan: Plan) -> None:
        """Counts the references of these images."""
        encoded = _core.References(references, range(references.image_count), plan.tokenizer, plan.threads)
        for counter in self._counters.values():
            counter.add(encoded, plan.threads)

    def merge(self, counted: dict[bool, bytes]) -> None:
        """Adds what was counted elsewhere."""
        for stems, counts in counted.items():
            self._counters[stems].merge(_core.DocumentFrequency.from_bytes(counts))

    def finish(self) -> dict[bool, _core.DocumentFrequency]:
        """The frequencies, by whether of stems."""
        return {stems: counter.finish() for stems, counter in self._counters.items()}


@dataclass
class Counts:
    """What the first pass found in a part."""

    images: int = 0
    frequencies: dict[bool, bytes] = field(default_factory=dict)


def count_into(plan: Plan, counters: Counters, part: Part) -> Counts:
    """The first pass, where counts stay in this process."""
    counts = Counts()
    for batch in _batches(plan, part):
        if len(batch.image_ids):
            counters.add(_captions(batch, batch.references), plan)
            counts.images += len(batch.image_ids)
    return counts


def count_part(plan: Plan, memory: int, folder: str, part: Part) -> Counts:
    """The first pass, where counts are sent to another process."""
    counters = Counters(plan, memory, folder)
    counts = count_into(plan, counters, part)
    if counts.images:
        counts.frequencies = {stems: found.to_bytes() for stems, found in counters.finish().items()}
    return counts


@dataclass
class Partial:
    """What the second pass made of some parts; merging is the same in any order."""

    folds: dict[str, _core.Fold]
    """Of each system."""
    images: int = 0
    references: tuple[int, int] | None = None
    """The least and the most references per image."""
    sample: Sample = field(default_factory=lambda: Sample(SAMPLE))
    skipped: list[BadRow] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def empty(cls, plan: Plan) -> Partial:
        """Of no image."""
        return cls({name: _core.Fold(plan.samples, plan.seed) for name in plan.systems})

    def saw_references(self, least: int, most: int) -> None:
        """Notes how many references images have."""
        known = self.references or (least, most)
        self.references = (min(known[0], least), max(known[1], most))

    def merge(self, other: Partial) -> None:
        """Adds what other parts had."""
        for name, fold in other.folds.items():
            self.folds[name].merge(fold)
        self.images += other.images
        if other.references is not None:
            self.saw_references(*other.references)
        self.sample.merge(other.sample)
        self.skipped += other.skipped
        self.warnings = list(dict.fromkeys([*self.warnings, *other.warnings]))[:MOST_WARNINGS]

    def to_bytes(self) -> bytes:
        """For a file: a line of JSON, then the folds."""
        folds = {name: fold.to_bytes() for name, fold in self.folds.items()}
        head = {
            "images": self.images,
            "references": self.references,
            "sample": self.sample.images,
            "skipped": self.skipped,
            "warnings": self.warnings,
            "folds": {name: len(own) for name, own in folds.items()},
        }
        return json.dumps(head).encode() + b"\n" + b"".join(folds.values())

    @classmethod
    def from_bytes(cls, data: bytes) -> Partial:
        """What `to_bytes` made. Raises `DataError` for anything else."""
        from capeval.data.partitioned import BadRow

        try:
            line, _, rest = data.partition(b"\n")
            head: dict[str, Any] = json.loads(line)
            folds, start = {}, 0
            for name, size in head["folds"].items():
                folds[name] = _core.Fold.from_bytes(rest[start : start + size])
                start += size
            return cls(
                folds,
                head["images"],
                head["references"] and tuple(head["references"]),
                Sample(SAMPLE, [Kept(*one) for one in head["sample"]]),
                [BadRow(*one) for one in head["skipped"]],
                head["warnings"],
            )
        except (ValueError, KeyError, TypeError) as error:
            raise DataError("the result of a part that was finished before cannot be read") from error


def score_part(
    plan: Plan, frequencies: Shared[CorpusFrequencies] | None, scores: Callable[[Part], PartScores] | None, part: Part
) -> Partial:
    """The second pass: the part's rows as statistics, folded; `scores` opens the file of each image's scores."""
    whole = None if frequencies is None else frequencies.get()
    partial = Partial.empty(plan)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", CapevalWarning)
        written = None if scores is None else scores(part)
        try:
            for batch in _batches(plan, part):
                partial.skipped += batch.bad
                if len(batch.image_ids):
                    _score(plan, whole, partial, batch, written)
        except BaseException:
            if written is not None:
                written.discard()
            raise
        if written is not None:
            written.finish()
    partial.warnings = list(dict.fromkeys(str(one.message) for one in warned))[:MOST_WARNINGS]
    return partial


def _score(
    plan: Plan, whole: CorpusFrequencies | None, partial: Partial, batch: Batch, written: PartScores | None
) -> None:
    references = _captions(batch, batch.references)
    systems = {
        name: _captions(batch, column) for name, column in zip(plan.systems, batch.captions, strict=True)
    }
    corpora = Corpus.of_part(
        references, systems, tokenizer=plan.tokenizer, frequencies=whole, threads=plan.threads
    )
    keys = references.image_keys()
    for name, corpus in corpora.items():
        counted = count_quietly(corpus, plan.metrics, plan.needs)
        partial.folds[name].add([one.statistics for one in counted], keys, plan.threads)
        if written is not None:
            columns = {one.metric.key: one.statistics.row_scores() for one in counted}
            written.add(batch.image_ids, columns, system=name if len(plan.systems) > 1 else None)
    partial.images += references.image_count
    corpus = next(iter(corpora.values()))
    partial.saw_references(*corpus.reference_counts)
    partial.sample.add(list(_kept(partial.sample, keys, references, list(systems.values()))))


def _kept(sample: Sample, keys: bytes, references: Captions, systems: list[Captions]) -> Iterator[Kept]:
    wanted = sample.wanted(keys)
    if wanted:
        ids = references.image_ids
        for place, order in wanted:
            image = ids[place]
            yield Kept(order, image, references.captions(image), [own.captions(image) for own in systems])


def _batches(plan: Plan, part: Part) -> Iterator[Batch]:
    """The part's batches; raises `DataError` for the first row that cannot be used, unless such are skipped."""
    from capeval.data.partitioned import batches

    for batch in batches(part, plan.columns):
        if batch.bad and plan.on_bad_row == "error":
            raise DataError(f"{batch.bad[0]}; correct it, or leave such rows out with --on-bad-row skip")
        yield batch


def _captions(batch: Batch, column: Any) -> Captions:
    return _core.Captions.of_arrow(batch.image_ids, column)
