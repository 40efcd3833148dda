"""The one path: corpus × metrics → result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from capeval import _core
from capeval.corpus.corpus import CandidateSource, CaptionSource, Corpus, check_document_frequency
from capeval.errors import LACKS_OBJECTS, DataError, UsageError, warn
from capeval.metrics import Fluency, Meteor
from capeval.metrics.registry import parse_metrics
from capeval.scoring.result import Result, Score

if TYPE_CHECKING:
    from capeval.corpus.document_frequency import DocumentFrequency
    from capeval.metrics import Metric
    from capeval.resources.vectors import EmbeddedCorpus, EmbeddingSource, ObjectSource

LONGEST_ALIGNED = 2_000
"""The longest sentence, in tokens, that METEOR aligns: two such of one repeated word take a second and 200 MB."""
LOW_COVERAGE = 0.8
"""A smaller share of words and labels with a vector than this is worth a warning."""


def score(
    references: CaptionSource,
    candidates: CandidateSource,
    metrics: str | Metric | Iterable[str | Metric] = "coco",
    *,
    tokenizer: str = "ptb",
    document_frequency: DocumentFrequency | None = None,
    meteor_resources: str | None = None,
    objects: ObjectSource | None = None,
    embeddings: EmbeddingSource | None = None,
    threshold: float | None = None,
    on_missing: str = "error",
    interval: float | None = 0.95,
    samples: int = 1000,
    seed: int = 0,
    threads: int = 0,
) -> Result:
    """Scores one system's captions against references.

    Args:
        references: `{image id: [caption, …]}`, or the path of a file in any format `capeval score` reads.
        candidates: `{image id: caption}`, or a path.
        metrics: comma-separated names or groups (`"coco"`, `"bleu-4, cider-d(sigma=5)"`), metric values, or a mixture.
        tokenizer: `ptb`, `ptb-stream`, `whitespace` or `none`; see [`capeval.tokenize`][].
        document_frequency: what CIDEr weighs words by; the references themselves by default.
        meteor_resources: folder of a METEOR 1.5 release; an installed pycocoevalcap by default. Without either, a group
            leaves METEOR out with a warning.
        objects: what is in each image, for VIFIDEL: `{image id: {label: count}}`, `{image id: [label, …]}`, or the path
            of a file in any format `capeval score --objects` reads. Without them, a group leaves VIFIDEL out.
        embeddings: word vectors for WMD and VIFIDEL, by name or path; those inside the package by default.
        threshold: least confidence of a detected object, for files with scores.
        on_missing: what an image without candidate means: `error`, `skip` or `zero`.
        interval: confidence level of the bootstrap intervals over images, or None for none.
        samples: number of bootstrap samples.
        seed: seed of the bootstrap; the same seed gives the same interval on any machine.
        threads: number of threads, 0 for one a core; results are the same bits for any number.

    Raises:
        DataError: references or candidates are unusable, or do not fit together.
        UsageError: an unknown metric, tokenizer or an unacceptable value.
    """
    chosen = parse_metrics(metrics, lacking=lacking(meteor_resources, objects))
    check_bootstrap(interval, samples, seed)
    corpus = Corpus(references, candidates, tokenizer=tokenizer, on_missing=on_missing, threads=threads)
    return score_corpus(
        corpus,
        chosen,
        document_frequency=document_frequency,
        meteor_resources=meteor_resources,
        objects=objects,
        embeddings=embeddings,
        threshold=threshold,
        interval=interval,
        samples=samples,
        seed=seed,
        threads=threads,
    )


def lacking(meteor_resources: str | None, objects: ObjectSource | None) -> Callable[[Metric], str | None]:
    """What says why a metric cannot be computed from what the call gives, so that a group leaves it out."""

    def reason(metric: Metric) -> str | None:
        if metric.uses_objects and objects is None:
            return f"it {LACKS_OBJECTS}"
        return metric.unavailable(meteor_resources)

    return reason


def score_corpus(
    corpus: Corpus,
    metrics: Iterable[Metric],
    *,
    document_frequency: DocumentFrequency | None = None,
    meteor_resources: str | None = None,
    objects: ObjectSource | None = None,
    embeddings: EmbeddingSource | None = None,
    threshold: float | None = None,
    progress: Callable[[float], object] | None = None,
    interval: float | None = 0.95,
    samples: int = 1000,
    seed: int = 0,
    threads: int = 0,
) -> Result:
    """Scores a corpus that was encoded before; arguments as for [`capeval.score`][].

    `progress` is called with the finished share while METEOR's tables are built, once an installation.
    """
    metrics = tuple(metrics)
    check_bootstrap(interval, samples, seed)
    _check_unit(corpus, metrics)
    counted = count(
        corpus,
        metrics,
        document_frequency=document_frequency,
        meteor_resources=meteor_resources,
        objects=objects,
        embeddings=embeddings,
        threshold=threshold,
        progress=progress,
        threads=threads,
    )
    statistics, tables, embedded = counted.statistics, counted.tables, counted.embedded
    intervals: list[tuple[float, float]] | list[None] = [None] * len(metrics)
    if interval is not None:
        intervals = _core.bootstrap_intervals(statistics, samples, interval, seed, threads)
    scores = {
        metric.key: Score(
            metric,
            rows.score(),
            bounds,
            signature(metric, corpus, document_frequency, tables, embedded.get(metric.key)),
            rows,
        )
        for metric, rows, bounds in zip(metrics, statistics, intervals, strict=True)
    }
    result = Result(_core.__version__, corpus.image_ids, scores, interval, corpus, tables, embedded)
    _warn_of_low_coverage(result)
    return result


def _warn_of_low_coverage(result: Result) -> None:
    """Warns where so many words are left out that the score says little."""
    for key, score in result.items():
        share = score.coverage
        if share is not None and share < LOW_COVERAGE:
            warn(
                f"{score.metric.label}: only {share:.0%} of the content words and labels have a vector in "
                f"{result.embedded[key].source}; the others are left out of the score; give other vectors with "
                "--embeddings NAME|FILE (embeddings=… in Python)"
            )


class Counted(NamedTuple):
    """What the metrics count in a corpus, and what they took beside it."""

    statistics: list[_core.Statistics]
    """Of each metric: a row a candidate, or a caption set."""
    tables: _core.MeteorTables | None
    """METEOR's, where it is among the metrics."""
    embedded: dict[str, EmbeddedCorpus]
    """The corpus among word vectors, by the keys of the metrics that compare meanings."""


