"""What is scored, and what an engine is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from sacrecap.choices import OnBadRow
from sacrecap.errors import UsageError, option

if TYPE_CHECKING:
    from sacrecap.choices import Tokenizer
    from sacrecap.data.partitioned import ChosenColumns, Condition, Part
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs

Value_co = TypeVar("Value_co", covariant=True)
Out = TypeVar("Out")


class Shared(Protocol, Generic[Value_co]):
    """A value that every worker can have, without a copy per part."""

    def get(self) -> Value_co:
        """The value."""


@dataclass
class Shuffle:
    """What parts make, by shard: pieces of the same shard meet, whatever part they come from."""

    shards: int
    combine: Callable[..., Any]
    """Makes one piece of several of the same shard."""
    finish: Callable[..., tuple[Any, Any]]
    """Makes of all pieces of a shard what is told of it, and what is kept of it."""
    kept: list[Any] = field(default_factory=list)
    """Where an engine has the pieces."""


class Engine(Protocol):
    """Where parts are worked on."""

    name: str
    threads: int
    """Threads that the work on one part may use; 0 means one per core."""
    in_order: bool
    """Whether parts are worked on one after another in this process, so that a function may keep what it adds to."""

    def share(self, value: Out) -> Shared[Out]:
        """Makes the value known to all workers."""

    def map(
        self, function: Callable[[Part], Any], parts: Sequence[Part], *, gpus: float = 0, shuffle: Shuffle | None = None
    ) -> Iterator[tuple[Part, Any]]:
        """The function's result for each part, once each, as they come; `gpus` is what one call needs of them.

        With a shuffle, the function returns its result, then a piece for each shard.
        """

    def gather(self, shuffle: Shuffle) -> Iterator[tuple[Any, Shared[Any]]]:
        """What the shuffle finishes each shard to, in order: what is told of it, and what is kept of it."""

    def call(self, function: Callable[..., tuple[Any, Out]], *given: Shared[Any]) -> Shared[Out]:
        """What the function keeps of these values, as a shuffle's `finish` does; on a worker."""

    def close(self) -> None:
        """Ends what the engine started."""


@dataclass(frozen=True)
class Sets:
    """What is asked of caption sets, beside their metrics."""

    accuracy: Metric
    beta2: float
    top: int | None
    described: bool
    """Whether there are references."""


@dataclass(frozen=True)
class Plan:
    """What every worker has to know."""

    metrics: tuple[Metric, ...]
    needs: Needs
    columns: ChosenColumns
    systems: tuple[str, ...]
    """Names of the systems, a caption column each."""
    tokenizer: Tokenizer = "ptb"
    samples: int = 0
    """Bootstrap samples; 0 for no intervals."""
    seed: int = 0
    on_bad_row: OnBadRow = "error"
    on_bad_file: OnBadRow = "error"
    on_missing: str = "error"
    keep: Condition | None = None
    """Whose scores are written, with the columns of the input."""
    sets: Sets | None = None
    """For caption sets; None where each image has one caption."""
    by: str | None = None
    """The column whose values are groups of images."""
    matched: tuple[str, str, str] | None = None
    """By which part of the ids images were matched, and one of references and candidates; None for the whole."""

    @property
    def threads(self) -> int:
        """Threads that the work on one part may use: of metrics and resources, and of what the engine itself does."""
        return self.needs.threads

    @property
    def scored(self) -> tuple[Metric, ...]:
        """All metrics that are counted."""
        return self.metrics if self.sets is None or not self.sets.described else (*self.metrics, self.sets.accuracy)

    @property
    def documents(self) -> tuple[str, ...]:
        """What is counted first, before captions are scored: see `sacrecap.engines.passes`."""
        if not self.orders and not self.learning:
            return ()
        if self.sets is None:
            return ("references",)
        return ("references", "several") if self.sets.described else self.systems

    @property
    def orders(self) -> Mapping[bool, int]:
        """The longest n-gram to count in words (False) and in stems (True), where metrics weigh words by the corpus."""
        if "document_frequency" in self.needs:
            return {}
        orders: dict[bool, int] = {}
        for metric in dict.fromkeys(part for whole in self.scored for part in whole.parts):
            if metric.uses_document_frequency:
                n = int(getattr(metric, "n", 4))
                orders[metric.uses_stems] = max(orders.get(metric.uses_stems, 1), n)
        return orders

    @property
    def learning(self) -> tuple[Metric, ...]:
        """The metrics that learn from the references of all images."""
        parts = dict.fromkeys(part for whole in self.scored for part in whole.parts)
        return tuple(part for part in parts if part.trained_on_references)

    def check(self, engine: str) -> None:
        """Raises `UsageError` for what cannot be scored part by part."""
        remedy = f"take {option('engine', 'local')}"
        if self.tokenizer == "ptb-stream":
            raise UsageError(
                f"the tokenizer ptb-stream reads all captions as one text, so the engine {engine} cannot cut it into "
                f"parts; take the tokenizer ptb, or {remedy}"
            )
        if self.by is not None and (self.sets is not None or not self.systems):
            raise UsageError(f"{option('by')} is for the scores of single captions; leave it out")
        for metric in self.learning:
            if metric.learner(self.needs, memory=0) is None or self.sets is not None:
                raise UsageError(
                    f"{metric.key} learns from the references of all images together, which the engine {engine} never "
                    f"has in memory; leave it out, or {remedy}"
                )
