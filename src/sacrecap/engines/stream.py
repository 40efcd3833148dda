"""The engine of one machine: piece after piece, so that what is made of captions takes the memory of one piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sacrecap.engines.passes import RARE, Counters, ScoredPiece, score

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import WholeCorpus
    from sacrecap.engines.plan import Piece, Plan


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
