"""Scoring: corpus × metrics → statistics, from which every result is computed → result."""

from __future__ import annotations

import itertools
import math
import os
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

from sacrecap import _core
from sacrecap.above import from_above
from sacrecap.choices import EngineName, OnMissing, Tokenizer
from sacrecap.corpus.corpus import CandidateSource, CaptionSource, Corpus, References
from sacrecap.errors import DataError, SacrecapError, UsageError, option, spelled, warn
from sacrecap.metrics.base import Metric, PythonMetric, Ready
from sacrecap.metrics.registry import OWN, STANDARDISED, origin_of, parse_metrics, with_columns
from sacrecap.resources.needs import Given, Needs
from sacrecap.scoring.intervals import Keywords, Resampling, intervals
from sacrecap.scoring.result import Result, Score, within
from sacrecap.scoring.signature import signature_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Unpack

    from sacrecap.corpus.sets import SetCorpus
    from sacrecap.metrics.combine import Scale, Standard
    from sacrecap.scoring.comparison import Comparison


class ScoreOptions(Keywords, total=False):
    """Keywords of [`sacrecap.score`][] that say how to score, for functions that pass them on."""

    on_missing: OnMissing
    resampling: Resampling
    threads: int


def score(
    references: CaptionSource | Sequence[str] | Corpus,
    candidates: CandidateSource | Sequence[str] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "coco",
    *,
    tokenizer: Tokenizer | None = None,
    needs: Needs | Mapping[str, object] | None = None,
    on_missing: OnMissing = "error",
    resampling: Resampling | None = None,
    threads: int = 0,
    engine: EngineName | ScoringEngine = "local",
    progress: Callable[[float], object] | None = None,
    **keywords: Unpack[Keywords],
) -> Result:
    """Scores one system's captions against references.

    Args:
        references: `{image id: [caption, …]}`; rows `{"image_id": …, "caption": …}`; a list with each image's captions;
            a DataFrame, Arrow table or Hugging Face data set with the columns `image_id` and `caption` or `captions`;
            the path of a file in any format `sacrecap score` reads; [`References`][sacrecap.References]; or a
            [`Corpus`][sacrecap.Corpus], which has the candidates too.
        candidates: the same with one caption per image: `{image id: caption}`, a list, rows, a table or a path. None
            with a corpus, and where the references are files of rows that have the candidates too.
        metrics: comma-separated names or groups (`"coco"`, `"bleu-4, cider-d(sigma=5)"`), metric values, or a mixture.
        tokenizer: `ptb`, the default, or another; see [`sacrecap.tokenize`][].
            `References` and a `Corpus` have their own.
        needs: what metrics need in addition to captions, as one value or a mapping from names: for metrics of other
            packages, or to give several calls the same [`Needs`][sacrecap.Needs].
        on_missing: how to treat an image without candidate: `error`, `skip` (leave it out) or `zero` (an empty
            caption).
        resampling: how uncertainty is told, as one [`Resampling`][sacrecap.Resampling]; its fields are also keywords of
            the call.
        threads: number of threads; 0 means one per core; results are the same bits for any number.
        engine: where statistics are made: `local`, of all captions at once; `stream`, piece by piece, in less memory;
            `ray`, on a cluster; or `sacrecap.engines.EngineOptions`. The results are the same. Without intervals, other
            engines than `local` keep nothing of single images unless the options say `rows=True`.
        progress: called with the finished share, 0 to 1, of slow preparations; and with 0 when a step begins. Its
            attribute `what` names it.
        **keywords: what the metrics of sacrecap need, by keyword: `document_frequency`, `objects`,
            `threshold`, `embeddings`, `vocabulary`, `scores` that others computed, `standard`; see
            [`Given`][sacrecap.resources.needs.Given]. And how uncertainty is told: `interval`, `interval_method`,
            `samples`, `seed`; see
            [`ResamplingKeywords`][sacrecap.scoring.intervals.ResamplingKeywords].

    Raises:
        DataError: references or candidates are unusable, or do not fit together.
        UsageError: an unknown metric, tokenizer or an unacceptable value.

    Examples:
        >>> references = {"1": ["a dog runs"], "2": ["a red bus"]}
        >>> result = sacrecap.score(references, {"1": "a dog runs", "2": "a bus"}, "rouge-l")
        >>> round(result["rouge-l"].value, 3)
        0.886
    """
    how, needed = Resampling.of(resampling, keywords)
    merged_needs = Needs.of(needs, needed, threads=threads, progress=progress)
    parsed_metrics = with_columns(parse_metrics(metrics, merged_needs), merged_needs)
    if isinstance(references, Corpus):
        if candidates is not None:
            raise UsageError("a corpus has candidates; leave the others out, as in sacrecap.score(corpus, metrics=…)")
        if tokenizer not in (None, references.tokenizer):
            raise UsageError(
                f"the corpus was cut by the tokenizer {references.tokenizer}, and the call asks for {tokenizer}; leave "
                "it out, or make a Corpus with the other one"
            )
        return score_corpus(references, parsed_metrics, needs=merged_needs, resampling=how)
    cut_by = tokenizer or (references.tokenizer if isinstance(references, References) else "ptb")
    if elsewhere := named_engine(engine, merged_needs):
        return elsewhere.score(
            references,
            candidates,
            parsed_metrics,
            needs=merged_needs,
            tokenizer=cut_by,
            on_missing=on_missing,
            resampling=how,
        )
    if candidates is None:
        if not isinstance(references, (str, PathLike)):
            raise UsageError(NO_CANDIDATES)
        from sacrecap.data.captions import read_both

        references, candidates = read_both(references)
    merged_needs.begin("tokenising")
    threads = merged_needs.threads
    corpus = Corpus(references, candidates, tokenizer=cut_by, on_missing=on_missing, threads=threads)
    return score_corpus(corpus, parsed_metrics, needs=merged_needs, resampling=how)


