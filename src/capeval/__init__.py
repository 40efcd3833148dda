"""capeval: how good is an image description, and how far to trust the number.

Everything public is listed here. Names load on first use, so `import capeval` costs milliseconds and pulls in neither
NumPy nor any extra.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from capeval._core import __version__

if TYPE_CHECKING:
    from capeval import data, errors, example, metrics, study
    from capeval.caption_sets import diversity
    from capeval.comparison import Comparison
    from capeval.corpus import Corpus, tokenize
    from capeval.document_frequency import DocumentFrequency
    from capeval.errors import CapevalError, CapevalWarning
    from capeval.evaluate import score
    from capeval.result import Result, Score
    from capeval.reward import CiderDReward
    from capeval.significance import compare

__all__ = [
    "CapevalError",
    "CapevalWarning",
    "CiderDReward",
    "Comparison",
    "Corpus",
    "DocumentFrequency",
    "Result",
    "Score",
    "__version__",
    "compare",
    "data",
    "diversity",
    "errors",
    "example",
    "metrics",
    "score",
    "study",
    "tokenize",
]

_HOME = {
    "CapevalError": "errors",
    "CapevalWarning": "errors",
    "CiderDReward": "reward",
    "Comparison": "comparison",
    "Corpus": "corpus",
    "DocumentFrequency": "document_frequency",
    "diversity": "caption_sets",
    "Result": "result",
    "Score": "result",
    "compare": "significance",
    "score": "evaluate",
    "tokenize": "corpus",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"capeval.{_HOME[name]}"), name)
    if name in __all__:
        return import_module(f"capeval.{name}")
    raise AttributeError(f"module 'capeval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
