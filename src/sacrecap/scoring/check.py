"""Checks of a system: scores that must be reached, and a baseline that it must not fall behind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sacrecap.choices import OnMissing, Test, Tokenizer
from sacrecap.corpus.corpus import CandidateSource, CaptionSource, Corpus
from sacrecap.errors import warn
from sacrecap.resources.needs import Needs
from sacrecap.scoring.baseline import Baseline, baseline_corpus, check_alike, recorded
from sacrecap.scoring.compare import compare_results
from sacrecap.scoring.in_common import difference, in_common
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.ranks import holm
from sacrecap.scoring.result import finite
from sacrecap.scoring.score import score_corpus
from sacrecap.scoring.ties import same

if TYPE_CHECKING:
    from sacrecap.metrics import Metric
    from sacrecap.scoring.result import Result

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
        document = {**asdict(self), "score": finite(self.score), "against": finite(self.against)}
        del document["of_others"]
        if not self.left_out:
            del document["left_out"]
        return {**document, "delta": finite(self.delta)}


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
    test: Test = "exact",
    alpha: float = 0.05,
    allow_missing: float = 0.05,
    resampling: Resampling = Resampling(None),  # noqa: B008 - a value that never changes
    threads: int = 0,
) -> Check:
    """Scores captions, and holds the scores against bounds and a baseline.

    Args:
        references: as for [`sacrecap.score`][].
        candidates: the same.
        bounds: metric, `min` or `max`, and the least or largest score that passes.
        baseline: what was scored before. Its captions are scored again, by the `compared` metrics; if it has none,
            nothing is tested, and any fall is a regression.
        compared: the metrics to compare with the baseline.
        tokenizer: as for [`sacrecap.score`][].
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][].
        on_missing: how to treat an image without candidate: `error`, `skip` or `zero`.
        test: `exact`, `permutation` or `bootstrap`, as for `sacrecap.compare`.
        alpha: a lower score is a regression where p, corrected by Holm over the metrics, is at most this.
        allow_missing: the check fails where a larger share of the images has no candidate, as `on_missing` lets pass.
        resampling: how many samples a test draws that does so, and from which seed; no intervals.
        threads: number of threads; 0 means one per core.

    Raises:
        DataError: captions are unusable, or the baseline was scored in another way.
        UsageError: a metric that the baseline lacks, or an unacceptable value.
    """
    merged_needs = Needs.of(needs, {}, threads=threads)
    recorded_scores = {} if baseline is None else {metric.key: recorded(baseline, metric.key) for metric in compared}
    merged_needs.begin("tokenising")
    corpus = Corpus(references, candidates, tokenizer=tokenizer, on_missing=on_missing, threads=threads)
    before = None if baseline is None else baseline_corpus(baseline, corpus, threads=threads)
    wanted = tuple(dict.fromkeys((*(metric for metric, _, _ in bounds), *compared)))
    now = score_corpus(corpus, wanted, needs=merged_needs, threads=threads)
    then = None if before is None else score_corpus(before, compared, needs=merged_needs, threads=threads)
    merged_needs.begin("resampling")
    checks = [
        Checked(
            metric.key, kind, value := now[metric].value, bound, value >= bound if kind == "min" else value <= bound
        )
        for metric, kind, bound in bounds
    ]
    if baseline is not None:
        now_compared = _only(now, compared)
        check_alike(baseline, now_compared, then)
        p = None if then is None else _tested(now_compared, then, test, alpha, resampling, threads)
        for metric in compared:
            value, old = now[metric].value, recorded_scores[metric.key]
            common = None if then is None else in_common(now[metric], then[metric])
            left_out = 0 if common is None else now.images - common[0].rows
            delta = difference(now[metric], then[metric]) if then is not None and common else value - old
            worse = (common is not None or not same(value, old)) and (
                delta > 0 if metric.lower_is_better else delta < 0
            )
            p_value = None if p is None else p[metric.key]
            lost = math.isnan(value) and not math.isnan(old)
            passed = not lost and not (worse and (p_value is None or p_value <= alpha))
            checks.append(Checked(metric.key, "baseline", value, old, passed, p_value, left_out, delta))
    return Check(now, checks, test, alpha, resampling, allow_missing)


def _only(result: Result, metrics: Sequence[Metric]) -> Result:
    from dataclasses import replace

    return replace(result, scores={metric.key: result[metric] for metric in metrics})


def _tested(
    now: Result, then: Result, test: Test, alpha: float, resampling: Resampling, threads: int
) -> Mapping[str, float]:
    """P of each metric's difference, corrected over the metrics."""
    least = math.ceil(len(now) / alpha - 1e-9) - 1
    samples = resampling.samples
    if test != "exact" and samples < least:
        warn(
            f"with {samples:,} samples no p, corrected over {len(now)} metrics, is below "
            f"{len(now) / (samples + 1):.2g}: nothing can be a regression at {alpha:g}; take {least:,} samples"
        )
    comparison = compare_results(
        {"now": now, "baseline": then}, test=test, correction="none", resampling=resampling, threads=threads
    )
    return dict(zip(now, holm([comparison.pair("now", "baseline", key).p for key in now]), strict=True))