NO_CANDIDATES = "no candidates were given; give them, or a path of a file that has references and candidates"


def score_corpus(
    corpus: Corpus,
    metrics: Iterable[Metric],
    *,
    needs: Needs | Mapping[str, object] | None = None,
    resampling: Resampling | None = None,
    **keywords: Unpack[Given],
) -> Result:
    """Scores a corpus that was encoded before, without intervals unless `resampling` says how; other arguments as for
    [`sacrecap.score`][].

    Raises `UsageError` unless metrics of captions get one caption per image, and metrics of sets caption sets.
    """
    metrics = tuple(metrics)
    for metric in metrics:
        if metric.scores_sets != corpus.holds_sets:
            diversity = spelled(python="sacrecap.diversity", command="sacrecap diversity")
            raise UsageError(
                f"{metric.key} scores caption sets, several captions per image of one system, and here is one per "
                f"image; use {diversity}"
                if metric.scores_sets
                else f"{metric.key} scores one caption per image, and these are caption sets; as their accuracy, "
                f"{diversity} takes it with {option('accuracy', metric.name)}"
            )
    if keywords or not isinstance(needs, Needs):
        needs = Needs.of(needs, keywords)
    needs.begin("scoring")
    return result_of(count(corpus, metrics, needs), corpus, needs, resampling or Resampling(None))


def result_of(
    counted: Sequence[CountedMetric], corpus: Corpus, needs: Needs, resampling: Resampling, *, explains: bool = True
) -> Result:
    """What the statistics of images come to: scores with intervals and signatures, and what explains scores."""
    if resampling.interval is not None:
        needs.begin("resampling")
    statistics = [table.statistics for table in counted]
    bounds = intervals(statistics, [table.metric for table in counted], resampling, threads=needs.threads)
    scores = {}
    for (metric, ready, table), between in zip(counted, bounds, strict=True):
        signature = signature_of(metric, ready, corpus, table.rows)
        score = Score(metric, table, signature, None, ready if explains else None)
        scores[metric.key] = within(score, between, resampling)
    return Result(_core.__version__, corpus.image_ids, scores, resampling, corpus, needs)


