"""Engines as scoring sees them: values that score where this process alone would not do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from sacrecap.choices import ENGINES, EngineName
from sacrecap.errors import accepted_name

if TYPE_CHECKING:
    from sacrecap.choices import Correction, OnMissing, Test, Tokenizer
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.comparison import Comparison
    from sacrecap.scoring.diversity_result import Diversity
    from sacrecap.scoring.intervals import Resampling
    from sacrecap.scoring.result import Result


class ScoringEngine(Protocol):
    """What carries out `sacrecap.score`, `compare` and `diversity` elsewhere, such as
    [`EngineOptions`][sacrecap.engines.EngineOptions]. The arguments are those of the functions, made ready.
    """

    @property
    def name(self) -> str:
        """Its name for `engine=` and `--engine`; `local` stands for this process."""

    def score(
        self,
        references: object,
        candidates: object,
        metrics: Sequence[Metric],
        *,
        needs: Needs,
        tokenizer: Tokenizer,
        on_missing: OnMissing,
        resampling: Resampling,
    ) -> Result:
        """One system's scores."""

    def compare(
        self,
        references: object,
        systems: Mapping[str, object] | None,
        metrics: Sequence[Metric],
        *,
        needs: Needs,
        tokenizer: Tokenizer,
        on_missing: OnMissing,
        test: Test | None,
        alpha: float,
        correction: Correction,
        resampling: Resampling,
    ) -> Comparison:
        """Several systems' scores and paired tests."""

    def diversity(
        self,
        sets: object,
        references: object,
        metrics: Sequence[Metric],
        *,
        accuracy: Metric,
        beta2: float,
        top: int | None,
        training: object,
        needs: Needs,
        tokenizer: Tokenizer,
        resampling: Resampling,
    ) -> Diversity:
        """Figures of one or several systems' caption sets."""


def engine_elsewhere(engine: EngineName | ScoringEngine) -> ScoringEngine | None:
    """The engine that a call names, loaded by its name; None for `local`, where the caller itself scores."""
    if not isinstance(engine, str):
        return None if engine.name == "local" else engine
    accepted_name("engine", engine, ENGINES)
    if engine == "local":
        return None
    named: ScoringEngine = import_module("sacrecap.engines").EngineOptions(engine)
    return named
