"""capeval measures how good image descriptions are, and how far the numbers can be trusted.

Everything public is listed here. Names load on first use, so `import capeval` costs milliseconds and pulls in neither
NumPy nor any extra.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from capeval._core import __version__
from capeval._moved import MOVED, keep_old_names

if TYPE_CHECKING:
    from capeval import compat, data, errors, example, judgments, metrics
    from capeval.corpus import Corpus, DocumentFrequency, References, tokenize
    from capeval.errors import CapevalError, CapevalWarning
    from capeval.metrics.function import metric
    from capeval.metrics.spice.scene_graph import SceneGraph, scene_graph, scene_graphs
    from capeval.resources.needs import Needs
    from capeval.rewards import CiderDReward
    from capeval.scoring.accumulator import Accumulator
    from capeval.scoring.compare import compare
    from capeval.scoring.comparison import Comparison
    from capeval.scoring.diversity import diversity
    from capeval.scoring.result import Result, Score
    from capeval.scoring.score import score

__all__ = [
    "Accumulator",
    "CapevalError",
    "CapevalWarning",
    "CiderDReward",
    "Comparison",
    "Corpus",
    "DocumentFrequency",
    "Needs",
    "References",
    "Result",
    "SceneGraph",
    "Score",
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

_HOME = {
    "Accumulator": "scoring.accumulator",
    "CapevalError": "errors",
    "CapevalWarning": "errors",
    "CiderDReward": "rewards",
    "Comparison": "scoring.comparison",
    "Corpus": "corpus",
    "DocumentFrequency": "corpus",
    "diversity": "scoring.diversity",
    "Needs": "resources.needs",
    "References": "corpus",
    "Result": "scoring.result",
    "SceneGraph": "metrics.spice.scene_graph",
    "scene_graph": "metrics.spice.scene_graph",
    "scene_graphs": "metrics.spice.scene_graph",
    "Score": "scoring.result",
    "compare": "scoring.compare",
    "metric": "metrics.function",
    "score": "scoring.score",
    "tokenize": "corpus",
}

keep_old_names()


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"capeval.{_HOME[name]}"), name)
    if name in __all__ or f"capeval.{name}" in MOVED:
        return import_module(f"capeval.{name}")
    raise AttributeError(f"module 'capeval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
