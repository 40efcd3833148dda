"""Checks of a system: scores that must be reached, and a baseline that it must not fall behind.

A baseline is the JSON document of `sacrecap score` with the captions that were scored. Scores alone are not enough for
a test: BLEU and METEOR are not means over images. Every metric is counted again from the captions, so that the paired
test is that of `sacrecap compare`, and other references are detected, because they give other scores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike, fspath
from typing import Any, Literal

from sacrecap.choices import OnMissing, Test, Tokenizer
from sacrecap.corpus.corpus import CandidateSource, CaptionSource, Corpus
from sacrecap.data.writers import atomic_write
from sacrecap.errors import DataError, UsageError, naming, some, warn
from sacrecap.metrics import Metric
from sacrecap.resources.needs import Needs
from sacrecap.scoring.comparison import Significance, compare_results
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.ranks import difference, holm, in_common, same
from sacrecap.scoring.result import Result, finite
from sacrecap.scoring.score import score_corpus
from sacrecap.scoring.signature import OF_CAPTIONS, Signature


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
        why = "" if isinstance(document, dict) else "it is no JSON object"
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        document, why = None, f"it is no JSON: {error}"
    parts: Any = document if isinstance(document, dict) else {}
    scores, signatures, captions = (parts.get(part) for part in ("scores", "signatures", "captions"))

    def maps(value: Any, *kinds: type) -> bool:
        """Whether it is a mapping to values of these kinds; yes and no are not numbers."""
        return isinstance(value, dict) and {*map(type, value.values())} <= {*kinds}

    if not maps(scores, float, int, type(None)) or not maps(signatures, str) or scores.keys() != signatures.keys():
        why = why or 'its "scores" and "signatures" are not those of the same metrics'
    if not (captions is None or maps(captions, str)):
        why = why or 'its "captions" are not texts'
    if why:
        written = "a baseline is what sacrecap score REFERENCES CANDIDATES --baseline FILE writes"
        raise DataError(f"{name}: {why}; {written}")
    return Baseline(name, scores, signatures, captions)


def baseline_corpus(baseline: Baseline, corpus: Corpus, *, threads: int = 0) -> Corpus | None:
    """The baseline's captions on the same images, else `DataError`; None if it has none, with a warning."""
    if baseline.captions is None:
        warn(f"{baseline.path} has scores without captions: nothing can be tested, so any fall counts as a regression")
        return None
    scored = dict.fromkeys(corpus.image_ids)
    for images, known, how in (
        (baseline.captions, scored, "are not scored here"),
        (scored, baseline.captions, "are not in the baseline"),
    ):
        if foreign := [image for image in images if image not in known]:
            raise DataError(f"{baseline.path}: {some(foreign)} {how}; {_AGAIN}")
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
        differ = {name: values for name, values in differ.items() if name not in _MAY_DIFFER}
        if differ:
            then_, now_ = (", ".join(f"{name}:{values[side]}" for name, values in differ.items()) for side in (0, 1))
            raise DataError(f"{baseline.path}: {key} was scored with {then_}, and here with {now_}; {_AGAIN}")
        recorded = baseline.scores[key]
        again = None if then is None else then[key].value
        was = math.nan if recorded is None else recorded
        if again is not None and not same(again, was) and not (math.isnan(again) and math.isnan(was)):
            raise DataError(
                f"{baseline.path}: its captions have {key} {again:.6g} here, and {was:.6g} when it was written: "
                f"the references, another file or sacrecap changed; {_AGAIN}"
            )


_AGAIN = "write the baseline again, by sacrecap score --baseline with the same references and options"


_MAY_DIFFER = (*OF_CAPTIONS, "interval", "sacrecap")
"""Parts of signatures in which a baseline may differ: scores of another version may be the same."""


Kind = Literal["min", "max", "baseline"]


@dataclass(frozen=True)
class Checked:
    """A metric, what its score was held against, and how that ended."""

    metric: str
    """Its key."""
    kind: Kind
    """`min` and `max`: a bound; `baseline`: the score of the baseline."""
    score: float
    against: float
    passed: bool
    p: float | None = None
    """p of the difference to the baseline, corrected over the metrics; None if it was not tested."""
    left_out: int = 0
    """Images that only one of the two has a score of, or none; the difference is of the others."""
    of_others: float = math.nan

    @property
    def delta(self) -> float:
        """The score minus what it was held against; on the images that both have, where scores are missing."""
        return self.of_others if self.left_out else self.score - self.against

    def to_dict(self) -> dict[str, Any]:
        """As in JSON."""
        numbers = {name: finite(getattr(self, name)) for name in ("score", "against", "delta")}
        document = {**asdict(self), **numbers}
        omitted = ("of_others",) if self.left_out else ("of_others", "left_out")
        return {name: value for name, value in document.items() if name not in omitted}


