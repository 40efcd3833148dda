"""The metrics, as values. `sacrecap.metrics.CiderD(sigma=5)` and `"cider-d(sigma=5)"` are the same metric."""

from sacrecap.metrics.base import Learner, Metric, PythonMetric, Ready, SetMetric, parameter
from sacrecap.metrics.bertscore import BertScore
from sacrecap.metrics.bleu import Bleu
from sacrecap.metrics.chair.metric import ChairI, ChairRecall, ChairS
from sacrecap.metrics.cider import CiderD, CiderPaper
from sacrecap.metrics.clipscore import ClipScore, RefClipScore
from sacrecap.metrics.combine import Combine
from sacrecap.metrics.div import Distinct, Div
from sacrecap.metrics.fluency import Fluency
from sacrecap.metrics.lsa import Lsa
from sacrecap.metrics.mbleu import Mbleu, MbleuMix
from sacrecap.metrics.meteor.metric import Meteor
from sacrecap.metrics.registry import register
from sacrecap.metrics.rouge import RougeL, RougeN, RougeS
from sacrecap.metrics.sacrecap_1 import Sacrecap1
from sacrecap.metrics.self_cider import SelfCider
from sacrecap.metrics.sentence import Sentence
from sacrecap.metrics.spice.metric import Spice
from sacrecap.metrics.spider import Spider
from sacrecap.metrics.vifidel.metric import Vifidel
from sacrecap.metrics.wmd import Wmd

__all__ = [
    "BertScore",
    "Bleu",
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
    "Sacrecap1",
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
__dir__ = __all__.copy
