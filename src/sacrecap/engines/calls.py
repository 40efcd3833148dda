"""`sacrecap.score` and `sacrecap.compare` on an engine: where rows are made. What follows is the same for all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from sacrecap import _core
from sacrecap.choices import ENGINES, EngineName, Tokenizer
from sacrecap.corpus.corpus import SAMPLE, Corpus, tallies
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.data.captions import read_both, several_candidates
from sacrecap.data.source import Reading
from sacrecap.engines.passes import Engine, Plan, Progress, Sample, ScoredPiece, StreamEngine
from sacrecap.engines.sources import Held, PieceSource, RowsOfFile, pieces_of_references
from sacrecap.errors import DataError, SacrecapWarning, UsageError, accepted_name, warn
from sacrecap.metrics.base import Metric, Ready
from sacrecap.resources.needs import Needs
from sacrecap.scoring.collected import Extent
from sacrecap.scoring.comparison import Comparison, Significance, compare_results
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.result import Result, Summed
from sacrecap.scoring.score import NO_CANDIDATES, CountedMetric, result_of, standard_of, without_standard

SYSTEM = ""


@dataclass(frozen=True)
class EngineOptions:
    """An engine, and what a call says about it.

    Example:
        >>> options = sacrecap.engines.EngineOptions("ray", workers=4)
        >>> options.name, options.workers
        ('ray', 4)
    """

    name: EngineName = "local"
    address: str | None = None
    """Address of a Ray cluster; by default the one that runs, else one that is started on this machine."""
    workers: int | None = None
    """Pieces that a cluster works on at once; by default as many as it has cores."""
    rows: bool = False
    """Whether the statistics of each image are kept without intervals, too, for scores of images and groups; else they
    are added up as they come, in the same memory for any number of images.
    """

    def __post_init__(self) -> None:
        accepted_name("engine", self.name, ENGINES)
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"workers must be at least 1, got {self.workers}")

    def score(
        self,
        references: Any,
        candidates: Any,
        metrics: Sequence[Metric],
        *,
        needs: Needs,
        tokenizer: Tokenizer,
        on_missing: str,
        resampling: Resampling,
    ) -> Result:
        """One system's scores: see [`sacrecap.score`][]."""
        source, plan = _source(references, candidates, on_missing), Plan(tuple(metrics), needs, tokenizer)
        keep = self.rows or resampling.interval is not None
        return self._results(source, plan, resampling, keep=keep)[SYSTEM]

    def compare(
        self,
        references: Any,
        systems: Mapping[str, Any],
        metrics: Sequence[Metric],
        *,
        needs: Needs,
        tokenizer: Tokenizer,
        on_missing: str,
        significance: Significance,
        resampling: Resampling,
    ) -> Comparison:
        """Several systems' scores and paired tests: see [`sacrecap.compare`][]."""
        source = Held(references, systems, {name: f"system {name!r}" for name in systems}, on_missing)
        if unscaled := without_standard(metrics, [needs]):
            alone = self._results(source, Plan(tuple(unscaled), needs, tokenizer), Resampling(None))
            scores = {
                metric.key: [score for result in alone.values() for score in result[metric].per_image_values()]
                for metric in unscaled
            }
            needs = needs.with_({"standard": standard_of(scores)})
        results = self._results(source, Plan(tuple(metrics), needs, tokenizer), Resampling(None))
        needs.begin("resampling")
        return compare_results(results, significance, resampling)

    def document_frequency(
        self, references: Any, *, tokenizer: Tokenizer, n: int, stem: bool, threads: int = 0
    ) -> DocumentFrequency:
        """Document frequencies of references: those that [`sacrecap.DocumentFrequency.build`][] counts in memory."""
        from sacrecap.metrics.cider import CiderD, CiderPaper

        plan = Plan((CiderPaper(n=n) if stem else CiderD(n=n),), Needs(threads=threads), tokenizer)
        engine = self._engine(threads)
        try:
            counted = engine.fetch(engine.count(plan, pieces_of_references(references), minimum=1))
        finally:
            engine.close()
        return counted.frequencies[stem]

    def _results(self, source: PieceSource, plan: Plan, how: Resampling, *, keep: bool = True) -> dict[str, Result]:
        """The result of each system, after the pass that counts, if one is needed; `keep`: whether rows are kept."""
        plan.check(self.name)
        engine = self._engine(plan.threads)
        try:
            # The engine counts each piece; with the threads of the call the results are made.
            for_pieces = replace(plan, needs=plan.needs.with_({}, threads=engine.threads))
            whole = None
            if plan.orders or plan.learning:
                progress = Progress("counting n-grams", source.images, plan.needs.progress)
                whole = engine.count(for_pieces, progress.watched(source.pieces(again=True)))
            progress = Progress("scoring", source.images, plan.needs.progress)
            collected = Collected(plan, source, keep=keep)
            collected.take(engine.score(for_pieces, whole, progress.watched(source.pieces())))
            corpora = source.corpora(collected.image_ids, plan.tokenizer)
            return {name: collected.result(name, corpora[name], how) for name in collected.extents}
        finally:
            engine.close()

    def _engine(self, threads: int) -> Engine:
        """The engine. Raises `MissingDependencyError` where Ray is not installed."""
        if self.name == "stream":
            return StreamEngine(threads)
        from sacrecap.engines.ray import RayEngine

        return RayEngine(self.address, self.workers)


