"""sacrecap measures how good image descriptions are, and how far the numbers can be trusted.

Everything public is listed here. Names load on first use, so `import sacrecap` costs milliseconds and pulls in neither
NumPy nor any extra.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from sacrecap._core import __version__
from sacrecap.above import ABOVE

if TYPE_CHECKING:
    from sacrecap import compat, data, errors, example, judgments, metrics
    from sacrecap.corpus import Corpus, DocumentFrequency, LanguageModel, References, tokenize
    from sacrecap.errors import SacrecapError, SacrecapWarning
    from sacrecap.metrics.function import metric
    from sacrecap.metrics.spice.scene_graph import SceneGraph, scene_graph, scene_graphs
    from sacrecap.resources.endpoint import Endpoint
    from sacrecap.resources.needs import Needs
    from sacrecap.rewards import CiderDReward
    from sacrecap.scoring.collected import Accumulator, Rows
    from sacrecap.scoring.comparison import Comparison, compare
    from sacrecap.scoring.diversity import diversity
    from sacrecap.scoring.intervals import Resampling
    from sacrecap.scoring.result import Result, Score
    from sacrecap.scoring.score import score
    from sacrecap.scoring.scorer import Scorer

__all__ = [
    "Accumulator",
    "CiderDReward",
    "Comparison",
    "Corpus",
    "DocumentFrequency",
    "Endpoint",
    "LanguageModel",
    "Needs",
    "References",
    "Resampling",
    "Result",
    "Rows",
    "SacrecapError",
    "SacrecapWarning",
    "SceneGraph",
    "Score",
    "Scorer",
    "__version__",
    "compare",
    "compat",
    "data",
    "diversity",
    "errors",
    "example",
    "judgments",
    "metric",
    "metrics",
    "scene_graph",
    "scene_graphs",
    "score",
    "tokenize",
]
__dir__ = __all__.copy  # for `dir` and completion, here and in every public module

_HOME = {
    name: module
    for module, names in {
        "corpus": "Corpus DocumentFrequency LanguageModel References tokenize",
        "errors": "SacrecapError SacrecapWarning",
        "metrics.function": "metric",
        "metrics.spice.scene_graph": "SceneGraph scene_graph scene_graphs",
        "resources.endpoint": "Endpoint",
        "resources.needs": "Needs",
        "rewards": "CiderDReward",
        "scoring.collected": "Accumulator Rows",
        "scoring.comparison": "Comparison compare",
        "scoring.diversity": "diversity",
        "scoring.intervals": "Resampling",
        "scoring.result": "Result Score",
        "scoring.score": "score",
        "scoring.scorer": "Scorer",
    }.items()
    for name in names.split()
}

ABOVE.update(
    {
        "Agreement": "sacrecap.report.agreement_report:render",
        "Board": "sacrecap.report.board_report:render",
        "ContestBoard": "sacrecap.report.board_report:render_contest",
        "Calibration": "sacrecap.report.calibration_report:render",
        "Check": "sacrecap.report.check_formats:render",
        "Comparison": "sacrecap.report.comparison_formats:render",
        "Diversity": "sacrecap.report.diversity_formats:render",
        "GraphMatch": "sacrecap.report.explanation_pictures:print_match",
        "Meta": "sacrecap.report.meta_report:render",
        "Ranking": "sacrecap.report.ranking_formats:render",
        "Result": "sacrecap.report.score_formats:render",
        "SceneGraph": "sacrecap.report.explanation_pictures:print_graph",
        "engine": "sacrecap.engines.calls:EngineOptions",
        "page": "sacrecap.report.html:render_html",
    }
)


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"sacrecap.{_HOME[name]}"), name)
    if name in __all__:
        return import_module(f"sacrecap.{name}")
    raise AttributeError(f"module 'sacrecap' has no attribute {name!r}")
