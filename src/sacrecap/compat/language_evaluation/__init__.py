"""The evaluator of captions of the package language-evaluation, for lists of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sacrecap.compat.pycocoevalcap.eval import COCOEvalCap

__all__ = ["CocoEvaluator"]


class _ListedCaptions:
    """Captions by their place in a list, as `COCOEvalCap` takes them."""

    def __init__(self, captions: Sequence[Sequence[str]]) -> None:
        self.imgToAnns = {number: [{"caption": one} for one in several] for number, several in enumerate(captions)}

    def getImgIds(self) -> list[int]:
        return list(self.imgToAnns)


@dataclass(eq=False)
class CocoEvaluator:
    """Scores by the COCO suite's metrics.

    Args:
        coco_types: the metrics, out of `BLEU`, `METEOR`, `ROUGE_L`, `CIDEr` and `SPICE`.
        tokenization_fn: makes a caption into tokens; by default, the suite's tokenizer.
        verbose: taken as there, and without effect: nothing is printed.
        unk_token: this text becomes `_UNKNOWN` in the answers, so that no prediction matches it.
    """

    coco_types: Sequence[str] = ("BLEU", "METEOR", "ROUGE_L", "CIDEr", "SPICE")
    tokenization_fn: Callable[[str], str | Sequence[str]] | None = None
    verbose: bool = True
    unk_token: str = "_UNK"  # noqa: S105  (a word, not a password)

    def run_evaluation(self, predicts: Sequence[str], answers: Sequence[str | Sequence[str]]) -> dict[str, Any]:
        """The scores, `Bleu_1` to `SPICE`, of predictions by one answer or several each; the shorter list counts."""
        pairs = list(zip(predicts, answers, strict=False))
        listed = [[own] if isinstance(own, str) else own for _, own in pairs]
        references = [[one.replace(self.unk_token, "_UNKNOWN") for one in own] for own in listed]
        evaluation = COCOEvalCap(
            _ListedCaptions(references),
            _ListedCaptions([[predicted] for predicted, _ in pairs]),
            tokenization_fn=self.tokenization_fn,
            verbose=False,
            cocoTypes=self.coco_types,
        )
        evaluation.evaluate()
        return evaluation.eval


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"sacrecap.compat has CocoEvaluator alone of language_evaluation, not {name}; for others install that package"
    )
