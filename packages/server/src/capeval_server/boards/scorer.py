"""Scores captions in a child process; imports nothing of the server, so that the child starts quickly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from capeval._core import Captions
from capeval.corpus.corpus import Corpus
from capeval.metrics.registry import parse_metrics
from capeval.resources.needs import Needs
from capeval.scoring.result import Result
from capeval.scoring.score import score_corpus

SAMPLES = 1000
PERMUTATIONS = 10_000
"""Enough for a p that stays below 0.05 after the correction for 30 systems' pairs."""
LEVEL = 0.95


def compute(header: dict[str, Any], files: list[bytes], progress: Callable[[str], None]) -> dict[str, Any]:
    """The JSON of `capeval score`, one metric after the other, so that those who wait see how far it is."""
    warnings.simplefilter("ignore")
    progress("tokenising")
    references, candidates = (Captions.parse(file, None, None) for file in files)
    corpus = Corpus(references, candidates, tokenizer=header["tokenizer"], threads=1)
    answer: dict[str, Any] = {"scores": {}, "intervals": {}, "signatures": {}}
    metrics = parse_metrics(header["metrics"])
    needs = Needs({"objects": header["objects"]}, threads=1)
    for number, metric in enumerate(metrics, 1):
        progress(f"scoring {metric.label}, {number} of {len(metrics)}")
        result = score_corpus(corpus, [metric], needs=needs, interval=LEVEL, samples=SAMPLES, threads=1).to_dict()
        for part, values in answer.items():
            values.update(result[part])
    return answer


def compare(header: dict[str, Any], files: list[bytes], progress: Callable[[str], None]) -> dict[str, Any]:
    """The first system against each of the others, paired on the images, by each metric.

    `files` are the references, then a file for each of the header's `systems`, which are submissions' numbers.
    """
    from capeval.scoring.compare import compare_results

    warnings.simplefilter("ignore")
    references, *candidates = (Captions.parse(file, None, None) for file in files)
    metrics = parse_metrics(header["metrics"])
    needs = Needs({"objects": header["objects"]}, threads=1)
    results: dict[str, Result] = {}
    for number, system in zip(header["systems"], candidates, strict=True):
        progress(f"comparing with {len(results)} of {len(candidates) - 1}")
        corpus = Corpus(references, system, tokenizer=header["tokenizer"], threads=1)
        results[str(number)] = score_corpus(corpus, metrics, needs=needs, interval=None, threads=1)
    (first, one), *others = results.items()
    pairs = []
    for name, other in others:
        progress(f"testing against submission {name}")
        compared = compare_results(
            {first: one, name: other}, samples=PERMUTATIONS, correction="none", interval=LEVEL, threads=1
        )
        for pair in compared.pairs:
            assert pair.interval is not None
            pairs.append([int(pair.a), int(pair.b), pair.metric, pair.delta, *pair.interval, pair.p])
    return {"pairs": pairs}