def count(
    corpus: Corpus,
    metrics: tuple[Metric, ...],
    *,
    document_frequency: DocumentFrequency | None = None,
    meteor_resources: str | None = None,
    objects: ObjectSource | None = None,
    embeddings: EmbeddingSource | None = None,
    threshold: float | None = None,
    progress: Callable[[float], object] | None = None,
    threads: int = 0,
) -> Counted:
    """The metrics' statistics of the corpus; arguments as for [`capeval.score`][]."""
    _check_document_frequency(corpus, metrics, document_frequency)
    _check_training(corpus, metrics)
    given = document_frequency._core if document_frequency else None
    tables = _meteor_tables(corpus, metrics, meteor_resources, progress)
    embedded: dict[str, EmbeddedCorpus] = {}
    if any(part.uses_embeddings for part in _parts(metrics)):
        from capeval.resources.vectors import embed

        embedded = embed(corpus, metrics, embeddings=embeddings, objects=objects, threshold=threshold, threads=threads)
    return Counted(_statistics(corpus, metrics, embedded, given, tables, threads), tables, embedded)


def _statistics(
    corpus: Corpus,
    metrics: tuple[Metric, ...],
    embedded: dict[str, EmbeddedCorpus],
    document_frequency: _core.DocumentFrequency | None,
    tables: _core.MeteorTables | None,
    threads: int,
) -> list[_core.Statistics]:
    """The metrics' statistics, in their order: one pass over the corpus for all that see the same words of it."""
    found: dict[str, _core.Statistics] = {}
    for view in dict.fromkeys(embedded.get(metric.key) for metric in metrics):
        members = [metric for metric in metrics if embedded.get(metric.key) is view]
        calls = [(metric.key, metric.arithmetic, metric.kernel_parameters()) for metric in members]
        captions, vectors = (corpus._core, None) if view is None else (view.corpus, view.embedded)
        resources = [resource for resource in (document_frequency, tables, vectors) if resource is not None]
        counted = _core.evaluate(captions, calls, resources, threads)
        found.update(zip((metric.key for metric in members), counted, strict=True))
    return [found[metric.key] for metric in metrics]


