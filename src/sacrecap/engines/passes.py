"""What is scored, what an engine is, and the two passes over pieces of a corpus: functions that depend on the piece and
the plan alone.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from sacrecap import _core
from sacrecap._core import Captions
from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import SAMPLE, Corpus, WholeCorpus, encode_captions
from sacrecap.corpus.document_frequency import MEMORY, DocumentFrequency
from sacrecap.errors import SacrecapWarning, UsageError, option
from sacrecap.metrics import Metric
from sacrecap.metrics.base import Learner
from sacrecap.resources.needs import Needs, WorkShare
from sacrecap.scoring.collected import Extent, RowsPart
from sacrecap.scoring.score import count


class Piece(NamedTuple):
    """Captions of some images: the references, and each system's candidates, of the same images in the same order."""

    references: Captions
    systems: dict[str, Captions]


class Engine(Protocol):
    """Where pieces are worked on."""

    name: str
    threads: int
    """Threads that the work on one piece may use; 0 means one per core."""

    def count(self, plan: Plan, pieces: Iterable[Piece], *, minimum: int = ...) -> Any:
        """What is known of all references together: n-grams in so many images at least, and what metrics learn; where
        the engine has it.
        """

    def fetch(self, known: Any) -> WholeCorpus:
        """What `count` found, here."""

    def score(self, plan: Plan, known: Any, pieces: Iterable[Piece]) -> Iterator[ScoredPiece]:
        """What scoring makes of each piece, in their order."""

    def close(self) -> None:
        """Ends what the engine started."""


@dataclass(frozen=True)
class Plan:
    """What every worker has to know."""

    metrics: tuple[Metric, ...]
    needs: Needs
    tokenizer: Tokenizer = "ptb"

    @property
    def threads(self) -> int:
        """Threads that the work on one piece may use: of metrics and resources, and of what the engine itself does."""
        return self.needs.threads

    @property
    def orders(self) -> Mapping[bool, int]:
        """The longest n-gram to count in words (False) and in stems (True), where metrics weigh words by the corpus."""
        if "document_frequency" in self.needs:
            return {}
        orders: dict[bool, int] = {}
        for metric in dict.fromkeys(part for whole in self.metrics for part in whole.parts):
            if metric.uses_document_frequency:
                n = int(getattr(metric, "n", 4))
                orders[metric.uses_stems] = max(orders.get(metric.uses_stems, 1), n)
        return orders

    @property
    def learning(self) -> tuple[Metric, ...]:
        """The metrics that learn from the references of all images."""
        parts = dict.fromkeys(part for whole in self.metrics for part in whole.parts)
        return tuple(dict.fromkeys(part.learns_as for part in parts if part.trained_on_references))

    def check(self, engine: str) -> None:
        """Raises `UsageError` for what cannot be scored piece by piece."""
        remedy = f"take {option('engine', 'local')}"
        if self.tokenizer == "ptb-stream":
            raise UsageError(
                f"the tokenizer ptb-stream reads all captions as one text, so the engine {engine} cannot cut it into "
                f"parts; take the tokenizer ptb, or {remedy}"
            )
        for metric in self.learning:
            if metric.learner(self.needs, memory=0) is None:
                raise UsageError(
                    f"{metric.key} learns from the references of all images together, which the engine {engine} never "
                    f"has in memory; leave it out, or {remedy}"
                )
        for metric in self.metrics:
            if any("rivals" in part.needs for part in metric.parts):
                raise UsageError(f"{metric.key} looks at all systems' captions together; {remedy}")


LOG = logging.getLogger("sacrecap.engines")
"""Where progress is logged, for programs that have handlers: at level INFO, with its figures as fields."""


