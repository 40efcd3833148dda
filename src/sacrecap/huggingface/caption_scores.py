"""Scores of image captions for Hugging Face's `evaluate`: BLEU, METEOR, ROUGE-L, CIDEr-D, SPICE and others.

`evaluate` copies this file and imports the copy, so the file uses no other one of this package's folder.
"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

import sacrecap

_INPUTS = """
Args:
    predictions: one caption per image, list of str.
    references: the captions that people gave each image, list of lists of str; or one each, list of str.
    metrics: names or groups of metrics, such as `"coco"` or `"bleu-4, cider-d"`.
    prefix: put before the names of the scores.
    percent: scores times 100, as papers print them.
    **options: other keywords of `sacrecap.score`, such as `tokenizer` or `document_frequency`.

Returns:
    the scores by name, dict of float.
"""


class CaptionScores(evaluate.Metric):  # type: ignore[misc]
    """Scores captions against references, all images together."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=__doc__ or "",
            citation="",
            inputs_description=_INPUTS,
            features=[
                datasets.Features({"predictions": text, "references": datasets.Sequence(text)}),
                datasets.Features({"predictions": text, "references": text}),
            ],
        )

    def _compute(
        self,
        *,
        predictions: list[str],
        references: list[list[str]] | list[str],
        metrics: str = "coco",
        prefix: str = "",
        percent: bool = False,
        **options: Any,
    ) -> dict[str, float]:
        options.setdefault("interval", None)
        result = sacrecap.score(references, predictions, metrics, **options)
        return result.flat(prefix, percent=percent)