def _source(references: Any, candidates: Any, on_missing: str) -> PieceSource:
    """Where the captions come from."""
    names = {SYSTEM: "the candidates"}
    if candidates is not None:
        return Held(references, {SYSTEM: candidates}, names, on_missing)
    if isinstance(references, RowsOfFile):
        return references
    if not isinstance(references, (str, PathLike)):
        raise UsageError(NO_CANDIDATES)
    rows = RowsOfFile.of(references, Reading(), on_missing=on_missing)
    if rows is not None:
        return rows
    described, captions = read_both(references)
    return Held(described, {SYSTEM: captions}, names, on_missing)


class Collected:
    """What comes of all pieces, in their order; `keep`: whether rows are kept, or added up."""

    def __init__(self, plan: Plan, source: PieceSource, *, keep: bool) -> None:
        self._plan, self._source, self._keep = plan, source, keep
        self.image_ids: list[str] = []
        self._order: list[bytes] = []
        self._rows: dict[str, _core.StatisticsBuilder] = {}
        self._sums: dict[str, _core.ExactSums] = {}
        self.extents: dict[str, Extent] = {}
        self._sample: Sample = {}
        self._warnings: dict[str, None] = {}

    def take(self, scored: Iterator[ScoredPiece]) -> None:
        """Takes pieces. Raises `DataError` where there is none, or an image comes twice."""
        for rows, order, sample, messages in scored:
            for name, (_, statistics, extent) in rows.items():
                self.extents[name] = self.extents.get(name, Extent()) + extent
                if self._keep:
                    self._rows.setdefault(name, _core.StatisticsBuilder()).add(statistics)
                else:
                    self._sums.setdefault(name, _core.ExactSums()).add(statistics)
            self.image_ids += next(iter(rows.values())).ids or () if self._keep else ()
            self._order.append(order)
            every = {**self._sample, **sample}
            self._sample = {key: every[key] for key in sorted(every)[:SAMPLE]}
            self._warnings.update(dict.fromkeys(messages))
        if not self.extents:
            raise DataError("no image to score")
        self._check_repeated()
        for message in self._warnings:
            warn(message)

    def _check_repeated(self) -> None:
        """Raises `DataError` for an image id that comes twice."""
        import numpy as np

        keys = np.sort(np.frombuffer(b"".join(self._order), dtype="<u8"))
        several = {*np.unique(keys[1:][keys[1:] == keys[:-1]]).tolist()}
        if not several:
            return
        counts: dict[str, int] = {}
        for piece in self._source.pieces():
            candidates = next(iter(piece.systems.values()))
            ids = candidates.image_ids
            hashes = np.frombuffer(_core.sample_order(ids), dtype="<u8").tolist()
            for image, key in zip(ids, hashes, strict=True):
                if key in several:
                    counts[image] = counts.get(image, 0) + 1
        repeated = [image for image, count in counts.items() if count > 1]
        if repeated:
            raise DataError(f"{candidates.source}: {several_candidates(repeated)}")

    def result(self, name: str, corpus: Corpus, how: Resampling) -> Result:
        """The result of a system."""
        plan, extent = self._plan, self.extents[name]
        images = self._sample.values()
        references = _core.Captions.of_images([(image, texts) for image, texts, _ in images], None)
        candidates = _core.Captions.of_images([(image, systems[name]) for image, _, systems in images], None)
        described = references if references.caption_count else None
        [sample] = Corpus.of_part(described, {"": candidates}, tokenizer=plan.tokenizer).values()
        statistics: list[Any] = list(self._rows[name].finish()) if self._keep else Summed.of_metrics(self._sums[name])
        tallied = dict(extent.seen)
        if corpus.matched_by is not None:
            by, example = corpus.matched_by
            tallied["candidates", f"ids by {by}", 0] = (statistics[0].rows, min(corpus.image_ids), example)
        corpus.is_part_with(tallied, tallies(_core.seen_in_sample(sample._core, sample.candidate_captions, SAMPLE)))
        corpus.reference_counts = extent.references or (0, 0)
        if not self._keep:
            corpus.image_ids = []
        counted = []
        for number, metric in enumerate(plan.metrics):
            ready = Ready(sample._core)
            if type(metric).warnings is not Metric.warnings and "device" not in metric.needs:
                with warnings.catch_warnings():  # prepared as far as warnings take it: networks are not loaded
                    warnings.simplefilter("ignore", SacrecapWarning)
                    ready = metric.ready(sample, plan.needs)
            ready = extent.ready(number, ready)
            counted.append(CountedMetric(metric, ready, statistics[number]))
            for message in metric.warnings(ready, statistics[number]) if ready.own is not None else ():
                warn(message)
        return result_of(counted, corpus, plan.needs, how, explains=False)
