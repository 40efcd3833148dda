"""An engine with its options, as calls and commands name it."""

from __future__ import annotations

from dataclasses import dataclass

from sacrecap.choices import ENGINES, EngineName
from sacrecap.engines import calls
from sacrecap.errors import UsageError, accepted_name


@dataclass(frozen=True)
class EngineOptions:
    """An engine, and what a call says about it.

    Example:
        >>> options = sacrecap.engines.EngineOptions("ray", workers=4)
        >>> options.name, options.workers
        ('ray', 4)
    """

    name: EngineName = "local"
    address: str | None = None
    """Address of a Ray cluster; by default the one that runs, else one that is started on this machine."""
    workers: int | None = None
    """Pieces that a cluster works on at once; by default as many as it has cores."""
    rows: bool = False
    """Whether the statistics of each image are kept without intervals, too, for scores of images and groups; else they
    are added up as they come, in the same memory for any number of images.
    """

    def __post_init__(self) -> None:
        accepted_name("engine", self.name, ENGINES)
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"workers must be at least 1, got {self.workers}")

    score = calls.score
    compare = calls.compare
    document_frequency = calls.document_frequency
