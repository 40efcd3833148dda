"""What is scored, and what an engine is."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sacrecap.errors import UsageError, option
from sacrecap.resources.needs import WorkShare

if TYPE_CHECKING:
    from sacrecap._core import Captions
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import WholeCorpus
    from sacrecap.engines.passes import ScoredPiece
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs


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
"""Where progress is logged, for programs that have handlers: an event at level INFO, its figures as fields."""
LOG_SECONDS = 10.0
"""Seconds between two events."""


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
            if share >= 1 or now - self._logged >= LOG_SECONDS:
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