class ScoringEngine(Protocol):
    """What carries out `sacrecap.score` and `compare` elsewhere, such as
    [`EngineOptions`][sacrecap.engines.EngineOptions]. The arguments are those of the functions, parsed.
    """

    @property
    def name(self) -> str:
        """Its name for `engine=` and `--engine`; `local` stands for this process."""

    def score(self, *arguments: Any, **keywords: Any) -> Result: ...
    def compare(self, *arguments: Any, **keywords: Any) -> Comparison: ...


def named_engine(engine: EngineName | ScoringEngine, needs: Needs) -> ScoringEngine | None:
    """The engine itself, or that of this name, which is loaded; None for `local`.

    Raises `UsageError` for scores that others computed whose rows have no captions: parts know no names of systems.
    """
    if (engine if isinstance(engine, str) else engine.name) == "local":
        return None
    if "scores" in needs:
        from sacrecap.metrics.outside import outside_scores

        scores = outside_scores(needs)
        if scores is not None and scores.captions is None:
            raise UsageError(
                f"{scores.source}: where captions are scored part by part, their rows are told by captions; add a "
                "column caption, or take engine local"
            )
    return from_above("engine")(engine) if isinstance(engine, str) else engine


class CountedMetric(NamedTuple):
    """The statistics of one metric in a corpus."""

    metric: Metric
    ready: Ready
    """The prepared metric: its corpus and resources."""
    statistics: _core.Statistics
    """A row per candidate, or per caption set."""


def count(corpus: Corpus, metrics: Sequence[Metric], needs: Needs, *, warned: bool = True) -> list[CountedMetric]:
    """The metrics' statistics of the corpus, in their order; `warned`: of what makes a score doubtful.

    Metrics are counted in one pass if they see the same words, do not need two different resources of one kind, and if
    those of the same arithmetic take the same resources. Members of a weighted mean are counted as metrics of their
    own, once. Raises what `Metric.ready` raises, and `DataError` where a metric of another package returns unusable
    statistics.
    """
    needs.check_known({name for metric in metrics for part in metric.parts for name in part.needs})
    ready = [metric.ready(corpus, needs) for metric in metrics]
    parts: dict[Metric, Ready] = {}
    for metric, prepared in zip(metrics, ready, strict=True):
        for part in metric.parts:
            parts.setdefault(part, prepared if part == metric else prepared.parts[part])
    statistics: dict[Metric, _core.Statistics] = {}
    for members in _passes(parts):
        calls = [(metric.key, metric.arithmetic, metric.kernel_parameters()) for metric in members]
        resources = {id(resource): resource for metric in members for resource in parts[metric].resources}
        tables = _core.evaluate(parts[members[0]].corpus, calls, list(resources.values()), needs.threads)
        statistics.update(zip(members, tables, strict=True))
    for part, prepared in parts.items():
        if isinstance(part, PythonMetric) and not part.arithmetic:
            statistics[part] = counted_in_python(part, corpus, prepared, needs)
    counted = [
        CountedMetric(
            metric, prepared, statistics[metric] if metric in statistics else _mean(metric, statistics, needs)
        )
        for metric, prepared in zip(metrics, ready, strict=True)
    ]
    for table in counted if warned else ():
        for message in table.metric.warnings(table.ready, table.statistics):
            warn(message)
    return counted


def _mean(mean: Metric, statistics: Mapping[Metric, _core.Statistics], needs: Needs) -> _core.Statistics:
    """The statistics of a weighted mean: its members', side by side."""
    from sacrecap.metrics.combine import Standardised, WeightedMean

    assert isinstance(mean, WeightedMean)  # noqa: S101 - other metrics have statistics of their own
    members = [
        statistics[member] if member in statistics else _mean(member, statistics, needs) for member in mean.members
    ]
    if isinstance(mean, Standardised):
        return members[0].standardised(mean.key, *mean.scale(needs))
    turned = [
        values.standardised(member.key, 0.0, sign) if sign < 0 else values
        for sign, values, member in zip(mean.signs, members, mean.members, strict=True)
    ]
    return _core.Statistics.combined(mean.key, list(zip(mean.weights, turned, strict=True)))