def _check_unit(corpus: Corpus, metrics: tuple[Metric, ...]) -> None:
    """One caption an image for most metrics, several for those of caption sets."""
    for metric in metrics:
        if metric.scores_sets and not corpus.holds_sets:
            raise UsageError(
                f"{metric.key} scores caption sets, several captions an image of one system, and here is one an image; "
                "use capeval diversity (capeval.diversity in Python)"
            )
        if corpus.holds_sets and not metric.scores_sets:
            raise UsageError(
                f"{metric.key} scores one caption an image, and these are caption sets; as their accuracy, capeval "
                f"diversity takes it with --accuracy {metric.name}"
            )


def check_bootstrap(interval: float | None, samples: int, seed: int) -> None:
    """Raises `UsageError` for an unacceptable confidence level, number of samples or seed."""
    if interval is not None and not 0 < interval < 1:
        raise UsageError(f"interval must be a confidence level between 0 and 1, or none, got {interval}")
    if samples < 1:
        raise UsageError(f"samples must be at least 1, got {samples}")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed must be a whole number from 0 to 2**64 - 1, got {seed}")


def _check_document_frequency(
    corpus: Corpus, metrics: tuple[Metric, ...], document_frequency: DocumentFrequency | None
) -> None:
    concerned = [part for part in _parts(metrics) if part.uses_document_frequency]
    if document_frequency is None:
        if concerned and len(corpus) == 1:
            names = ", ".join(metric.label for metric in concerned)
            warn(
                f"one image is a corpus in which every n-gram is in every document, so every IDF and {names} is 0; "
                "give document frequencies of a larger corpus with --df FILE (document_frequency=… in Python)"
            )
        return
    for metric in concerned:
        check_document_frequency(metric, corpus.tokenizer, document_frequency._core)


def _check_training(corpus: Corpus, metrics: tuple[Metric, ...]) -> None:
    concerned = [part for part in _parts(metrics) if isinstance(part, Fluency) and not part.own]
    if concerned and len(corpus) == 1:
        names = ", ".join(part.label for part in concerned)
        warn(
            f"one image leaves no other image's references to learn from, so {names} is 0; score more images together, "
            "or learn from the image's own references with fluency(own=yes)"
        )


def _parts(metrics: tuple[Metric, ...]) -> list[Metric]:
    """The metrics, with members in the place of combinations, each once."""
    return list(dict.fromkeys(part for metric in metrics for part in metric.parts))


def _meteor_tables(
    corpus: Corpus,
    metrics: tuple[Metric, ...],
    folder: str | None,
    progress: Callable[[float], object] | None,
) -> _core.MeteorTables | None:
    concerned = [part for part in _parts(metrics) if isinstance(part, Meteor)]
    if not concerned:
        return None
    languages = list(dict.fromkeys(metric.language for metric in concerned))
    if len(languages) > 1:
        raise UsageError(f"METEOR in one language at a time, not in {' and '.join(languages)}; score once for each")
    length, image = corpus._core.longest()
    if length > LONGEST_ALIGNED:
        raise DataError(
            f"image {corpus.image_ids[image]!r}: a sentence of {length:,} words; {concerned[0].label} aligns up to "
            f"{LONGEST_ALIGNED:,} (its search grows with the product of the lengths); shorten it or leave METEOR out"
        )
    from capeval.metrics.meteor.tables import load

    return load(folder, languages[0], progress)


def signature(
    metric: Metric,
    corpus: Corpus,
    document_frequency: DocumentFrequency | None,
    tables: _core.MeteorTables | None,
    embedded: EmbeddedCorpus | None = None,
) -> str:
    """What one needs to get a score again, as text."""
    parts = [metric.name, *metric.signature_parts()]
    if tables is not None and any(isinstance(part, Meteor) for part in metric.parts):
        parts += [f"modules:{'+'.join(tables.modules)}", f"tables:{tables.checksum:08x}"]
    if metric.uses_document_frequency:
        source = document_frequency.source if document_frequency else corpus.document_source
        documents = document_frequency.documents if document_frequency else len(corpus)
        parts.append(f"df:{source}({documents})")
    if embedded is not None:
        parts.append(f"embeddings:{embedded.source}")
    if metric.trained_on_references:
        parts.append(f"lm:references({len(corpus)})")
    parts.append(f"tok:{corpus.tokenizer}")
    if corpus.holds_sets:
        parts.append(f"captions:{_span(corpus.candidate_counts)}")
    if not metric.scores_sets:
        parts.append(f"refs:{_span(corpus.reference_counts)}")
    return "|".join([*parts, f"capeval:{_core.__version__}"])


def _span(counts: tuple[int, int]) -> str:
    least, most = counts
    return f"{least}" if least == most else f"{least}-{most}"
