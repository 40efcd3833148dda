"""What a call does on an engine: the passes over all parts, and the result made of what comes back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial as bound
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus, WholeCorpus
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.data.partitioned import fingerprint
from sacrecap.engines.duplicates import check_duplicates, shuffle_of_ids
from sacrecap.engines.passes import (
    RARE,
    REFERENCES,
    Counters,
    Counts,
    Frequencies,
    Known,
    Partial,
    batches_of,
    check_groups,
    count_and_split,
    count_into,
    count_part,
    counters_of,
    group_fold,
    score_and_split,
    shuffle_of_counts,
)
from sacrecap.engines.progress import Progress
from sacrecap.errors import DataError, warn
from sacrecap.scoring.compare import pairs_of, warn_of_weak_tests, with_intervals
from sacrecap.scoring.comparison import Comparison, fair
from sacrecap.scoring.count import CountedMetric, count_quietly
from sacrecap.scoring.folded import Folded
from sacrecap.scoring.groups import Groups
from sacrecap.scoring.intervals import Interval, Resampling, widened
from sacrecap.scoring.result import Result, Score, within

if TYPE_CHECKING:
    from sacrecap.data.partitioned import BadRow, ImageScores, Part
    from sacrecap.engines.plan import Engine, Plan
    from sacrecap.engines.work import WorkFolder


@dataclass
class Run:
    """One call on an engine."""

    engine: Engine
    plan: Plan
    parts: Sequence[Part]
    memory: int = 512 << 20
    scores: ImageScores | None = None
    work: WorkFolder | None = None
    skipped: Sequence[BadRow] = ()
    """Rows that were left out before."""

    def partial(self) -> tuple[Partial, Known]:
        """Both passes: what they made of all parts, and what the first one found out."""
        self.plan.check(self.engine.name)
        known = self._known()
        return self._scored(known), known

    def _known(self) -> Known:
        """The first pass: document frequencies of the whole input, and what metrics learn of it."""
        if not self.plan.documents:
            return {}
        with counters_of(self.plan, self.memory) as counters:
            self._count(counters, RARE)
            learnt: dict[Hashable, Any] = {metric: learner.finish() for metric, learner in counters.learners.items()}
            return {
                documents: WholeCorpus(
                    counters.images[documents],
                    {stems: DocumentFrequency(core, documents) for stems, core in counted.items()},
                    learnt if documents == REFERENCES else {},
                )
                for documents, counted in counters.finish(RARE).items()
            }

    def frequencies(self, minimum: int) -> Frequencies:
        """The first pass alone: n-grams in so many documents at least."""
        with counters_of(self.plan, self.memory) as counters:
            self._count(counters, minimum)
            return counters.finish(minimum)

    def _count(self, counters: Counters, minimum: int) -> None:
        progress = Progress("counting n-grams", self.parts, self.plan.needs.progress)
        plan, shuffle = self.plan, None
        if not self.engine.in_order and plan.orders:
            shuffle = shuffle_of_counts(plan, self.memory, minimum, self.parts)
            function: Any = bound(count_and_split, plan, self.memory, self.work, shuffle.shards)
        elif self.engine.in_order and self.work is None and plan.on_bad_file == "error":
            function = bound(count_into, plan, counters)
        else:
            function = bound(count_part, plan, self.memory, self.work)
        for part, counts in self.engine.map(function, self.parts, shuffle=shuffle):
            counters.merge(counts)
            progress.done(part, max(counters.images.values(), default=0))
        for _, frequencies in self.engine.gather(shuffle) if shuffle is not None else ():
            counters.merge(Counts(frequencies=frequencies.get()))

    def _scored(self, known: Known) -> Partial:
        """The second pass: statistics, folded."""
        whole = Partial.empty(self.plan)
        progress = Progress("scoring", self.parts, self.plan.needs.progress)
        shuffle = shuffle_of_ids(self.parts)
        function = bound(
            score_and_split,
            self.plan,
            self.engine.share(known),
            None if self.scores is None else self.scores.part,
            self.work,
            self._about(known),
            shuffle.shards,
        )
        gpus = float(any("device" in metric.needs for metric in self.plan.scored))
        for part, own in self.engine.map(function, self.parts, gpus=gpus, shuffle=shuffle):
            whole.merge(own)
            progress.done(part, whole.images)
        found = (told for told, _ in self.engine.gather(shuffle))
        check_duplicates(self.engine, bound(batches_of, self.plan), self.parts, found)
        if not whole.images:
            raise DataError(self._nothing())
        return whole

    def _about(self, known: Known) -> str:
        """A text that changes with what the first pass found out, so that results which it went into are told apart."""
        if self.work is None or not known:
            return ""
        if self.plan.learning:
            return fingerprint(self.parts)
        every = (own.frequencies(stems=stems) for own in known.values() for stems in self.plan.orders)
        return " ".join(sha256(own._core.to_bytes()).hexdigest() for own in every)

    def _nothing(self) -> str:
        return f"{self.parts[0].file}: no image to score" if self.parts else "no image to score"


def results(run: Run, resampling: Resampling, level: float | None = None) -> tuple[dict[str, Result], Partial]:
    """The result of each system by its name; `level`: of the intervals of groups, where systems get theirs later."""
    whole, known = run.partial()
    plan = run.plan
    found = {}
    for number, name in enumerate(plan.systems):
        corpus = _sample_corpus(plan, whole, number, known)
        counted = count_quietly(corpus, plan.metrics, plan.needs)
        like = [one.statistics for one in counted]
        fold = whole.folds[name].with_formulas(like)
        scores = _scores(fold, counted, [one.signature(corpus) for one in counted], resampling.interval)
        for one, score in zip(counted, scores.values(), strict=True):
            for message in one.metric.warnings(one.ready, score.statistics):
                warn(message)
        result = Result(_core.__version__, corpus.image_ids, scores, resampling, corpus, plan.needs)
        if plan.by is not None:
            begin = group_fold(name)
            folds = {own.removeprefix(begin): fold for own, fold in whole.folds.items() if own.startswith(begin)}
            check_groups(folds)
            signatures = [score.signature for score in scores.values()]
            grouped = {
                group: _scores(folds[group].with_formulas(like), counted, signatures, level or resampling.interval)
                for group in sorted(folds)
            }
            left_out = whole.images - sum(fold.rows for fold in folds.values())
            result = replace(result, groups=Groups.of(grouped, plan.by, left_out))
        found[name] = result
    for message in whole.warnings:
        warn(message)
    return found, whole


def _scores(
    fold: _core.Fold, counted: Sequence[CountedMetric], signatures: Sequence[str], level: float | None
) -> dict[str, Score]:
    """The scores of these sums."""
    bounds: Sequence[Interval | None] = [None] * len(counted)
    if level is not None:
        bounds = fold.intervals(widened(level, fold.rows))
    own = zip(counted, signatures, totals(fold, [one.statistics for one in counted]), bounds, strict=True)
    return {
        one.metric.key: within(Score(one.metric, total, signature, None, one.ready), interval, level)
        for one, signature, total, interval in own
    }


def totals(fold: _core.Fold, samples: Sequence[_core.Statistics]) -> list[Folded]:
    """The sums of the metrics, with the rows of the sample that was counted again."""
    return [
        Folded(fold.rows, unscored, fold.statistics(place), sample)
        for place, (sample, unscored) in enumerate(zip(samples, fold.unscored(), strict=True))
    ]


def _sample_corpus(plan: Plan, whole: Partial, system: int, known: Known) -> Corpus:
    """The sample as a corpus, which says of references what is true of all images."""
    images = whole.sample().images
    references = _core.Captions.of_images([(one.image_id, one.references) for one in images], None)
    candidates = _core.Captions.of_images([(one.image_id, one.captions[system]) for one in images], None)
    corpora = Corpus.of_part(
        references, {"": candidates}, tokenizer=plan.tokenizer, whole=known.get(REFERENCES), threads=plan.threads
    )
    corpus = corpora[""]
    tallies = {**whole.tallies.get(plan.systems[system], {})}
    if plan.matched is not None:
        how, image, given = plan.matched
        tallies["candidates", f"ids by {how}", 0] = (whole.images, image, given)
    corpus.is_part_with(tallies)
    corpus.reference_counts = whole.extents[plan.systems[system]].reference_counts or corpus.reference_counts
    return corpus


def compared(
    run: Run, resampling: Resampling, *, alpha: float, correction: str, attempts: dict[str, int]
) -> tuple[Comparison, Partial]:
    """The systems' results and paired bootstrap tests."""
    level = resampling.interval
    # Intervals are drawn for all systems together.
    found, whole = results(run, replace(resampling, interval=None), level)
    warn_of_weak_tests(whole.images, len(found), "bootstrap", resampling.samples, alpha, correction)
    first = next(iter(found.values()))
    like = [score.statistics.sample for score in first.values() if isinstance(score.statistics, Folded)]
    wide = widened(level or 0.95, whole.images)
    bounds, differences = _core.Fold.paired([whole.folds[name].with_formulas(like) for name in found], wide)
    between: list[Interval | None] = [None] * len(differences)
    if level is not None:
        between = [limits for limits, _ in differences]
        found = with_intervals(found, bounds, resampling, attempts)
    p = [own for _, own in differences]
    pairs = fair(pairs_of(found, list(first), between, p, correction, alpha, attempts, level), found)
    return Comparison(found, pairs, "bootstrap", alpha, correction, resampling, attempts), whole
