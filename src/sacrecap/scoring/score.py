"""Scoring: corpus × metrics → result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

from sacrecap import _core
from sacrecap.above import from_above
from sacrecap.choices import EngineName, OnMissing, Tokenizer
from sacrecap.corpus.corpus import CandidateSource, CaptionSource, Corpus, References
from sacrecap.errors import UsageError
from sacrecap.metrics.registry import parse_metrics, with_columns
from sacrecap.resources.needs import Given, Needs
from sacrecap.scoring.count import CountedMetric, check_unit, count
from sacrecap.scoring.intervals import Keywords, Resampling, intervals
from sacrecap.scoring.result import Result, Score, within

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from sacrecap.metrics import Metric
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
    """
    metrics = tuple(metrics)
    check_unit(corpus, metrics)
    merged_needs = Needs.of(needs, keywords)
    merged_needs.begin("scoring")
    return result_of(count(corpus, metrics, merged_needs), corpus, merged_needs, resampling or Resampling(None))


def result_of(counted: Sequence[CountedMetric], corpus: Corpus, needs: Needs, resampling: Resampling) -> Result:
    """What the statistics of a corpus' images come to: scores with their intervals and signatures."""
    if resampling.interval is not None:
        needs.begin("resampling")
    statistics = [table.statistics for table in counted]
    bounds = intervals(statistics, [table.metric for table in counted], resampling, threads=needs.threads)
    scores = {
        table.metric.key: within(
            Score(table.metric, table.statistics, table.signature(corpus), None, table.ready), between, resampling
        )
        for table, between in zip(counted, bounds, strict=True)
    }
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
