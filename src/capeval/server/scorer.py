"""Scores captions in a child process; imports nothing of the server, so that the child starts quickly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from capeval._core import Captions
from capeval.corpus import Corpus
from capeval.evaluate import score_corpus
from capeval.registry import parse_metrics

SAMPLES = 1000
LEVEL = 0.95


def compute(header: dict[str, Any], files: list[bytes], progress: Callable[[str], None]) -> dict[str, Any]:
    """The JSON of `capeval score`, one metric after the other, so that those who wait see how far it is."""
    warnings.simplefilter("ignore")
    progress("tokenising")
    references, candidates = (Captions.parse(file, None, None) for file in files)
    corpus = Corpus(references, candidates, tokenizer=header["tokenizer"], threads=1)
    answer: dict[str, Any] = {"scores": {}, "intervals": {}, "signatures": {}}
    metrics = parse_metrics(header["metrics"])
    for number, metric in enumerate(metrics, 1):
        progress(f"scoring {metric.label}, {number} of {len(metrics)}")
        result = score_corpus(corpus, [metric], interval=LEVEL, samples=SAMPLES, threads=1).to_dict()
        for part, values in answer.items():
            values.update(result[part])
    return answer
