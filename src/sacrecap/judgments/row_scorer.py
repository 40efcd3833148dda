"""Scores of judged captions: every metric over every row; each column of candidates is scored like a system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from sacrecap.choices import DOCUMENTS, Tokenizer
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.corpus.sets import encode_sets
from sacrecap.errors import UsageError, accepted_name, warn
from sacrecap.judgments.judged_rows import Ratings
from sacrecap.resources.needs import Needs
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap.judgments.judged_rows import Judgments, Row
    from sacrecap.metrics import Metric

    Columns: TypeAlias = "dict[str, npt.NDArray[np.float64]]"

"""What document frequencies count: each row with its references, as in wrappers of the COCO suite, or each image
once."""


@dataclass(frozen=True)
class RowScorer:
    """The settings with which captions are scored, and the scoring."""

    metrics: tuple[Metric, ...]
    documents: str = "rows"
    tokenizer: Tokenizer = "ptb"
    needs: Needs = field(default_factory=Needs, repr=False)
    """Values for the needs of the metrics, by image."""

    def __post_init__(self) -> None:
        accepted_name("documents", self.documents, DOCUMENTS)

    def score(
        self, judgments: Judgments, references: Sequence[Sequence[str]]
    ) -> tuple[dict[str, Columns], dict[str, str]]:
        """Scores by metric key and column, aligned with the rows, and signatures by metric key; NaN for no score.

        Scores of a metric are negated if lower scores are better.

        `references`: those of each row, in place of the rows' own.
        """
        columns = judgments.candidates()
        needs = self.needs.with_({}, image_of={str(n): row.image_id for n, row in enumerate(judgments.rows)})
        scores: dict[str, Columns] = {metric.key: {} for metric in self.metrics}
        signatures: dict[str, str] = {}
        for name, captions in columns.items():
            corpus = self._corpus(judgments, captions, references)
            for metrics, frequencies in self._by_frequencies(judgments.rows, references):
                weighted = needs if frequencies is None else needs.with_({"document_frequency": frequencies})
                result = score_corpus(corpus, metrics, needs=weighted, threads=needs.threads)
                for key, score in result.items():
                    scores[key][name] = -score.per_image if score.metric.lower_is_better else score.per_image
                    signatures[key] = score.signature
        return scores, {key: signatures[key] for key in scores}

    def _corpus(self, judgments: Judgments, captions: list[str], references: Sequence[Sequence[str]]) -> Corpus:
        """A column of captions, or the caption sets, with the references; each row is an image."""
        described = {str(number): own for number, own in enumerate(references)}
        if isinstance(judgments, Ratings) and judgments.sets is not None:
            sets = {judgments.source: {str(number): own for number, own in enumerate(judgments.sets)}}
            return encode_sets(sets, described, tokenizer=self.tokenizer, threads=self.needs.threads)[judgments.source]
        candidates = {str(number): caption for number, caption in enumerate(captions)}
        return Corpus(described, candidates, tokenizer=self.tokenizer, threads=self.needs.threads)

    def _by_frequencies(
        self, rows: list[Row], references: Sequence[Sequence[str]]
    ) -> Iterable[tuple[list[Metric], DocumentFrequency | None]]:
        """Metrics that share document frequencies."""
        if self.documents == "rows" or "document_frequency" in self.needs:
            return [(list(self.metrics), None)]
        groups: list[tuple[list[Metric], DocumentFrequency | None]] = []
        rest = [metric for metric in self.metrics if not metric.uses_document_frequency]
        if rest:
            groups.append((rest, None))
        for stem in (False, True):
            concerned = [m for m in self.metrics if m.uses_document_frequency and m.uses_stems == stem]
            if concerned:
                groups.append((concerned, self._of_images(rows, references, stem)))
        return groups

    def _of_images(self, rows: list[Row], references: Sequence[Sequence[str]], stem: bool) -> DocumentFrequency:
        """Each image counts once, with all references that any of its rows has."""
        images: dict[str, dict[str, None]] = {}
        for row, own in zip(rows, references, strict=True):
            images.setdefault(row.image_id, {}).update(dict.fromkeys(own))
        captions = {image: list(own) for image, own in images.items()}
        return DocumentFrequency.build(captions, tokenizer=self.tokenizer, stem=stem, threads=self.needs.threads)


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
    if count is not None and not 1 <= count <= most:
        raise UsageError(f"references must be from 1 to {most}, as many as the judgments have, got {count}")
