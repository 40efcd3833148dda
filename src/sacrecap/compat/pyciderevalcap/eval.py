"""CIDEr and CIDEr-D of untokenised captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap.compat.pyciderevalcap.cider.cider import Cider
from sacrecap.compat.pyciderevalcap.ciderD.ciderD import CiderD
from sacrecap.compat.pyciderevalcap.tokenizer.ptbtokenizer import PTBTokenizer

__all__ = ["CIDErEvalCap", "Cider", "CiderD", "PTBTokenizer"]


class CIDErEvalCap:
    """Scores of samples by references, both untokenised.

    Args:
        gts: `{image id: [{"caption": text}, …]}`.
        res: `[{"image_id": …, "caption": text}, …]`.
        df: where document frequencies come from: see `Cider`.
    """

    def __init__(
        self, gts: Mapping[Any, Sequence[Mapping[str, str]]], res: Sequence[Mapping[str, Any]], df: str
    ) -> None:
        print("tokenization...")
        self.gts = PTBTokenizer("gts").tokenize(gts)
        print("tokenized refs")
        self.res = PTBTokenizer("res").tokenize(res)
        print("tokenized cands")
        self.df = df

    def evaluate(self) -> dict[str, list[float]]:
        """The scores of the samples, by `CIDEr` and `CIDErD`."""
        print("setting up scorers...")
        metric_scores = {}
        for scorer, method in ((Cider(df=self.df), "CIDEr"), (CiderD(df=self.df), "CIDErD")):
            print(f"computing {scorer.method()} score...")
            score, scores = scorer.compute_score(self.gts, self.res)
            print(f"Mean {method} score: {score:0.3f}")
            metric_scores[method] = list(scores)
        return metric_scores
