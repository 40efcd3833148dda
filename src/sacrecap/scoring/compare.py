"""Systems compared on the same images: paired tests, intervals of differences, correction for many tests."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.choices import CORRECTIONS, TESTS, Correction, OnMissing, Test, Tokenizer
from sacrecap.corpus.corpus import CandidateSource, CaptionSource, Corpus
from sacrecap.errors import UsageError, accepted_name, option, spelled, warn
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.comparison import Comparison, Pair
from sacrecap.scoring.findings import fair
from sacrecap.scoring.intervals import FEW_IMAGES, Keywords, Resampling, jackknife, jackknife_differences
from sacrecap.scoring.result import within
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from sacrecap.choices import EngineName
    from sacrecap.metrics import Metric
    from sacrecap.scoring.elsewhere import ScoringEngine
    from sacrecap.scoring.result import Result, Score


def compare(
    references: CaptionSource | Sequence[str],
    systems: Mapping[str, CandidateSource | Sequence[str]] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "coco",
    *,
    tokenizer: Tokenizer = "ptb",
    needs: Needs | Mapping[str, object] | None = None,
    on_missing: OnMissing = "error",
    test: Test | None = None,
    alpha: float = 0.05,
    correction: Correction = "holm",
    resampling: Resampling | None = None,
    threads: int = 0,
    engine: EngineName | ScoringEngine = "local",
    progress: Callable[[float], object] | None = None,
    **given: Unpack[Keywords],
) -> Comparison:
    """Scores several systems on the same images, and tests each pair of them by each metric.

    Args:
        references: `{image id: [caption, …]}`, or the path of a file in any format `sacrecap score` reads.
        systems: for each system's name `{image id: caption}`, or a path; two at least. None if the references are
            files of rows that have each system's captions too, and the engine's options name their columns.
        metrics: comma-separated names or groups, metric values, or a mixture.
        tokenizer: `ptb`, `ptb-stream`, `whitespace`, `none` or `blanks`; see [`sacrecap.tokenize`][].
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][].
        on_missing: how to treat an image without candidate: `error`, `skip` (no system is scored on it) or `zero`.
        test: `permutation` (approximate randomisation; Noreen 1989), the default, or `bootstrap` (Koehn 2004; Riezler
            and Maxwell 2005), the default and only test of other engines than `local`.
        alpha: a difference is significant where its corrected p is at most this.
        correction: `holm` (Holm 1979), over the pairs of systems, for each metric; or `none`.
        resampling: how uncertainty is told, as for [`sacrecap.score`][]: of scores and of differences.
        threads: number of threads; 0 means one per core; results are the same bits for any number.
        engine: as for [`sacrecap.score`][].
        progress: as for [`sacrecap.score`][].
        **given: what the metrics of sacrecap need, and how uncertainty is told, by keyword, as for
            [`sacrecap.score`][]; `samples` is the number of bootstrap samples and of permutations.

    Raises:
        DataError: references or candidates are unusable, or do not fit together.
        UsageError: fewer than two systems, an unknown name or an unacceptable value.

    Examples:
        >>> systems = sacrecap.example.systems()
        >>> comparison = sacrecap.compare(sacrecap.example.references(), systems, "rouge-l")
        >>> comparison.ranking("rouge-l")
        ['careful', 'plain', 'template']
    """
    _check_named(systems, metrics)
    how, needed = Resampling.of(resampling, given)
    merged_needs = Needs.of(needs, needed, threads=threads, progress=progress)
    parsed_metrics = parse_metrics(metrics, merged_needs)
    if (engine if isinstance(engine, str) else engine.name) != "local":
        from sacrecap.scoring.elsewhere import named_engine

        return named_engine(engine).compare(
            references,
            systems,
            parsed_metrics,
            needs=merged_needs,
            tokenizer=tokenizer,
            on_missing=on_missing,
            test=test,
            alpha=alpha,
            correction=correction,
            resampling=how,
        )
    test, systems = test or "permutation", systems or {}
    check_test(len(systems), test=test, alpha=alpha, correction=correction)
    merged_needs.begin("tokenising")
    corpora = Corpus.of_systems(references, systems, tokenizer=tokenizer, on_missing=on_missing, threads=threads)
    # Intervals are drawn for all systems together.
    results = {
        name: score_corpus(corpus, parsed_metrics, needs=merged_needs, threads=threads)
        for name, corpus in corpora.items()
    }
    merged_needs.begin("resampling")
    return compare_results(results, test=test, alpha=alpha, correction=correction, resampling=how, threads=threads)


def _check_named(systems: object, metrics: object) -> None:
    """Raises `UsageError` for systems that were given one by one, or in a list."""
    if isinstance(metrics, Mapping) or not (systems is None or isinstance(systems, Mapping)):
        what = "one by one" if isinstance(metrics, Mapping) else f"as a {type(systems).__name__}"
        raise UsageError(f"the systems were given {what}; give them by their names, as {{'a': …, 'b': …}}")


def compare_results(
    results: Mapping[str, Result],
    *,
    test: Test = "permutation",
    alpha: float = 0.05,
    correction: Correction = "holm",
    resampling: Resampling = Resampling(),  # noqa: B008 - a value that never changes
    threads: int = 0,
) -> Comparison:
    """Compares systems that were scored before, by the same metrics on the same images; arguments as for `compare`.

    Raises `UsageError` also where they were not.
    """
    check_test(len(results), test=test, alpha=alpha, correction=correction)
    _check_scored_alike(results)
    resampling = resampling.drawn("multinomial")
    level, samples, seed = resampling.interval, resampling.samples, resampling.seed
    image_ids = next(iter(results.values())).image_ids
    images = len(image_ids)
    warn_of_weak_tests(images, len(results), test, samples, alpha, correction)
    rows = [[score.rows for score in result.values()] for result in results.values()]
    metrics = list(next(iter(results.values())))
    between: list[tuple[float, float] | None] = [None] * (len(metrics) * math.comb(len(results), 2))
    p: list[float] = []
    percentile = level is not None and resampling.interval_method == "percentile"
    if percentile or test == "bootstrap":
        ids = resampling.ids(image_ids)
        bounds, differences = _core.paired_bootstrap(rows, samples, level or 0.95, seed, threads, ids)
        p = [own for _, own in differences]
        between = [limits for limits, _ in differences]
    if level is None:
        between = [None] * len(between)
    elif not percentile:
        bounds = [
            jackknife(score.rows, level, score.metric.largest, score.metric.smallest)
            for result in results.values()
            for score in result.values()
        ]
        between = list(jackknife_differences(rows, level))
    if level is not None:
        results = with_intervals(results, bounds, resampling)
    if test == "permutation":
        p = _core.paired_permutation(rows, samples, seed, threads)
    pairs = pairs_of(results, metrics, between, p, correction, alpha)
    return Comparison(dict(results), fair(pairs, results), test, alpha, correction, resampling)


def pairs_of(
    results: Mapping[str, Mapping[str, Score]],
    metrics: Sequence[str],
    intervals: Sequence[tuple[float, float] | None],
    p: Sequence[float],
    correction: str,
    alpha: float,
) -> list[Pair]:
    """Every two systems by each of these metrics; intervals and p are pair by pair, metric by metric."""
    names = [(a, b, metric) for a, b in combinations(results, 2) for metric in metrics]
    p_corrected = corrected(p, len(metrics), correction)
    return [
        Pair(
            a,
            b,
            metric,
            delta=(delta := results[a][metric].value - results[b][metric].value),
            interval=between if math.isfinite(delta) else None,
            p=own,
            p_corrected=own_corrected,
            significant=own_corrected <= alpha,
        )
        for (a, b, metric), between, own, own_corrected in zip(names, intervals, p, p_corrected, strict=True)
    ]


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979) of a family of p-values, in the order given."""
    corrected = [1.0] * len(p)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[place]))
        corrected[place] = largest
    return corrected


