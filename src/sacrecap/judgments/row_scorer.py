"""Scores of judged captions: every metric over every row; each column of candidates is scored like a system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sacrecap.choices import DOCUMENTS, Tokenizer
from sacrecap.corpus.corpus import Corpus, as_candidates
from sacrecap.corpus.sets import encode_sets
from sacrecap.errors import UsageError, accepted_name, warn
from sacrecap.judgments.judged_rows import Ratings
from sacrecap.metrics.cider import frequencies_for
from sacrecap.resources.needs import Needs
from sacrecap.scoring.score import score_corpus
from sacrecap.scoring.signature import together
from sacrecap.scoring.standard import standard_in, with_standard

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.judgments.judged_rows import Judgments, Row
    from sacrecap.metrics import Metric
    from sacrecap.resources.outside_scores import OutsideScores

    Columns: TypeAlias = "dict[str, npt.NDArray[np.float64]]"


class ScoredRows(NamedTuple):
    """Scores of judged captions."""

    scores: dict[str, Columns]
    """By metric key and column of candidates."""
    signatures: dict[str, str]
    """By metric key."""
    standard: dict[str, Any]
    """The entry of a JSON document with the standard of all captions, if there is one."""


@dataclass(frozen=True)
class RowScorer:
    """The settings with which captions are scored, and the scoring."""

    metrics: tuple[Metric, ...]
    documents: str = "rows"
    tokenizer: Tokenizer = "ptb"
    needs: Needs = field(default_factory=Needs, repr=False)
    """Values for the needs of the metrics, by image."""
    outside: Mapping[str, OutsideScores] = field(default_factory=dict, repr=False)
    """Scores that others computed, by column of candidates."""

    def __post_init__(self) -> None:
        accepted_name("documents", self.documents, DOCUMENTS)

    def score(self, judgments: Judgments, references: Sequence[Sequence[str]]) -> ScoredRows:
        """Scores by metric key and column, aligned with the rows, and signatures by metric key; NaN for no score.

        Scores of a metric are negated if lower scores are better.

        `references`: those of each row, in place of the rows' own. If no row has any, only the metrics are scored that
        can do without; `UsageError` if none can.
        """
        described = any(references)
        scored = {metric.key: metric for metric in self.metrics} if described else self._without_references()
        columns = judgments.candidates()
        image_of = {str(number): row.image_id for number, row in enumerate(judgments.rows)}
        counted = self._frequencies(scored.values(), judgments.rows, references)
        needs = self.needs.with_({}, image_of=image_of).with_(counted)
        scores: dict[str, Columns] = {key: {} for key in scored}
        signatures: dict[str, list[str]] = {}
        metrics = list(dict.fromkeys(scored.values()))
        described_by = references if described else None
        corpora = {name: self._corpus(judgments, captions, described_by) for name, captions in columns.items()}
        outside = {name: {"scores": self.outside[name]} if self.outside else {} for name in corpora}
        needs_of = with_standard(metrics, corpora, {name: needs.with_(scores) for name, scores in outside.items()})
        for name, corpus in corpora.items():
            result = score_corpus(corpus, metrics, needs=needs_of[name], threads=needs.threads)
            for key, metric in scored.items():
                score = result[metric.key]
                scores[key][name] = -score.per_image if score.metric.lower_is_better else score.per_image
                signatures.setdefault(key, []).append(score.signature)
        standard = standard_in(next(iter(needs_of.values())))
        return ScoredRows(scores, {key: together(signatures[key]) for key in scores}, standard)

    def _without_references(self) -> dict[str, Metric]:
        """The metrics as they score without references, by the keys of the metrics that they stand for."""
        metrics = {metric.key: metric.without_references for metric in self.metrics}
        scorable = {
            key: metric
            for key, metric in metrics.items()
            if metric is not None and not metric.status(self.needs).hindrance
        }
        if not scorable:
            raise UsageError("no metric of this call can do without references; leave out the number 0")
        return scorable

    def _corpus(self, judgments: Judgments, captions: list[str], references: Sequence[Sequence[str]] | None) -> Corpus:
        """A column of captions, or the caption sets, with the references; each row is an image of that number."""
        tokenizer, threads = self.tokenizer, self.needs.threads
        described = (
            None if references is None else {str(number): sentences for number, sentences in enumerate(references)}
        )
        if isinstance(judgments, Ratings) and judgments.sets is not None:
            sets = {judgments.source: {str(number): captions for number, captions in enumerate(judgments.sets)}}
            return encode_sets(sets, described, tokenizer=tokenizer, threads=threads)[judgments.source]
        candidates = {str(number): caption for number, caption in enumerate(captions)}
        if described is not None:
            return Corpus(described, candidates, tokenizer=tokenizer, threads=threads)
        return Corpus.of_part(None, {"": as_candidates(candidates)}, tokenizer=tokenizer, threads=threads)[""]

    def _frequencies(
        self, metrics: Iterable[Metric], rows: list[Row], references: Sequence[Sequence[str]]
    ) -> dict[str, tuple[DocumentFrequency, ...]]:
        """Where images are the documents: each counts once, with all references that any of its rows has."""
        if self.documents == "rows" or "document_frequency" in self.needs:
            return {}
        images: dict[str, dict[str, None]] = {}
        for row, sentences in zip(rows, references, strict=True):
            images.setdefault(row.image_id, {}).update(dict.fromkeys(sentences))
        captions = {image: list(texts) for image, texts in images.items()}
        counted = frequencies_for(metrics, captions, tokenizer=self.tokenizer, threads=self.needs.threads)
        return {"document_frequency": counted}


def unscored(columns: Columns) -> int:
    """Number of rows without a score in one of the columns."""
    import numpy as np

    return int(np.isnan(np.array(list(columns.values()))).any(axis=0).sum())


def first_references(rows: list[Row], count: int | None) -> list[Sequence[str]]:
    """The first `count` references of each row, all of them for None.

    Raises `UsageError` if no row has as many; rows with fewer keep all they have.
    """
    check_count(rows, count)
    fewer = sum(len(row.references) < count for row in rows) if count is not None else 0
    if fewer:
        warn(f"{fewer:,} rows have fewer than {count} references, and are scored against those they have")
    return [row.references[:count] for row in rows]


def drawn_references(rows: list[Row], count: int, generator: np.random.Generator) -> list[Sequence[str]]:
    """`count` references of each image, drawn without replacement; the same for all rows of an image."""
    check_count(rows, count)
    chosen: dict[tuple[str, int], list[int]] = {}
    drawn: list[Sequence[str]] = []
    for row in rows:
        have = len(row.references)
        key = (row.image_id, have)
        if key not in chosen:
            chosen[key] = sorted(generator.permutation(have)[:count].tolist())
        drawn.append([row.references[number] for number in chosen[key]])
    return drawn


def check_count(rows: list[Row], count: int | None) -> None:
    """Raises `UsageError` for a count of references that no row has."""
    most = max(len(row.references) for row in rows)
    if count is not None and not 0 <= count <= most:
        raise UsageError(f"references must be from 0 to {most}, as many as the judgments have, got {count}")
