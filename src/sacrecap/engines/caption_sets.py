"""`sacrecap.diversity` on an engine: caption sets of one or several systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.corpus.corpus import added
from sacrecap.corpus.sets import SetCorpus
from sacrecap.engines.driver import totals
from sacrecap.engines.passes import REFERENCES, SEVERAL, Extent, captions, keep
from sacrecap.errors import warn
from sacrecap.scoring.compare import pairs_of
from sacrecap.scoring.comparison import fair
from sacrecap.scoring.diversity import CURVE, Scoring, say_alone
from sacrecap.scoring.diversity_result import Diversity, Size, SystemDiversity
from sacrecap.scoring.folded import Folded
from sacrecap.scoring.intervals import Interval, widened
from sacrecap.scoring.result import within

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import WholeCorpus
    from sacrecap.data.partitioned import Batch, PartScores
    from sacrecap.engines.driver import Run
    from sacrecap.engines.passes import Known, Partial
    from sacrecap.engines.plan import Plan, Sets
    from sacrecap.scoring.comparison import Pair
    from sacrecap.scoring.intervals import Resampling
    from sacrecap.scoring.result import Score

PEOPLE = "\0people"
"""Name of the sums, the extent and the sample of people, which no system can have."""


def score_sets(plan: Plan, known: Known, partial: Partial, batch: Batch, written: PartScores | None) -> None:
    """Folds the figures of each system's caption sets, and of people."""
    sets, scoring = _asked(plan), _scoring(plan)
    references = captions(batch, batch.references) if sets.described else None
    systems = {name: captions(batch, column) for name, column in zip(plan.systems, batch.captions, strict=True)}
    for name, own in systems.items():
        corpus = SetCorpus.of_sets(
            own, references, tokenizer=plan.tokenizer, whole=_of(known, name, sets), threads=plan.threads
        )
        corpus, figures, curves = scoring.figures(corpus, sets.top)
        partial.fold(name).add([one.rows for one in figures.values()], batch.image_ids, plan.threads)
        if sets.described and sets.top is None:
            for most in CURVE:
                # With no more captions than that, the best ones are all.
                best = curves.get(most, figures)
                partial.fold(_curve(name, most), replicates=False).add(
                    [one.rows for one in best.values()], batch.image_ids, plan.threads
                )
        partial.extent(name).merge(_extent(corpus))
        partial.tallies[name] = added(partial.tallies.get(name, {}), corpus.tallies(plan.threads))
        if written is not None:
            columns = {key: one.statistics.row_scores() for key, one in figures.items()}
            written.add(batch.image_ids, columns, name if len(systems) > 1 else None, batch.whole)
    partial.keys.append(_core.image_keys(batch.image_ids))
    keep(partial.sample(), partial.keys[-1], references, list(systems.values()))
    if references is not None:
        _score_people(plan, scoring, known, partial, references)


def _score_people(plan: Plan, scoring: Scoring, known: Known, partial: Partial, references: _core.Captions) -> None:
    counts = references.caption_counts()
    chosen = [image for image, count in zip(references.image_ids, counts, strict=True) if count > 1]
    if not chosen:
        return
    several = references
    if len(chosen) < len(counts):
        several = _core.Captions.of_images([(image, references.captions(image)) for image in chosen], None)
    corpus = SetCorpus.of_sets(
        several, several, tokenizer=plan.tokenizer, whole=known.get(SEVERAL), threads=plan.threads
    )
    figures = scoring.people_figures(corpus)
    partial.fold(PEOPLE).add([one.rows for one in figures.values()], chosen, plan.threads)
    partial.extent(PEOPLE).merge(_extent(corpus))
    keep(partial.sample(PEOPLE), _core.image_keys(chosen), several, [several])


def diversity(run: Run, resampling: Resampling) -> tuple[Diversity, Partial]:
    """The result of all systems, and of people."""
    level = resampling.interval
    whole, known = run.partial()
    plan, sets = run.plan, _asked(run.plan)
    systems = {name: _system(plan, whole, known, number, name, level) for number, name in enumerate(plan.systems)}
    human = None
    if PEOPLE in whole.folds:
        say_alone(whole.extents[PEOPLE].images, whole.images)
        human = _people(plan, whole, known, level)
    for message in whole.warnings:
        warn(message)
    pairs = () if level is None else _pairs(whole, systems, level)
    return Diversity(_core.__version__, systems, human, pairs, resampling, sets.beta2, "bootstrap"), whole


