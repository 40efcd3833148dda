"""Scores and compares captions in a child process; imports nothing of the server, so that the child starts quickly."""

from __future__ import annotations

import base64
import dataclasses
import json
import time
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sacrecap._core import Captions, Statistics, paired_bootstrap, paired_exact
from sacrecap.boards.leaks import hangs_on_few, pseudo_values
from sacrecap.boards.standing import LEVEL
from sacrecap.corpus.corpus import Corpus
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Resampling, intervals, widened
from sacrecap.scoring.result import within
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    from sacrecap.scoring.result import Result, Score


SAMPLES = 1000
SECONDS = 60
"""After so long a comparison ends with the pairs that it has: another job makes the others, after those that wait."""


def compute(header: dict[str, Any], files: list[bytes], progress: Callable[[str], None]) -> dict[str, Any]:
    """Scores and signatures by part and metric, scores with lower and upper end; the packed statistics of all images.

    One metric after the other, so that those who wait see how far it is. `files` are the references, the second ones
    where there are any, and the captions.
    """
    warnings.simplefilter("ignore")
    *references, captions = files
    metrics = parse_metrics(header["metrics"])
    needs = _needs(header)
    statistics: dict[str, Statistics] = {}
    answer: dict[str, dict[str, list[float]]] = {}
    signatures: dict[str, dict[str, str]] = {}
    for second, its in zip(("", header["second"]), references, strict=False):
        corpus = _corpus(header, its, captions)
        for number, metric in enumerate(metrics, 1):
            progress(f"{metric.label}, {number}/{len(metrics)}")
            result = score_corpus(corpus, [metric], needs=needs, threads=1)
            statistics |= {_name(second, key): score.rows for key, score in result.items()}
            for part, rows in _parts(header, second, result.image_ids).items():
                for key, score in result.items():
                    answer.setdefault(part, {})[key] = _with_interval(score, rows, exact=header["baseline"])
                    signatures.setdefault(part, {})[key] = score.signature
    return {"scores": answer, "signatures": signatures, "statistics": _as_text(statistics)}


def _name(second: str, metric: str) -> str:
    """Of the statistics of a metric, `second` being the part of the second references where it is of these."""
    return f"{second} {metric}" if second else metric


def _with_interval(score: Score, rows: Sequence[int] | None, *, exact: bool) -> list[float]:
    """Value, lower and upper end on these images; None means all. Three times 0 if it hangs on few of them.

    `exact` is for baselines, whose sender knows the references anyway.
    """
    part = score if rows is None else dataclasses.replace(score, statistics=score.rows.select(rows))
    if not exact and hangs_on_few(pseudo_values(part.rows)):
        return [0.0, 0.0, 0.0]
    [interval] = intervals([part.rows], [score.metric], Resampling(LEVEL, samples=SAMPLES), (), threads=1)
    return [part.value, *(within(part, interval, LEVEL).interval or ())]


def compare(header: dict[str, Any], files: list[bytes], progress: Callable[[str], None]) -> dict[str, Any]:
    """The first submission against each of the others, paired on the images, by each metric and on each part.

    `files` are the references (one set or two), the captions of submission `header["first"]`, and a file for each of
    `header["others"]`: the packed statistics of that submission, or, where its number is in `header["unscored"]`, its
    captions. Not all others have to be in the answer: it ends after `SECONDS`, but has one at least.
    """
    warnings.simplefilter("ignore")
    if not header["others"]:
        return {"pairs": [], "statistics": {}}
    ends = time.monotonic() + SECONDS
    metrics = parse_metrics(header["metrics"])
    needs = _needs(header)
    sets = dict(zip(("", header["second"]), files[: 2 if header["second"] else 1], strict=False))
    captions, *files = files[len(sets) :]

    def scored(captions: bytes) -> dict[str, Result]:
        return {
            second: score_corpus(_corpus(header, its, captions), metrics, needs=needs, threads=1)
            for second, its in sets.items()
        }

    one = scored(captions)
    own = _statistics(one)
    pairs: list[list[object]] = []
    statistics: dict[str, str] = {}
    for done, (number, file) in enumerate(zip(header["others"], files, strict=True)):
        if done and time.monotonic() > ends:
            break
        progress(f"{done + 1}/{len(files)}")
        if number in header["unscored"]:
            other = scored(file)
            theirs = _statistics(other)
            statistics[number] = _as_text(theirs)
        else:
            theirs = unpacked(file, own)
        for second, result in one.items():
            mine, its = (
                {key: side[_name(second, key)] for key in result if _name(second, key) in side}
                for side in (own, theirs)
            )
            for part, rows in _parts(header, second, result.image_ids).items():
                pairs += [[number, part, *found] for found in _tested(mine, its, rows)]
    return {"pairs": pairs, "statistics": statistics}