def _passes(metrics: Mapping[Metric, Ready]) -> list[list[Metric]]:
    """The metrics that native code counts together."""
    passes: list[tuple[Ready, dict[type, object], list[Metric]]] = []
    for metric, ready in metrics.items():
        if not metric.arithmetic:
            continue
        kinds = {type(resource): resource for resource in ready.resources}
        for first, resources, members in passes:
            fits = all(resources.get(kind, resource) is resource for kind, resource in kinds.items()) and all(
                metrics[other].resources == ready.resources
                for other in members
                if other.arithmetic == metric.arithmetic
            )
            if fits and first.corpus is ready.corpus:
                resources.update(kinds)
                members.append(metric)
                break
        else:
            passes.append((ready, kinds, [metric]))
    return [members for *_, members in passes]


def with_standard(
    metrics: Iterable[Metric], corpora: Mapping[str, Corpus], needs: Mapping[str, Needs]
) -> dict[str, Needs]:
    """The needs of each system, with mean and deviation of all captions of all systems, where `z(…)` needs them and no
    file gives them. Raises `DataError` where all captions have one score.
    """
    unscaled = without_standard(metrics, needs.values())
    if not unscaled:
        return dict(needs)
    scores: dict[str, list[float]] = {metric.key: [] for metric in unscaled}
    for name, corpus in corpora.items():
        for table in count(corpus, unscaled, needs[name], warned=False):
            scores[table.metric.key] += memoryview(table.statistics.row_scores()).cast("d").tolist()
    standard = standard_of(scores)
    return {name: system_needs.with_({"standard": standard}) for name, system_needs in needs.items()}


def without_standard(metrics: Iterable[Metric], needs: Iterable[Needs]) -> list[Metric]:
    """The metrics whose mean and deviation are taken from all captions of the call, since no file gives them."""
    named = [metric for metric in metrics if f"{STANDARDISED}(" in metric.key]
    if not named or any("standard" in system_needs for system_needs in needs):
        return []
    from sacrecap.metrics.combine import unscaled

    return list(unscaled(named))


def standard_of(scores: Mapping[str, list[float]]) -> Standard:
    """Mean and deviation of these scores, by the keys of their metrics."""
    from sacrecap.metrics.combine import Standard

    scales: dict[str, Scale] = {}
    for key, distribution in scores.items():
        defined = [score for score in distribution if not math.isnan(score)]
        mean = math.fsum(defined) / len(defined) if defined else 0.0
        deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in defined) / len(defined)) if defined else 0.0
        if not deviation > 1e-12 * max(1.0, abs(mean)):
            raise DataError(f"z({key}): all {len(distribution):,} captions have the same score, so it has no deviation")
        scales[key] = {"mean": mean, "deviation": deviation}
    return Standard(scales)


def standard_in(needs: Needs) -> dict[str, Any]:
    """The entry of a JSON document with mean and deviation that were taken from all captions of the call, if any."""
    return {"standard": dict(needs.get("standard").scales)} if hasattr(needs.get("standard"), "scales") else {}


def counted_in_python(metric: PythonMetric, corpus: Corpus, ready: Ready, needs: Needs) -> _core.Statistics:
    """The statistics of a metric in Python, by any author. Raises `DataError`, which names it, for unusable ones."""
    rows = _rows(metric, corpus, ready)
    own_formula = type(metric).formula is not PythonMetric.formula
    if not own_formula and rows.shape[1] != 2:
        raise DataError(
            f"{metric.key}: rows of {rows.shape[1]} numbers need a formula; without one, a row is (score, 1)"
        )
    excused = metric.trained_on_references or metric.uses_document_frequency or corpus.tokenizer == "ptb-stream"
    if not excused and len(corpus) > 1 and origin_of(metric) != OWN:
        _check_alone(metric, corpus, needs, rows)
    own_rows = type(metric).row_formula is not PythonMetric.row_formula
    return _core.Statistics.of_rows(
        metric.key,
        rows.tobytes(),
        rows.shape[1],
        Watched(metric, "formula") if own_formula else None,
        Watched(metric, "row_formula") if own_rows else None,
    )