def _system(plan: Plan, whole: Partial, known: Known, number: int, name: str, level: float | None) -> SystemDiversity:
    """A system's figures: those of the sample, with the sums of all images."""
    sets, scoring = _asked(plan), _scoring(plan)
    corpus = _sample(plan, whole, "", number, _of(known, name, sets))
    corpus, figures, curves = scoring.figures(corpus, sets.top)
    corpus.is_part_with(whole.tallies.get(name, {}))
    extent = whole.extents[name]
    most = (extent.caption_counts or (0, 0))[1]
    values = {}
    for count in (count for count in CURVE if count <= most and sets.described and sets.top is None):
        own = curves.get(count, figures)
        values[count] = {key: one.value for key, one in _totals(whole.folds[_curve(name, count)], own, None).items()}
    totals = _totals(whole.folds[name], figures, level)
    given = plan.needs.get("document_frequency")
    return SystemDiversity(name, corpus, totals, values, given, _size(extent))


def _people(plan: Plan, whole: Partial, known: Known, level: float | None) -> SystemDiversity:
    corpus = _sample(plan, whole, PEOPLE, 0, known.get(SEVERAL))
    figures = _totals(whole.folds[PEOPLE], _scoring(plan).people_figures(corpus), level)
    given = plan.needs.get("document_frequency")
    return SystemDiversity("human", corpus, figures, {}, given, _size(whole.extents[PEOPLE]))


def _sample(plan: Plan, whole: Partial, which: str, system: int, known: WholeCorpus | None) -> SetCorpus:
    """The sample as a corpus, with the extent of all images, which signatures name."""
    images = whole.sample(which).images
    own = _core.Captions.of_images([(one.image_id, one.captions[system]) for one in images], None)
    references = None
    if _asked(plan).described:
        references = _core.Captions.of_images([(one.image_id, one.references) for one in images], None)
    corpus = SetCorpus.of_sets(own, references, tokenizer=plan.tokenizer, whole=known, threads=plan.threads)
    extent = whole.extents[PEOPLE if which else plan.systems[system]]
    corpus.candidate_counts = extent.caption_counts or corpus.candidate_counts
    corpus.reference_counts = extent.reference_counts or corpus.reference_counts
    return corpus


def _totals(fold: _core.Fold, figures: Mapping[str, Score], level: float | None) -> dict[str, Score]:
    """The sample's figures with the sums of all images."""
    like = [one.rows for one in figures.values()]
    fold = fold.with_formulas(like)
    bounds: list[Interval] | list[None] = [None] * len(like)
    if level is not None:
        bounds = fold.intervals(widened(level, fold.rows))
    return {
        key: within(replace(one, statistics=folded), interval, level)
        for (key, one), folded, interval in zip(figures.items(), totals(fold, like), bounds, strict=True)
    }


def _pairs(whole: Partial, systems: Mapping[str, SystemDiversity], level: float) -> tuple[Pair, ...]:
    """Every two systems by the paired bootstrap, corrected over the pairs of systems."""
    if len(systems) < 2:
        return ()
    first = next(iter(systems.values()))
    like = [one.statistics.sample for one in first.values() if isinstance(one.statistics, Folded)]
    wide = widened(level, whole.images)
    _, differences = _core.Fold.paired([whole.folds[name].with_formulas(like) for name in systems], wide)
    between = [limits for limits, _ in differences]
    found = pairs_of(systems, list(first), between, [p for _, p in differences], "holm", 1 - level)
    return tuple(fair(found, systems))


def _asked(plan: Plan) -> Sets:
    if plan.sets is None:
        raise TypeError("the plan is not one of caption sets")
    return plan.sets


def _scoring(plan: Plan) -> Scoring:
    sets = _asked(plan)
    return Scoring(plan.metrics, sets.accuracy, sets.beta2, plan.needs)


def _of(known: Known, system: str, sets: Sets) -> WholeCorpus | None:
    return known.get(REFERENCES if sets.described else system)


def _curve(system: str, most: int) -> str:
    return f"{system}\0{most}"


def _extent(corpus: SetCorpus) -> Extent:
    extent = Extent.of(corpus)
    extent.words = {word for word, _ in _core.word_counts(corpus._core)}
    return extent


def _size(extent: Extent) -> Size:
    return Size(extent.images, extent.captions, extent.caption_counts or (0, 0), len(extent.words))