def _statistics(results: Mapping[str, Result]) -> dict[str, Statistics]:
    return {_name(second, key): score.rows for second, result in results.items() for key, score in result.items()}


def _tested(
    own: Mapping[str, Statistics], theirs: Mapping[str, Statistics], rows: Sequence[int] | None
) -> list[tuple[str, float, float, float, float | None]]:
    """Metric, difference, lower and upper end, p, of each metric that both have; no p if it hangs on few images."""
    metrics = [metric for metric in own if metric in theirs]
    systems = [
        [side[metric] if rows is None else side[metric].select(rows) for metric in metrics] for side in (own, theirs)
    ]
    wide = widened(LEVEL, min((side.rows for side in systems[0]), default=0))
    _, differences = paired_bootstrap(systems, SAMPLES, wide, 0, 1)
    return [
        (metric, a.score() - b.score(), lower, upper, None if _differ_in_few(a, b) else p)
        for metric, a, b, ((lower, upper), _), p in zip(
            metrics, *systems, differences, paired_exact(systems, 1), strict=True
        )
    ]


def _differ_in_few(one: Statistics, other: Statistics) -> bool:
    return hangs_on_few(pseudo_values(one) - pseudo_values(other))


def _corpus(header: dict[str, Any], references: bytes, captions: bytes) -> Corpus:
    """The captions of the references' images: a second set may have fewer than the submission."""
    described, submitted = (Captions.parse(file, None, None) for file in (references, captions))
    of_them = {image: submitted.captions(image)[0] for image in described.image_ids}
    return Corpus(described, of_them, tokenizer=header["tokenizer"], threads=1)


def _needs(header: dict[str, Any]) -> Needs:
    return Needs({"objects": header["objects"]}, threads=1)


def _parts(header: dict[str, Any], second: str, images: Sequence[str]) -> dict[str, list[int] | None]:
    """The rows of each part of a set of references; None for all."""
    if second:
        return {second: None}
    if header["private"] is None:
        return {"all": None}
    private = set(header["private"])
    rows = range(len(images))
    return {
        "public": [row for row in rows if images[row] not in private],
        "private": [row for row in rows if images[row] in private],
    }


def _as_text(statistics: Mapping[str, Statistics]) -> str:
    return base64.b64encode(packed(statistics)).decode()


def packed(statistics: Mapping[str, Statistics]) -> bytes:
    """Compressed; a table that several metrics share, as BLEU's, is there once."""
    tables: dict[bytes, int] = {}
    places = {}
    for metric, one in statistics.items():
        values = one.values()
        places[metric] = (tables.setdefault(values, len(tables)), one.width)
    header = json.dumps({"metrics": places, "sizes": [len(table) for table in tables]}).encode()
    return zlib.compress(header + b"\n" + b"".join(tables), 6)


def unpacked(data: bytes, like: Mapping[str, Statistics]) -> dict[str, Statistics]:
    """What was packed, with the formulas of other statistics of the same metrics.

    Metrics that either lacks are left out.
    """
    head, _, rest = zlib.decompress(data).partition(b"\n")
    header = json.loads(head)
    tables, start = [], 0
    for size in header["sizes"]:
        tables.append(rest[start : start + size])
        start += size
    found = {}
    for metric, (place, width) in header["metrics"].items():
        if metric in like and len(tables[place]) == 8 * width * like[metric].rows:
            taken_apart: Any = like[metric].select([]).__reduce__()
            restore, (name, _, _, kind, made_of) = taken_apart
            found[metric] = restore(name, tables[place], width, kind, made_of)
    return found
