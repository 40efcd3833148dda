"""The metrics, as values. `capeval.metrics.CiderD(sigma=5)` and `"cider-d(sigma=5)"` are the same metric."""

from capeval.metrics.base import Metric
from capeval.metrics.bleu import Bleu
from capeval.metrics.cider import Cider, CiderD
from capeval.metrics.div import Distinct, Div
from capeval.metrics.lsa import Lsa
from capeval.metrics.mbleu import Mbleu, MbleuMix
from capeval.metrics.meteor import Meteor
from capeval.metrics.rouge import RougeL, RougeN, RougeS
from capeval.metrics.self_cider import SelfCider

__all__ = [
    "Bleu",
    "Cider",
    "CiderD",
    "Distinct",
    "Div",
    "Lsa",
    "Mbleu",
    "MbleuMix",
    "Meteor",
    "Metric",
    "RougeL",
    "RougeN",
    "RougeS",
    "SelfCider",
]
