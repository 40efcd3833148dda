"""What is scored, and what an engine is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sacrecap.errors import UsageError, option

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
