"""Scores and compares captions in a child process; imports nothing of the server, so that the child starts quickly."""

from __future__ import annotations

import base64
import dataclasses
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sacrecap._core import Captions, Statistics, paired_bootstrap, paired_exact
from sacrecap.corpus.corpus import Corpus
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Resampling, intervals
from sacrecap.scoring.score import score_corpus
from sacrecap_server.boards.few import hangs_on_few, pseudo_values
from sacrecap_server.boards.tables import packed, unpacked

if TYPE_CHECKING:
    from sacrecap.scoring.result import Result, Score

SAMPLES = 1000
LEVEL = 0.95
SECONDS = 60
"""After so long a comparison ends with the pairs that it has: another job makes the others, after those that wait."""


def compute(header: dict[str, Any], files: list[bytes], progress: Callable[[str], None]) -> dict[str, Any]:
    """Scores by part and metric: value, lower and upper end; signatures; and the packed statistics of all images.

    One metric after the other, so that those who wait see how far it is. `files` are the references and the captions.
    """
    warnings.simplefilter("ignore")
    progress("tokenising")
    corpus = _corpus(header, *files)
    metrics = parse_metrics(header["metrics"])
    needs = _needs(header)
    scores: dict[str, Score] = {}
    answer: dict[str, dict[str, list[float]]] = {}
    for number, metric in enumerate(metrics, 1):
        progress(f"scoring {metric.label}, {number} of {len(metrics)}")
        result = score_corpus(corpus, [metric], needs=needs, threads=1)
        scores.update(result)
        for part, rows in _parts(header, result.image_ids).items():
            for key, score in result.items():
                answer.setdefault(part, {})[key] = _with_interval(score, rows, exact=header["baseline"])
    return {
        "scores": answer,
        "signatures": {key: score.signature for key, score in scores.items()},
        "statistics": _as_text(scores),
    }


def _with_interval(score: Score, rows: Sequence[int] | None, *, exact: bool) -> list[float]:
    """Value, lower and upper end on these images; None means all. Three times 0 if it hangs on few of them.

    `exact` is for baselines, whose sender knows the references anyway.
    """
    part = score if rows is None else dataclasses.replace(score, statistics=score.rows.select(rows))
    if not exact and hangs_on_few(pseudo_values(part.rows)):
        return [0.0, 0.0, 0.0]
    [interval] = intervals([part.rows], [score.metric], Resampling(LEVEL, samples=SAMPLES), (), threads=1)
    return [part.value, *(interval or ())]


def compare(header: dict[str, Any], files: list[bytes], progress: Callable[[str], None]) -> dict[str, Any]:
    """The first submission against each of the others, paired on the images, by each metric and on each part.

    `files` are the references, the captions of submission `header["first"]`, and a file for each of `header["others"]`:
    the packed statistics of that submission, or, where its number is in `header["unscored"]`, its captions. Not all
    others have to be in the answer: it ends after `SECONDS`, but has one at least.
    """
    warnings.simplefilter("ignore")
    if not header["others"]:
        return {"pairs": [], "statistics": {}}
    ends = time.monotonic() + SECONDS
    metrics = parse_metrics(header["metrics"])
    needs = _needs(header)
    references, captions, *files = files

    def scored(captions: bytes) -> Result:
        return score_corpus(_corpus(header, references, captions), metrics, needs=needs, threads=1)

    progress("scoring")
    one = scored(captions)
    own = {key: score.rows for key, score in one.items()}
    parts = _parts(header, one.image_ids)
    pairs: list[list[object]] = []
    statistics: dict[str, str] = {}
    for done, (number, file) in enumerate(zip(header["others"], files, strict=True)):
        if done and time.monotonic() > ends:
            break
        progress(f"testing against {done + 1} of {len(files)}")
        if number in header["unscored"]:
            other = scored(file)
            statistics[number] = _as_text(other)
            theirs = {key: score.rows for key, score in other.items()}
        else:
            theirs = unpacked(file, own)
        for part, rows in parts.items():
            pairs += [[number, part, *found] for found in _tested(own, theirs, rows)]
    return {"pairs": pairs, "statistics": statistics}


def _tested(
    own: Mapping[str, Statistics], theirs: Mapping[str, Statistics], rows: Sequence[int] | None
) -> list[tuple[str, float, float, float, float | None]]:
    """Metric, difference, lower and upper end, p, of each metric that both have; no p if it hangs on few images."""
    metrics = [metric for metric in own if metric in theirs]
    systems = [
        [side[metric] if rows is None else side[metric].select(rows) for metric in metrics] for side in (own, theirs)
    ]
    _, differences = paired_bootstrap(systems, SAMPLES, LEVEL, 0, 1)
    return [
        (metric, a.score() - b.score(), lower, upper, None if _differ_in_few(a, b) else p)
        for metric, a, b, ((lower, upper), _), p in zip(
            metrics, *systems, differences, paired_exact(systems, 1), strict=True
        )
    ]


def _differ_in_few(one: Statistics, other: Statistics) -> bool:
    return hangs_on_few(pseudo_values(one) - pseudo_values(other))


def _corpus(header: dict[str, Any], references: bytes, captions: bytes) -> Corpus:
    parsed = [Captions.parse(file, None, None) for file in (references, captions)]
    return Corpus(*parsed, tokenizer=header["tokenizer"], threads=1)


def _needs(header: dict[str, Any]) -> Needs:
    return Needs({"objects": header["objects"]}, threads=1)


def _parts(header: dict[str, Any], images: Sequence[str]) -> dict[str, list[int] | None]:
    """The rows of each part; None for all."""
    if header["private"] is None:
        return {"all": None}
    private = set(header["private"])
    rows = range(len(images))
    return {
        "public": [row for row in rows if images[row] not in private],
        "private": [row for row in rows if images[row] in private],
    }


def _as_text(scores: Mapping[str, Score]) -> str:
    return base64.b64encode(packed({key: score.rows for key, score in scores.items()})).decode()