def _rows(metric: PythonMetric, corpus: Corpus, ready: Ready) -> npt.NDArray[np.float64]:
    """The rows of the metric's statistics. Raises `DataError` for what it raises, and for rows that cannot be used."""
    import numpy as np

    with _named(metric):
        values = metric.statistics(corpus, ready)
    try:
        rows = np.ascontiguousarray(values, dtype="<f8")
    except (TypeError, ValueError) as error:
        raise DataError(f"{metric.key}: its statistics are not rows of numbers: {error}") from error
    expected, of = (len(corpus), "image") if metric.scores_sets else (corpus.candidate_count, "candidate")
    if rows.ndim != 2 or len(rows) != expected or rows.shape[1] == 0:
        raise DataError(
            f"{metric.key}: its statistics have shape {rows.shape}; they must be {expected:,} rows, one per {of}, all "
            "of one width"
        )
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        image = next(image for image, place in _places(metric, corpus).items() if row in place)
        numbers = ", ".join(map(str, rows[row]))
        raise DataError(f"{metric.key}: the statistics of image {image!r} are {numbers}; they must be finite numbers")
    return rows


@contextmanager
def _named(metric: Metric) -> Iterator[None]:
    """Errors of a metric's own code have its name, and the line that raised."""
    try:
        yield
    except SacrecapError:
        raise
    except Exception as error:
        package = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
        frames = traceback.extract_tb(error.__traceback__)
        outside = [frame for frame in frames if not frame.filename.startswith(package)]
        at = f" at {outside[-1].filename}, line {outside[-1].lineno}" if outside else ""
        raise DataError(f"{metric.key} ({origin_of(metric)}) raised {type(error).__name__}{at}: {error}") from error


class Watched:
    """A formula of a metric, which names the metric where it raises or does not give a number."""

    def __init__(self, metric: PythonMetric, name: str) -> None:
        self._metric = metric
        self._name = name

    def __call__(self, sums: list[float]) -> float:
        with _named(self._metric):
            score = float(getattr(self._metric, self._name)(sums))
        if math.isfinite(score) or (math.isnan(score) and self._name == "row_formula"):
            return score
        raise DataError(f"{self._metric.key}: its {self._name} gave {score} for {sums}; it must give a finite number")


def _places(metric: Metric, corpus: Corpus) -> dict[str, range]:
    """The rows of each image."""
    counts = [1] * len(corpus) if metric.scores_sets or not corpus.holds_sets else cast("SetCorpus", corpus).counts
    ends = itertools.accumulate(counts)
    return {image: range(end - count, end) for image, count, end in zip(corpus.image_ids, counts, ends, strict=True)}


TOLERANCE: Final = 1e-4
"""Largest relative difference between an image's score in the corpus and alone: half precision needs this much."""


def _check_alone(metric: PythonMetric, corpus: Corpus, needs: Needs, rows: npt.NDArray[np.float64]) -> None:
    """Raises `DataError` if the first, middle or last image has other statistics alone than among all."""
    import numpy as np

    from sacrecap.corpus.sets import encode_sets

    places = _places(metric, corpus)
    for image in dict.fromkeys(corpus.image_ids[place] for place in (0, len(corpus) // 2, -1)):
        candidates, references = corpus.given(image)
        described = {image: references} if references else None
        if corpus.holds_sets:
            alone: Corpus = encode_sets({"one": {image: candidates}}, described, tokenizer=corpus.tokenizer)["one"]
        else:
            captions = _core.Captions.from_dict({image: candidates[0]})
            about = None if described is None else _core.Captions.from_dict(described)
            [alone] = Corpus.of_part(about, {"": captions}, tokenizer=corpus.tokenizer).values()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = _rows(metric, alone, metric.ready(alone, needs))
        among = rows[places[image]]
        if table.shape != among.shape or not np.allclose(table, among, rtol=TOLERANCE, atol=TOLERANCE):
            values = [" ".join(str(tuple(map(float, row))) for row in part.round(6)) for part in (among, table)]
            raise DataError(
                f"{metric.key} ({origin_of(metric)}) gives image {image!r} {values[0]} among {len(corpus):,} images "
                f"and {values[1]} alone; the score of an image must depend on its own captions, unless the metric is "
                "declared with trained_on_references=True"
            )
