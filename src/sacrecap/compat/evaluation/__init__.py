"""The package `evaluation` of the meshed-memory transformer and of the many programs made from it."""

from __future__ import annotations

from typing import Any

from sacrecap.compat.encoded_captions import Captions
from sacrecap.compat.evaluation.bleu import Bleu
from sacrecap.compat.evaluation.cider import Cider
from sacrecap.compat.evaluation.meteor import Meteor
from sacrecap.compat.evaluation.rouge import Rouge
from sacrecap.compat.evaluation.spice import Spice
from sacrecap.compat.evaluation.tokenizer import PTBTokenizer

__all__ = ["Bleu", "Cider", "Meteor", "PTBTokenizer", "Rouge", "Spice", "compute_scores"]


def compute_scores(gts: Captions, gen: Captions, spice: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """The scores, and those of each image, by `BLEU`, `METEOR`, `ROUGE` and `CIDEr`; with `spice`, by `SPICE` too."""
    metrics: list[Any] = [Bleu(), Meteor(), Rouge(), Cider(), *([Spice()] if spice else [])]
    found = {str(metric): metric.compute_score(gts, gen) for metric in metrics}
    return {name: score for name, (score, _) in found.items()}, {name: scores for name, (_, scores) in found.items()}
