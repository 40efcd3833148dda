"""Baselines: what `sacrecap score --baseline` writes and `sacrecap check --against` compares with.

A baseline is the JSON document of `sacrecap score` with the captions that were scored. Scores alone are not enough for
a test: BLEU and METEOR are not means over images. Every metric is counted again from the captions, so that the paired
    test is that of `sacrecap compare`, and other references are detected, because they give other scores.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from sacrecap.corpus.corpus import Corpus
from sacrecap.data.atomic import atomic_write
from sacrecap.errors import DataError, UsageError, naming, some, warn
from sacrecap.scoring.signature import OF_CAPTIONS, Signature
from sacrecap.scoring.ties import same

if TYPE_CHECKING:
    from sacrecap.scoring.result import Result


@dataclass(frozen=True)
class Baseline:
    """A system that was scored before."""

    path: str
    scores: dict[str, float | None]
    """By key; None if no image had a score."""
    signatures: dict[str, str]
    captions: dict[str, str] | None
    """By image id; None if the file has scores alone."""


def write_baseline(result: Result, path: str | PathLike[str]) -> None:
    """Writes the baseline, whole or not at all. Raises `DataError` if it cannot be written."""
    captions = {image: result.corpus.captions(image)[0] or "" for image in result.image_ids}
    with atomic_write(path, "w") as file:
        file.write(json.dumps({**result.to_dict(), "captions": captions}, ensure_ascii=False, indent=1) + "\n")


def read_baseline(path: str | PathLike[str]) -> Baseline:
    """Reads a baseline, or the JSON document of `sacrecap score`. Raises `DataError` for anything else."""
    name = fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise _no_baseline(name, f"it is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise _no_baseline(name, "it is no JSON object")
    scores: Any = document.get("scores")
    signatures: Any = document.get("signatures")
    captions: Any = document.get("captions")
    if not _maps(scores, float, int, type(None)) or not _maps(signatures, str) or scores.keys() != signatures.keys():
        raise _no_baseline(name, 'its "scores" and "signatures" are not those of the same metrics')
    if not (captions is None or _maps(captions, str)):
        raise _no_baseline(name, 'its "captions" are not texts')
    return Baseline(name, scores, signatures, captions)


def _maps(value: Any, *kinds: type) -> bool:
    """Whether it is a mapping to values of these kinds; yes and no are not numbers."""
    return isinstance(value, dict) and not any(
        isinstance(number, bool) or not isinstance(number, kinds) for number in value.values()
    )


def _no_baseline(name: str, why: str) -> DataError:
    return DataError(f"{name}: {why}; a baseline is what sacrecap score REFERENCES CANDIDATES --baseline FILE writes")


def baseline_corpus(baseline: Baseline, corpus: Corpus, *, threads: int = 0) -> Corpus | None:
    """The captions of the baseline on the images of the corpus; None if the baseline has none, with a warning.

    Raises `DataError` if the images are not the same.
    """
    if baseline.captions is None:
        warn(f"{baseline.path} has scores without captions: nothing can be tested, so any fall counts as a regression")
        return None
    for theirs, mine, who in (
        (baseline.captions, {*corpus.image_ids}, "are not scored here"),
        (corpus.image_ids, {*baseline.captions}, "are not in the baseline"),
    ):
        foreign = [image for image in theirs if image not in mine]
        if foreign:
            raise DataError(f"{baseline.path}: {some(foreign)} {who}; {_AGAIN}")
    references = {image: corpus.captions(image)[1] for image in corpus.image_ids}
    return Corpus(references, baseline.captions, tokenizer=corpus.tokenizer, threads=threads)


def check_alike(baseline: Baseline, now: Result, then: Result | None) -> None:
    """Raises `DataError` if the baseline was scored in another way than `now`: by other settings, or, as far as
    `then`, its captions scored again, can show, with other references or files.
    """
    for key, score in now.items():
        with naming(f"{baseline.path}: {key}: "):
            before = Signature.read(baseline.signatures[key])
        differ = before.differences(Signature.read(score.signature))
        differ = {name: both for name, both in differ.items() if name not in _MAY_DIFFER}
        if differ:
            then_, now_ = (", ".join(f"{name}:{both[side]}" for name, both in differ.items()) for side in (0, 1))
            raise DataError(f"{baseline.path}: {key} was scored with {then_}, and here with {now_}; {_AGAIN}")
        recorded = baseline.scores[key]
        again = None if then is None else then[key].value
        if again is not None and not _equal(again, math.nan if recorded is None else recorded):
            raise DataError(
                f"{baseline.path}: its captions have {key} {again:.6g} here, and {recorded:.6g} when it was written: "
                f"the references, another file or sacrecap changed; {_AGAIN}"
            )


def recorded(baseline: Baseline, key: str) -> float:
    """The baseline's score of a metric; NaN if no image had one. Raises `UsageError` if it was not scored."""
    if key not in baseline.scores:
        raise UsageError(f"{baseline.path} has no {key}; it has: {', '.join(baseline.scores)}; {_AGAIN}")
    value = baseline.scores[key]
    return math.nan if value is None else float(value)


_AGAIN = "write the baseline again, by sacrecap score --baseline with the same references and options"


_MAY_DIFFER = (*OF_CAPTIONS, "interval", "sacrecap")
"""Parts of signatures in which a baseline may differ: scores of another version may be the same."""


def _equal(a: float, b: float) -> bool:
    return same(a, b) or (math.isnan(a) and math.isnan(b))
