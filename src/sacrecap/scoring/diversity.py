"""Scores of caption sets: diversity and accuracy, compared with people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, cast

from sacrecap import _core
from sacrecap.choices import TESTS, OnMissing, Test, Tokenizer
from sacrecap.corpus.corpus import CaptionSource, encode_references
from sacrecap.corpus.sets import LeaveOneOut, SetCorpus, encode_sets
from sacrecap.corpus.tokenizers import signed
from sacrecap.data.inputs import is_table
from sacrecap.data.source import system_name
from sacrecap.errors import UsageError, accepted_name, option, warn
from sacrecap.metrics import Metric, SelfCider
from sacrecap.metrics.caption_sets import Accuracy, F, Novelty, Oracle
from sacrecap.metrics.cider import proposed
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.comparison import Pair, Significance, fair, tested, warn_of_weak_tests
from sacrecap.scoring.diversity_result import Diversity, SystemDiversity
from sacrecap.scoring.intervals import Keywords, Resampling
from sacrecap.scoring.result import Score
from sacrecap.scoring.score import CountedMetric, count
from sacrecap.scoring.signature import signature_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


CURVE = (2, 5, 8, 10)
"""The numbers of captions, the most accurate ones, whose scores show the effect of their number."""


def diversity(
    sets: CaptionSource | Mapping[str, CaptionSource],
    references: CaptionSource | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "diversity",
    *,
    accuracy: str | Metric = "cider-d",
    beta2: float = 5.0,
    top: int | None = None,
    test: Test | None = None,
    training: CaptionSource | None = None,
    tokenizer: Tokenizer = "ptb",
    on_missing: OnMissing = "error",
    needs: Needs | Mapping[str, object] | None = None,
    resampling: Resampling | None = None,
    threads: int = 0,
    progress: Callable[[float], object] | None = None,
    **keywords: Unpack[Keywords],
) -> Diversity:
    """Scores the caption sets of one or several systems.

    Args:
        sets: one system's `{image id: [caption, …]}` or any other form that [`sacrecap.score`][] takes captions in,
            then called `sets`, or by the name of its file; or several systems' by name:
            `{"a": {image id: [caption, …]}, "b": "b.json"}`.
        references: human captions of the same images. They add accuracy, F, people and the effect of the number of
            captions.
        metrics: those of caption sets, by name or as values: `"self-cider(kernel=cider-d), lsa"`.
        accuracy: the metric that scores each caption against the references; a set has the mean of its captions.
        beta2: β² of F = (1 + β²) · diversity · accuracy / (β² · diversity + accuracy).
        top: score only this number of captions of each set, the most accurate ones.
        test: of the differences of systems, as for [`sacrecap.compare`][].
        training: captions a system was trained on, for the share of novel ones.
        tokenizer: see [`sacrecap.tokenize`][].
        on_missing: what an image without captions of a system means: `error`, `skip` (it is left out everywhere) or
            `zero` (it has one empty caption).
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][].
        resampling: how uncertainty is told, as for [`sacrecap.score`][].
        threads: number of threads; 0 means one per core; results are the same bits for any number.
        progress: as for [`sacrecap.score`][].
        **keywords: what the metrics of sacrecap need, and how uncertainty is told, by keyword, as for
            [`sacrecap.score`][]. Where no `document_frequency` is given, words are weighted by the references, or else
            by each system's own sets.

    Raises:
        DataError: sets or references are unusable, or do not fit together.
        UsageError: an unknown metric or an unacceptable value.

    Examples:
        >>> sets = {"1": ["a dog runs", "a dog runs"], "2": ["a bus", "two cats sit"]}
        >>> result = sacrecap.diversity(sets, metrics="distinct", interval=None)
        >>> result["sets"]["distinct"].per_image.tolist()
        [0.5, 1.0]
    """
    how, needed = Resampling.of(resampling, keywords)
    merged_needs = Needs.of(needs, needed, threads=threads, progress=progress)
    parsed_metrics = parse_metrics(metrics)
    for metric in parsed_metrics:
        if not metric.scores_sets:
            raise UsageError(
                f"{metric.key} scores one caption, not a caption set; as the accuracy of a set's captions it is taken "
                f"with {option('accuracy')}"
            )
    accuracy_metric = _accuracy_metric(accuracy)
    if not beta2 > 0:
        raise UsageError(f"beta2 must be a number above 0, got {beta2}")
    accepted_name("test", test or "exact", TESTS)
    systems = _named(sets)
    if top is not None and (top < 1 or references is None):
        reason = "needs references to rank captions by" if top >= 1 else f"must be at least 1, got {top}"
        raise UsageError(f"top {reason}")
    scoring = Scoring(parsed_metrics, accuracy_metric, beta2, merged_needs)
    own_documents = "document_frequency" not in merged_needs
    weighted = any(metric.uses_document_frequency for metric in parsed_metrics)
    corpora = encode_sets(
        systems,
        references,
        tokenizer=tokenizer,
        own_documents=weighted and own_documents,
        on_missing=on_missing,
        threads=merged_needs.threads,
    )
    if references is None and weighted and own_documents and len(corpora) > 1:
        warn(
            "without references or document frequencies each system's words are weighted by its own sets, so that "
            f"Self-CIDEr does not compare systems; give {option('references')} or "
            f"{proposed(parsed_metrics)}"
        )
    threads = merged_needs.threads
    learnt = None if training is None else encode_references(training, tokenizer=tokenizer, threads=threads)
    scored = {name: scoring.system(name, corpus, top, learnt) for name, corpus in corpora.items()}
    human = scoring.people(next(iter(corpora.values()))) if references is not None else None
    pairs: list[Pair] = []
    if how.interval is not None:
        first, *rest = scored.values()
        if rest:
            significance = Significance(test or "exact", 1 - how.interval)
            warn_of_weak_tests(first.images, len(scored), significance, how.samples)
            keys = [key for key in first if all(key in system for system in rest)]
            _, pairs = tested(scored, keys, significance, how, threads)
            pairs = fair(pairs, scored)
        scored = {name: system.with_intervals(how, threads) for name, system in scored.items()}
        human = human and human.with_intervals(how, threads)
    return Diversity(_core.__version__, scored, human, tuple(pairs), how, beta2, test or "exact")


def _named(sets: CaptionSource | Mapping[str, CaptionSource]) -> dict[str, CaptionSource]:
    """The systems by name."""

    def is_system(source: object) -> bool:
        """Whether this has the captions of many images, and not those of one."""
        if isinstance(source, (Mapping, PathLike, str, _core.Captions)) or is_table(source):
            return True
        values = source.to_list() if hasattr(source, "to_list") else source
        first = next((value for value in values if value is not None), None) if isinstance(values, Sequence) else None
        return isinstance(first, (list, tuple)) or (isinstance(first, Mapping) and "image_id" in first)

    if isinstance(sets, (str, PathLike)):
        return {system_name(sets): sets}
    if isinstance(sets, _core.Captions):
        return {system_name(sets.source) if sets.source else "sets": sets}
    if isinstance(sets, Mapping) and sets and all(map(is_system, sets.values())):
        return {str(name): source for name, source in sets.items()}
    return {"sets": cast("CaptionSource", sets)}


def _accuracy_metric(accuracy: str | Metric) -> Metric:
    metric, *more = parsed = parse_metrics(accuracy)
    if more or metric.scores_sets:
        names = ", ".join(metric.key for metric in parsed)
        raise UsageError(f"accuracy must be one metric that scores a caption against references, got {names}")
    why = ""
    if metric.no_score_where is not None:
        why = "an image may have no score by it; choose a metric that scores every image"
    elif metric.trained_on_references:
        learnt = "its language model would have read what people are scored on"
        why = f"{learnt}; choose a metric that compares with references"
    if why:
        raise UsageError(f"{metric.key} cannot be the accuracy: {why}, as cider-d")
    return metric


class Scoring(NamedTuple):
    """Settings that are the same for every system: metrics, weights, threads."""

    metrics: tuple[Metric, ...]
    accuracy: Metric
    beta2: float
    needs: Needs

    def system(
        self, name: str, corpus: SetCorpus, top: int | None, training: _core.References | None
    ) -> SystemDiversity:
        """A system's figures, and their course over the number of captions: of the K best captions of each set, by K,
        where there are references, and all captions are scored.
        """
        captions, curve = None, {}
        if corpus.has_references:
            captions = self._caption_scores(corpus)
            accuracies = captions.statistics.row_scores()
            for most in CURVE if top is None else ():
                if most <= corpus.candidate_counts[1]:
                    best = corpus.top(accuracies, most)
                    of_best = self._figures(best, self._caption_scores(best))
                    curve[most] = {key: figure.value for key, figure in of_best.items()}
            if top is not None:
                corpus = corpus.top(accuracies, top)
                captions = self._caption_scores(corpus)
        figures = self._figures(corpus, captions)
        if training is not None:
            novel = _core.novelty(corpus._core, training).grouped(corpus.counts, False)
            parts = (f"tok:{signed(corpus.tokenizer)}", f"captions:{len(corpus)}", f"sacrecap:{_core.__version__}")
            figures["novelty"] = Score(Novelty(), novel, "|".join(("novelty", *parts)))
        return SystemDiversity(name, corpus, figures, curve, self.needs.get("document_frequency"))

    def people(self, corpus: SetCorpus) -> SystemDiversity | None:
        """The references as a system: each against the others of its image. None if no image has two."""
        references = corpus.reference_captions
        several = {
            image for image, count in zip(references.image_ids, references.caption_counts(), strict=True) if count > 1
        }
        images = [image for image in corpus.image_ids if image in several]
        if not images:
            return None
        if len(images) < len(corpus):
            warn(
                f"people are scored on {len(images):,} of {len(corpus):,} images: the others have a single reference, "
                "which leaves none to compare it with"
            )
        chosen = _core.Captions.from_dict({image: references.captions(image) for image in images})
        human = encode_sets({"human": chosen}, chosen, tokenizer=corpus.tokenizer, threads=self.needs.threads)["human"]
        held_out = LeaveOneOut(human, threads=self.needs.threads)
        [captions] = count(held_out, (self.accuracy,), self.needs.with_({}, image_of=held_out.image_of))
        figures = self._figures(human, captions)
        return SystemDiversity("human", human, figures, {}, self.needs.get("document_frequency"))

    def _caption_scores(self, corpus: SetCorpus) -> CountedMetric:
        """The accuracy of each caption, one row each."""
        return count(corpus, (self.accuracy,), self.needs)[0]

    def _figures(self, corpus: SetCorpus, captions: CountedMetric | None) -> dict[str, Score]:
        counted = count(corpus, self.metrics, self.needs)
        figures = {
            metric.key: Score(metric, table, signature_of(metric, ready, corpus, table.rows))
            for metric, ready, table in counted
        }
        if captions is None:
            return figures
        signature = signature_of(captions.metric, captions.ready, corpus, captions.statistics.rows)
        mean, best = (captions.statistics.grouped(corpus.counts, is_best) for is_best in (False, True))
        figures["accuracy"] = Score(Accuracy(of=self.accuracy), mean, f"accuracy+{signature}")
        figures["oracle"] = Score(Oracle(of=self.accuracy), best, f"oracle+{signature}")
        spread = next((table for table in counted if table.metric.family == SelfCider.family), None)
        if spread is not None:
            f, how = spread.statistics.f(mean, self.beta2), F(beta2=self.beta2)
            figures["f"] = Score(how, f, f"{how.head}+{spread.metric.head}+{signature}")
        return figures
