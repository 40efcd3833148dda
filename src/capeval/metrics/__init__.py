"""The metrics, as values. `capeval.metrics.CiderD(sigma=5)` and `"cider-d(sigma=5)"` are the same metric."""

from capeval.errors import warn
from capeval.metrics.base import Learner, Metric, PythonMetric, Ready, SetMetric, parameter
from capeval.metrics.bertscore import BertScore
from capeval.metrics.bleu import Bleu
from capeval.metrics.capeval_1 import Capeval1
from capeval.metrics.chair.metric import ChairI, ChairRecall, ChairS
from capeval.metrics.cider import CiderD, CiderPaper
from capeval.metrics.clipscore import ClipScore, RefClipScore
from capeval.metrics.combine import Combine
from capeval.metrics.div import Distinct, Div
from capeval.metrics.fluency import Fluency
from capeval.metrics.lsa import Lsa
from capeval.metrics.mbleu import Mbleu, MbleuMix
from capeval.metrics.meteor.metric import Meteor
from capeval.metrics.registry import register
from capeval.metrics.rouge import RougeL, RougeN, RougeS
from capeval.metrics.self_cider import SelfCider
from capeval.metrics.sentence import Sentence
from capeval.metrics.spice.metric import Spice
from capeval.metrics.spider import Spider
from capeval.metrics.vifidel.metric import Vifidel
from capeval.metrics.wmd import Wmd

__all__ = [
    "BertScore",
    "Bleu",
    "Capeval1",
    "ChairI",
    "ChairRecall",
    "ChairS",
    "CiderD",
    "CiderPaper",
    "ClipScore",
    "Combine",
    "Distinct",
    "Div",
    "Fluency",
    "Learner",
    "Lsa",
    "Mbleu",
    "MbleuMix",
    "Meteor",
    "Metric",
    "PythonMetric",
    "Ready",
    "RefClipScore",
    "RougeL",
    "RougeN",
    "RougeS",
    "SelfCider",
    "Sentence",
    "SetMetric",
    "Spice",
    "Spider",
    "Vifidel",
    "Wmd",
    "parameter",
    "register",
]


def __getattr__(name: str) -> type[Metric]:
    """The class `Cider` until 0.3, with a warning: the COCO suite's metric of this name is `CiderD`."""
    if name == "Cider":
        warn(
            "capeval.metrics.Cider, the stemmed metric of the paper, is now called CiderPaper, and the old name "
            "works for one more release; what the COCO suite calls Cider is CiderD",
            FutureWarning,
        )
        return CiderPaper
    raise AttributeError(f"module 'capeval.metrics' has no attribute {name!r}")
