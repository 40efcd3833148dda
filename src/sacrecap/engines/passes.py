"""The two passes over pieces of a corpus: functions that depend on the piece and the plan alone."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from sacrecap import _core
from sacrecap.corpus.corpus import SAMPLE, Corpus, WholeCorpus, encode_captions
from sacrecap.corpus.document_frequency import MEMORY, DocumentFrequency
from sacrecap.engines.plan import Piece, Plan
from sacrecap.errors import SacrecapWarning
from sacrecap.metrics import Metric
from sacrecap.metrics.base import Learner
from sacrecap.scoring.collected import Extent, RowsPart
from sacrecap.scoring.score import count

RARE = 2
"""An n-gram in one document weighs as much as one in none, so those are not kept."""
MOST_WARNINGS = 20
"""Different warnings of a piece that are kept."""


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
                if any(hasattr(ready.own, "captions") for ready in (table.ready, *table.ready.parts.values())):
                    # A network says of its own captions how many it cut.
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
    messages = list(dict.fromkeys(str(warning.message) for warning in warned))[:MOST_WARNINGS]
    return ScoredPiece(rows, order, sample, messages)


class StreamEngine:
    """Works on one piece after another; the cores share the work on each."""

    name = "stream"

    def __init__(self, threads: int = 0) -> None:
        self.threads = threads

    def count(self, plan: Plan, pieces: Iterable[Piece], *, minimum: int = RARE) -> WholeCorpus:
        """What is known of all references together, without n-grams in fewer images."""
        counters = Counters(plan)
        for piece in pieces:
            counters.add(piece)
        return counters.known(minimum)

    def fetch(self, known: WholeCorpus) -> WholeCorpus:
        """What `count` found."""
        return known

    def score(self, plan: Plan, known: WholeCorpus | None, pieces: Iterable[Piece]) -> Iterator[ScoredPiece]:
        """What scoring makes of each piece, in their order."""
        for piece in pieces:
            yield score(plan, known, piece)

    def close(self) -> None:
        """Nothing was started."""
