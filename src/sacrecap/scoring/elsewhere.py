"""Engines as scoring sees them: values that score where this process alone would not do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from sacrecap.above import from_above
from sacrecap.choices import EngineName
from sacrecap.errors import UsageError

if TYPE_CHECKING:
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.comparison import Comparison
    from sacrecap.scoring.result import Result


class ScoringEngine(Protocol):
    """What carries out `sacrecap.score` and `compare` elsewhere, such as
    [`EngineOptions`][sacrecap.engines.EngineOptions]. The arguments are those of the functions, parsed.
    """

    @property
    def name(self) -> str:
        """Its name for `engine=` and `--engine`; `local` stands for this process."""

    @property
    def score(self) -> Callable[..., Result]:
        """As [`sacrecap.score`][]."""

    @property
    def compare(self) -> Callable[..., Comparison]:
        """As [`sacrecap.compare`][]."""


def named_engine(engine: EngineName | ScoringEngine, needs: Needs | None = None) -> ScoringEngine:
    """The engine itself, or that of this name, which is loaded.

    Raises `UsageError` for scores that others computed whose rows have no captions: parts know no names of systems.
    """
    if needs is not None and "scores" in needs:
        from sacrecap.metrics.outside import outside_scores

        scores = outside_scores(needs)
        if scores is not None and scores.captions is None:
            raise UsageError(
                f"{scores.source}: where captions are scored part by part, their rows are told by captions; add a "
                "column caption, or take engine local"
            )
    if not isinstance(engine, str):
        return engine
    named: ScoringEngine = from_above("engine")(engine)
    return named
