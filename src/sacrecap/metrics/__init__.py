"""The metrics, as values. `sacrecap.metrics.CiderD(sigma=5)` and `"cider-d(sigma=5)"` are the same metric.

Names are data: a program that scores with one metric loads the module of that one. A new metric of sacrecap is a row of
`METRICS`, and an import for type checkers; groups, the command line, the documentation and the tests read the row.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap.metrics.base import Learner as Learner
    from sacrecap.metrics.base import Metric as Metric
    from sacrecap.metrics.base import PythonMetric as PythonMetric
    from sacrecap.metrics.base import Ready as Ready
    from sacrecap.metrics.base import SetMetric as SetMetric
    from sacrecap.metrics.base import Status as Status
    from sacrecap.metrics.bertscore import BertScore as BertScore
    from sacrecap.metrics.bleu import Bleu as Bleu
    from sacrecap.metrics.caption_sets import Distinct as Distinct
    from sacrecap.metrics.caption_sets import Div as Div
    from sacrecap.metrics.caption_sets import Lsa as Lsa
    from sacrecap.metrics.caption_sets import Mbleu as Mbleu
    from sacrecap.metrics.caption_sets import MbleuMix as MbleuMix
    from sacrecap.metrics.caption_sets import SelfCider as SelfCider
    from sacrecap.metrics.caption_sets import Vendi as Vendi
    from sacrecap.metrics.chair import ChairI as ChairI
    from sacrecap.metrics.chair import ChairRecall as ChairRecall
    from sacrecap.metrics.chair import ChairS as ChairS
    from sacrecap.metrics.cider import CiderD as CiderD
    from sacrecap.metrics.cider import CiderPaper as CiderPaper
    from sacrecap.metrics.clipscore import ClipScore as ClipScore
    from sacrecap.metrics.clipscore import RefClipScore as RefClipScore
    from sacrecap.metrics.combine import Combine as Combine
    from sacrecap.metrics.declared import parameter as parameter
    from sacrecap.metrics.fluency import Fluency as Fluency
    from sacrecap.metrics.judge import Judge as Judge
    from sacrecap.metrics.meteor.meteor import Meteor as Meteor
    from sacrecap.metrics.registry import register as register
    from sacrecap.metrics.rouge import RougeL as RougeL
    from sacrecap.metrics.rouge import RougeN as RougeN
    from sacrecap.metrics.rouge import RougeS as RougeS
    from sacrecap.metrics.sentence import Sentence as Sentence
    from sacrecap.metrics.spice.spice import Spice as Spice
    from sacrecap.metrics.spice.spice import Spider as Spider
    from sacrecap.metrics.statements import Coverage as Coverage
    from sacrecap.metrics.statements import LongF1 as LongF1
    from sacrecap.metrics.statements import Precision as Precision
    from sacrecap.metrics.statements import Rubric as Rubric
    from sacrecap.metrics.vifidel import Vifidel as Vifidel
    from sacrecap.metrics.wmd import Wmd as Wmd

METRICS: dict[str, tuple[str, dict[str, int], str]] = {
    **{f"bleu-{n}": ("bleu:Bleu", {"n": n}, "coco consensus all") for n in (1, 2, 3, 4)},
    "meteor": ("meteor.meteor:Meteor", {}, "coco consensus all"),
    **{f"rouge-{n}": ("rouge:RougeN", {"n": n}, "consensus all") for n in (1, 2, 3, 4)},
    "rouge-l": ("rouge:RougeL", {}, "coco consensus all"),
    "rouge-s": ("rouge:RougeS", {}, "consensus all"),
    "cider-paper": ("cider:CiderPaper", {}, "consensus long all"),
    "cider-d": ("cider:CiderD", {}, "coco consensus all"),
    "spice": ("spice.spice:Spice", {}, "consensus all"),
    "spider": ("spice.spice:Spider", {}, "consensus all"),
    "coverage": ("statements:Coverage", {}, "long all"),
    "precision": ("statements:Precision", {}, "long all"),
    "long-f1": ("statements:LongF1", {}, "long all"),
    "rubric": ("statements:Rubric", {}, ""),
    "wmd": ("wmd:Wmd", {}, "fidelity all"),
    "vifidel": ("vifidel:Vifidel", {}, "fidelity all"),
    "chair-i": ("chair:ChairI", {}, "fidelity all"),
    "chair-s": ("chair:ChairS", {}, "fidelity all"),
    "chair-recall": ("chair:ChairRecall", {}, "fidelity all"),
    "fluency": ("fluency:Fluency", {}, "fidelity all"),
    "clipscore": ("clipscore:ClipScore", {}, "learned all"),
    "refclipscore": ("clipscore:RefClipScore", {}, "learned all"),
    "bertscore": ("bertscore:BertScore", {}, "learned all"),
    "sentence": ("sentence:Sentence", {}, "learned all"),
    "judge": ("judge:Judge", {}, ""),
    "self-cider": ("caption_sets:SelfCider", {}, "diversity"),
    "lsa": ("caption_sets:Lsa", {}, "diversity"),
    **{f"mbleu-{n}": ("caption_sets:Mbleu", {"n": n}, "diversity") for n in (1, 2, 3, 4)},
    "mbleu-mix": ("caption_sets:MbleuMix", {}, "diversity"),
    **{f"div-{n}": ("caption_sets:Div", {"n": n}, "diversity") for n in (1, 2)},
    "distinct": ("caption_sets:Distinct", {}, "diversity"),
    "vendi": ("caption_sets:Vendi", {}, ""),
}
"""By name: the place of the class, the parameters that the name fixes, and the groups. Metrics of caption sets are in
`diversity`, all others in `all`; a judge, which costs money, a rubric, and Vendi, whose scale is another, are in none.
"""

_HOME = {
    **dict.fromkeys(("Learner", "Metric", "PythonMetric", "Ready", "SetMetric", "Status"), "base"),
    "parameter": "declared",
    "Combine": "combine",
    "register": "registry",
    **{name: module for module, _, name in (place.partition(":") for place, _, _ in METRICS.values())},
}
"""The module of each public name."""

__all__ = sorted(_HOME)  # noqa: PLE0605  (the names follow from the table)
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'sacrecap.metrics' has no attribute {name!r}")
    return getattr(import_module(f"sacrecap.metrics.{_HOME[name]}"), name)