@dataclass(frozen=True)
class Check:
    """All checks of a system. It passed if all of them did."""

    result: Result = field(repr=False)
    checks: list[Checked]
    test: Test
    alpha: float
    resampling: Resampling
    allow_missing: float = 0.0
    """The largest share of the images that may have no candidate that is scored."""

    @property
    def missing(self) -> int:
        """How many images are left out, or count as an empty caption."""
        return self.result.corpus.images_left_out + self.result.corpus.filled

    @property
    def missing_share(self) -> float:
        """The same as a share of the images given."""
        return self.missing / (self.result.images + self.result.corpus.images_left_out)

    @property
    def complete(self) -> bool:
        """Whether no more images are missing than may be."""
        return self.missing_share <= self.allow_missing

    @property
    def passed(self) -> bool:
        return self.complete and all(check.passed for check in self.checks)

    @property
    def failed(self) -> list[Checked]:
        return [check for check in self.checks if not check.passed]

    @property
    def tested(self) -> bool:
        """Whether differences to a baseline were tested."""
        return any(check.p is not None for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap check`."""
        document = self.result.to_dict()
        test = {**self.resampling.of_test(self.test), "alpha": self.alpha, "correction": "holm"}
        return {
            "sacrecap": document["sacrecap"],
            "images": document["images"],
            **self.result.corpus.left_out_in_json(self.result.images),
            **({"allow_missing": self.allow_missing} if self.missing else {}),
            "passed": self.passed,
            "checks": [check.to_dict() for check in self.checks],
            **({"test": test} if self.tested else {}),
            "signatures": document["signatures"],
            **({"notes": document["notes"]} if "notes" in document else {}),
        }


def check(
    references: CaptionSource,
    candidates: CandidateSource,
    bounds: Sequence[tuple[Metric, Kind, float]],
    baseline: Baseline | None = None,
    compared: Sequence[Metric] = (),
    *,
    tokenizer: Tokenizer = "ptb",
    needs: Needs | Mapping[str, object] | None = None,
    on_missing: OnMissing = "error",
    test: Test | None = None,
    alpha: float = 0.05,
    allow_missing: float = 0.05,
    resampling: Resampling = Resampling(None),  # noqa: B008 - a value that never changes
) -> Check:
    """Scores captions, and holds the scores against bounds and a baseline; other arguments as for [`sacrecap.score`][].

    `bounds` have a metric, `min` or `max`, and the least or largest score that passes. The captions of the `baseline`
    are scored again, by the `compared` metrics; if it has none, nothing is tested, and any fall is a regression. With
    captions, a lower score is one where p by the `test` (`exact` by default, which draws no samples), corrected by Holm
    over the metrics, is at most `alpha`. The check fails, too, where a larger share of the images than `allow_missing`
    has no candidate, as `on_missing` lets pass.

    Raises:
        DataError: captions are unusable, or the baseline was scored in another way.
        UsageError: a metric that the baseline lacks, or an unacceptable value.
    """
    merged_needs, test = Needs.of(needs, {}), test or "exact"
    if baseline and (unknown := [metric.key for metric in compared if metric.key not in baseline.scores]):
        raise UsageError(f"{baseline.path} has no {unknown[0]}; it has: {', '.join(baseline.scores)}; {_AGAIN}")
    merged_needs.begin("tokenising")
    threads = merged_needs.threads
    corpus = Corpus(references, candidates, tokenizer=tokenizer, on_missing=on_missing, threads=threads)
    before = None if baseline is None else baseline_corpus(baseline, corpus, threads=threads)
    metrics = tuple(dict.fromkeys((*(metric for metric, _, _ in bounds), *compared)))
    now = score_corpus(corpus, metrics, needs=merged_needs)
    then = None if before is None else score_corpus(before, compared, needs=merged_needs)
    merged_needs.begin("resampling")
    checks = []
    for metric, kind, bound in bounds:
        value = now[metric].value
        passed = value >= bound if kind == "min" else value <= bound
        checks.append(Checked(metric.key, kind, value, bound, passed))
    if baseline is not None:
        now_compared = replace(now, scores={metric.key: now[metric] for metric in compared})
        check_alike(baseline, now_compared, then)
        p = {} if then is None else _tested(now_compared, then, test, alpha, resampling)
        for metric in compared:
            recorded, p_value = baseline.scores[metric.key], p.get(metric.key)
            value, old = now[metric].value, math.nan if recorded is None else float(recorded)
            common = None if then is None else in_common(now[metric], then[metric])
            left_out = 0 if common is None else now.images - common[0].rows
            delta = difference(now[metric], then[metric]) if then is not None and common else value - old
            worse = (common is not None or not same(value, old)) and (
                delta > 0 if metric.lower_is_better else delta < 0
            )
            lost = math.isnan(value) and not math.isnan(old)
            passed = not lost and not (worse and (p_value is None or p_value <= alpha))
            checks.append(Checked(metric.key, "baseline", value, old, passed, p_value, left_out, delta))
    return Check(now, checks, test, alpha, resampling, allow_missing)


def _tested(now: Result, then: Result, test: Test, alpha: float, resampling: Resampling) -> Mapping[str, float]:
    """P of each metric's difference, corrected over the metrics."""
    least = math.ceil(len(now) / alpha - 1e-9) - 1
    samples = resampling.samples
    if test != "exact" and samples < least:
        warn(
            f"with {samples:,} samples no p, corrected over {len(now)} metrics, is below "
            f"{len(now) / (samples + 1):.2g}: nothing can be a regression at {alpha:g}; take {least:,} samples"
        )
    results = {"now": now, "baseline": then}
    comparison = compare_results(results, Significance.of(results, test, correction="none"), resampling)
    return dict(zip(now, holm([pair.p for pair in comparison.pairs]), strict=True))