def check_test(systems: int, *, test: str, alpha: float, correction: str) -> None:
    """Raises `UsageError` for arguments that do not allow a comparison."""
    accepted_name("test", test, TESTS)
    accepted_name("correction", correction, CORRECTIONS)
    if systems < 2:
        received = "one system was given" if systems == 1 else "no system was given"
        alone = spelled(python="sacrecap.score", command="sacrecap score")
        raise UsageError(f"a comparison takes two systems or more, {received}; {alone} scores a single one")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be a level of significance between 0 and 1, as 0.05, got {alpha}")


def _check_scored_alike(results: Mapping[str, Result]) -> None:
    (first, reference), *others = results.items()
    for name, other in others:
        if other.image_ids != reference.image_ids:
            raise UsageError(
                f"{name} was scored on other images than {first}, or in another order; score both on the same"
            )
        signatures = [[score.signature for score in result.values()] for result in (reference, other)]
        if signatures[0] != signatures[1]:
            raise UsageError(
                f"{name} was scored by other metrics than {first}, or with other parameters; score both the same way"
            )


def warn_of_weak_tests(images: int, systems: int, test: str, samples: int, alpha: float, correction: str) -> None:
    """Warns of tests that find too much, or cannot find anything."""
    if test == "bootstrap" and images < FEW_IMAGES:
        sample = "1 image" if images == 1 else f"{images} images"
        warn(
            f"the bootstrap test on {sample} finds differences that are not there; take "
            f"{option('test', 'permutation')} below {FEW_IMAGES}"
        )
    tests = systems * (systems - 1) // 2 if correction == "holm" else 1
    least = math.ceil(tests / alpha - 1e-9) - 1
    if samples < least:
        warn(
            f"with {samples:,} samples no p is below {1 / (samples + 1):.2g}, no corrected one of {tests:,} pairs "
            f"below {tests / (samples + 1):.2g}: nothing can be significant at {alpha:g}; take {least:,} samples"
        )


def with_intervals(
    results: Mapping[str, Result], bounds: Sequence[tuple[float, float]], resampling: Resampling
) -> dict[str, Result]:
    """The results with these intervals, system by system, metric by metric."""
    intervals = iter(bounds)
    return {
        name: dataclasses.replace(
            result, resampling=resampling, scores={key: within(score, next(intervals)) for key, score in result.items()}
        )
        for name, result in results.items()
    }


def corrected(p: Sequence[float], metrics: int, correction: str) -> list[float]:
    """Corrected over the pairs of systems, for each metric; `p` is pair by pair, metric by metric."""
    adjusted = list(p)
    if correction == "holm":
        for metric in range(metrics):
            adjusted[metric::metrics] = holm(p[metric::metrics])
    return adjusted
