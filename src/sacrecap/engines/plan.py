"""What is scored, and what an engine is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from sacrecap.choices import ENGINES, ON_BAD_ROW, EngineName, OnBadRow
from sacrecap.errors import UsageError, accepted_name, option

if TYPE_CHECKING:
    from sacrecap.choices import Tokenizer
    from sacrecap.data.partitioned import ChosenColumns, Part
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.comparison import Comparison
    from sacrecap.scoring.diversity_result import Diversity
    from sacrecap.scoring.result import Result

SAMPLE = 1_000
"""Images whose captions are kept, for reports: those of the smallest hashes of their ids."""

Value_co = TypeVar("Value_co", covariant=True)
Out = TypeVar("Out")


class Shared(Protocol, Generic[Value_co]):
    """A value that every worker can have, without a copy per part."""

    def get(self) -> Value_co:
        """The value."""


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
        self, function: Callable[[Part], Out], parts: Sequence[Part], *, gpus: float = 0
    ) -> Iterator[tuple[Part, Out]]:
        """The function's result for each part, once each, as they come; `gpus` is what one call needs of them."""

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
    on_missing: str = "error"
    sets: Sets | None = None
    """For caption sets; None where each image has one caption."""

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
        for metric in self.learning:
            if metric.learner(self.needs, memory=0) is None or self.sets is not None:
                raise UsageError(
                    f"{metric.key} learns from the references of all images together, which the engine {engine} never "
                    f"has in memory; leave it out, or {remedy}"
                )


@dataclass(frozen=True)
class EngineOptions:
    """An engine, and what a call says about it.

    Example:
        >>> options = sacrecap.engines.EngineOptions("ray", workers=4, per_image="scores/")
        >>> options.name, options.workers
        ('ray', 4)
    """

    name: EngineName = "local"
    address: str | None = None
    """Address of a Ray cluster; by default the one that runs, else one that is started on this machine."""
    workers: int | None = None
    """Parts that a cluster works on at once; by default as many as it has cores."""
    per_image: str | None = None
    """Folder, or its URL, for each image's scores: a Parquet data set, a file for each part of the input."""
    work: str | None = None
    """Folder, or its URL, that all machines reach, for what is put aside while the call runs; by default one in
    `per_image`, else a temporary folder of this machine.
    """
    resume: bool = False
    """Whether to go on where an earlier call with the same `per_image` or `work` was cut off."""
    on_bad_row: OnBadRow = "error"
    """What a row means that cannot be used: an error, or leave it out."""
    skipped: str | None = None
    """File for the rows that were left out, with their reasons: JSON lines."""
    id_column: str = ""
    """Column of the image ids; by default the one that the format of the file has."""
    references_column: str | None = None
    """Column of the references: by default the one of the format, and none for `sacrecap.diversity`."""
    caption_columns: tuple[str, ...] = ()
    """Columns of the captions, a system each; by default the one of the format."""
    memory: int = 512 << 20
    """Bytes that counts of n-grams may take in memory before they go to disk; a language model must fit into them."""

    def __post_init__(self) -> None:
        accepted_name("engine", self.name, ENGINES)
        accepted_name("on_bad_row", self.on_bad_row, ON_BAD_ROW)
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"workers must be at least 1, got {self.workers}")
        if self.memory < 1:
            raise UsageError(f"memory must be a number of bytes above 0, got {self.memory}")
        if self.resume and self.per_image is None and self.work is None:
            places = f"{option('per_image')}, or of {option('work')}"
            raise UsageError(f"{option('resume')} goes on in the folder of {places}; give one")

    def score(self, references: object, candidates: object, metrics: Sequence[Metric], **how: Any) -> Result:
        """One system's scores; references without candidates are rows that have both."""
        from sacrecap.engines import calls

        systems = None if candidates is None else {calls.SYSTEM: candidates}
        return calls.score(calls.Input(references, systems), metrics, self, **how)

    def compare(
        self, references: object, systems: Mapping[str, object] | None, metrics: Sequence[Metric], **how: Any
    ) -> Comparison:
        """Several systems' scores and paired tests: see [`sacrecap.compare`][]."""
        from sacrecap.engines import calls

        return calls.compare(calls.Input(references, systems), metrics, self, **how)

    def diversity(self, sets: object, references: object, metrics: Sequence[Metric], **how: Any) -> Diversity:
        """Figures of caption sets: see [`sacrecap.diversity`][]."""
        from sacrecap.engines import calls

        return calls.diversity(calls.Input.of_sets(sets, references, self), metrics, self, **how)