class Progress:
    """Tells a pass over the pieces to whoever watches, and to the log."""

    def __init__(self, what: str, images: int | None, tell: Callable[[float], object] | None) -> None:
        self._what, self._all, self._tell, self._done = what, images, tell, 0
        self._started = self._logged = time.monotonic()
        if tell is not None:
            tell(WorkShare(0.0, what))

    def watched(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The pieces; one is done as the next is taken."""
        for piece in pieces:
            yield piece
            self._done += next(iter(piece.systems.values()), piece.references).image_count
            now = time.monotonic()
            share = self._done / self._all if self._all else 0.0
            rate = self._done / max(now - self._started, 1e-9)
            left = (self._all - self._done) / rate if self._all else None
            if share >= 1 or now - self._logged >= 10:
                self._logged = now
                figures = {"images": self._done, "images_per_second": rate, "seconds_left": left, "share": share}
                LOG.info("%s", self._what, extra=figures)
            if self._tell is not None:
                text = f"{self._what}: {self._done:,} images, {rate:,.0f} per second"
                text += f", {duration(left)} left" if left else ""
                self._tell(WorkShare(min(share, 0.999_999), text))


def duration(seconds: float) -> str:
    """A time as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


RARE = 2
"""An n-gram in one document weighs as much as one in none, so those are not kept."""


class Counts(NamedTuple):
    """What was counted in the references of some images."""

    images: int
    frequencies: dict[bool, DocumentFrequency]
    learners: dict[Metric, Learner]


class Counters:
    """Document frequencies as they are counted, by whether words are stems; and metrics that learn from references."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._images = plan, 0
        share = MEMORY // max(len(plan.orders) + len(plan.learning), 1)
        self._counters = {
            stem: DocumentFrequency.counter(
                tokenizer=plan.tokenizer, n=n, stem=stem, memory=share, threads=plan.threads
            )
            for stem, n in plan.orders.items()
        }
        learners = {metric: metric.learner(plan.needs, memory=share) for metric in plan.learning}
        self._learners: dict[Metric, Learner] = {
            metric: learner for metric, learner in learners.items() if learner is not None
        }

    def add(self, piece: Piece) -> None:
        """Counts the references of a piece. Of what it could warn, the second pass warns."""
        references, threads = piece.references, self._plan.threads
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SacrecapWarning)
            encoded = encode_captions(references, range(references.image_count), self._plan.tokenizer, threads)
            for counter in self._counters.values():
                counter.add_encoded(encoded)
            for learner in self._learners.values():
                learner.add(references, encoded, threads)
        self._images += references.image_count

    def merge(self, counts: Counts) -> None:
        """Adds what was counted elsewhere."""
        for stem, frequencies in counts.frequencies.items():
            self._counters[stem].merge(frequencies)
        for metric, learner in counts.learners.items():
            self._learners[metric].merge(learner)
        self._images += counts.images

    def finish(self, minimum: int = 1) -> Counts:
        """What was counted, without n-grams in fewer images; nothing is counted afterwards."""
        frequencies = {stem: counter.finish(minimum=minimum) for stem, counter in self._counters.items()}
        return Counts(self._images, frequencies, self._learners)

    def known(self, minimum: int) -> WholeCorpus:
        """What is known of the whole corpus, whose references were all counted, without n-grams in fewer images."""
        images, frequencies, learners = self.finish(minimum)
        learnt: dict[Hashable, Any] = {metric: learner.finish() for metric, learner in learners.items()}
        return WholeCorpus(images, frequencies, learnt)


Sample: TypeAlias = "dict[int, tuple[str, list[str], dict[str, list[str]]]]"
"""Images by the hash that chose them: id, references, and the candidates of each system."""


class ScoredPiece(NamedTuple):
    """What scoring made of a piece."""

    rows: dict[str, RowsPart]
    """Of each system."""
    order: bytes
    """Of each image, a hash of its id (uint64), by which the sample is chosen."""
    sample: Sample
    """The images of the smallest hashes."""
    warnings: list[str]


def score(plan: Plan, known: WholeCorpus | None, piece: Piece) -> ScoredPiece:
    """The captions of a piece as rows of statistics.

    Raises `DataError` for a caption that a metric cannot score.
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", SacrecapWarning)
        corpora = Corpus.of_part(*piece, tokenizer=plan.tokenizer, whole=known, threads=plan.threads)
        rows, ids = {}, next(iter(corpora.values())).image_ids
        for name, corpus in corpora.items():
            counted = count(corpus, plan.metrics, plan.needs, warned=False)
            for table in counted:
                if "device" in table.metric.needs:  # a network says of its own captions how many it cut
                    for message in table.metric.warnings(table.ready, table.statistics):
                        warnings.warn(message, SacrecapWarning, stacklevel=1)
            rows[name] = RowsPart(
                ids, [table.statistics for table in counted], Extent.of(counted, corpus, plan.threads)
            )
    import numpy as np

    order = _core.sample_order(ids)
    hashes = np.frombuffer(order, dtype="<u8")
    references, systems = piece
    sample = {}
    for place in np.argsort(hashes, kind="stable")[:SAMPLE].tolist():
        texts = references.captions(ids[place]) if references.image_count else []
        candidates = {name: captions.captions(ids[place]) for name, captions in systems.items()}
        sample[int(hashes[place])] = ids[place], texts, candidates
    messages = list(dict.fromkeys(str(warning.message) for warning in warned))[:20]
    return ScoredPiece(rows, order, sample, messages)


class StreamEngine:
    """Works on one piece after another; the cores share the work on each."""

    name = "stream"

    def __init__(self, threads: int = 0) -> None:
        self.threads = threads

    def count(self, plan: Plan, pieces: Iterable[Piece], *, minimum: int = RARE) -> WholeCorpus:
        counters = Counters(plan)
        for piece in pieces:
            counters.add(piece)
        return counters.known(minimum)

    def fetch(self, known: WholeCorpus) -> WholeCorpus:
        return known

    def score(self, plan: Plan, known: WholeCorpus | None, pieces: Iterable[Piece]) -> Iterator[ScoredPiece]:
        for piece in pieces:
            yield score(plan, known, piece)

    def close(self) -> None:
        """Nothing was started."""
