"""Scores of judged captions: every metric over every row; each column of candidates is scored like a system.

They may be kept in files, so that a run that was cut off goes on where it was. Scores that others computed are aligned
with the rows of the judgments.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sacrecap import _core
from sacrecap.choices import DOCUMENTS, Tokenizer
from sacrecap.corpus.corpus import Corpus, as_candidates
from sacrecap.corpus.sets import encode_sets
from sacrecap.data.tables import of_columns
from sacrecap.data.writers import atomic_write
from sacrecap.errors import DataError, UsageError, accepted_name, warn
from sacrecap.judgments.bootstrap import Columns
from sacrecap.judgments.judged_rows import Judgments, Ratings, Row
from sacrecap.metrics import Metric
from sacrecap.metrics.cider import frequencies_for
from sacrecap.metrics.outside import outside_scores
from sacrecap.resources.needs import Needs
from sacrecap.resources.outside_scores import OutsideScores
from sacrecap.scoring.score import score_corpus, standard_in, with_standard
from sacrecap.scoring.signature import together


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
    """The settings with which captions are scored, and the scoring.

    With a folder, each metric is scored by itself, and its scores are kept in a file of the folder, named by all that
    they depend on.
    """

    metrics: tuple[Metric, ...]
    documents: str = "rows"
    tokenizer: Tokenizer = "ptb"
    needs: Needs = field(default_factory=Needs, repr=False)
    """Values for the needs of the metrics, by image."""
    outside: Mapping[str, OutsideScores] = field(default_factory=dict, repr=False)
    """Scores that others computed, by column of candidates."""
    folder: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        accepted_name("documents", self.documents, DOCUMENTS)

    def score(self, judgments: Judgments, references: Sequence[Sequence[str]]) -> ScoredRows:
        """Scores by metric key and column, aligned with the rows, and signatures by metric key; NaN for no score.

        Scores of a metric are negated if lower scores are better.

        `references`: those of each row, in place of the rows' own. If no row has any, only the metrics are scored that
        can do without; `UsageError` if none can.
        """
        if self.folder is not None:
            parts = [self._from_file(Path(self.folder), metric, judgments, references) for metric in self.metrics]
            standards = {key: scale for part in parts for key, scale in part.standard.get("standard", {}).items()}
            return ScoredRows(
                {key: columns for part in parts for key, columns in part.scores.items()},
                {key: signature for part in parts for key, signature in part.signatures.items()},
                {"standard": standards} if standards else {},
            )
        described_by = references if any(references) else None
        scored = {metric.key: metric for metric in self.metrics}
        if described_by is None:
            without = {key: metric.without_references for key, metric in scored.items()}
            scored = {
                key: metric for key, metric in without.items() if metric and not metric.status(self.needs).hindrance
            }
            if not scored:
                raise UsageError("no metric of this call can do without references; leave out the number 0")
        metrics = list(dict.fromkeys(scored.values()))
        needs = self.needs.with_({}, image_of={str(number): row.image_id for number, row in enumerate(judgments.rows)})
        if self.documents == "images" and "document_frequency" not in needs:
            # Each image counts once, with all references that any of its rows has.
            images: dict[str, dict[str, None]] = {}
            for row, sentences in zip(judgments.rows, references, strict=True):
                images.setdefault(row.image_id, {}).update(dict.fromkeys(sentences))
            documents = {image: list(texts) for image, texts in images.items()}
            counted = frequencies_for(metrics, documents, tokenizer=self.tokenizer, threads=needs.threads)
            needs = needs.with_({"document_frequency": counted})
        scores: dict[str, Columns] = {key: {} for key in scored}
        signatures: dict[str, list[str]] = {}
        columns = judgments.candidates()
        corpora = {name: self._corpus(judgments, captions, described_by) for name, captions in columns.items()}
        outside = {name: {"scores": self.outside[name]} if self.outside else {} for name in corpora}
        needs_of = with_standard(metrics, corpora, {name: needs.with_(scores) for name, scores in outside.items()})
        for name, corpus in corpora.items():
            result = score_corpus(corpus, metrics, needs=needs_of[name])
            for key, metric in scored.items():
                score = result[metric.key]
                scores[key][name] = -score.per_image if score.metric.lower_is_better else score.per_image
                signatures.setdefault(key, []).append(score.signature)
        standard = standard_in(next(iter(needs_of.values())))
        return ScoredRows(scores, {key: together(signatures[key]) for key in scores}, standard)

    def _from_file(
        self, folder: Path, metric: Metric, judgments: Judgments, references: Sequence[Sequence[str]]
    ) -> ScoredRows:
        """The scores of a metric from its file, which is written first where it is not there."""
        inputs = {
            **self.needs.described(),
            "scores": sorted((name, scores.signature) for name, scores in self.outside.items()),
        }
        how = [str(metric), _core.__version__, self.documents, self.tokenizer, inputs]
        judged = [[row.image_id for row in judgments.rows], references, judgments.candidates()]
        digest = hashlib.sha256(json.dumps([how, judged], default=list).encode()).hexdigest()[:16]
        path = folder / f"{judgments.dataset}-{metric.name}-{digest}.json"
        if not path.exists():
            scored = replace(self, metrics=(metric,), folder=None).score(judgments, references)
            [columns], [signature] = scored.scores.values(), scored.signatures.values()
            scores = {
                name: [None if math.isnan(value) else value for value in column.tolist()]
                for name, column in columns.items()
            }
            with atomic_write(path, "w") as file:
                document = {"metric": metric.key, "signature": signature, "scores": scores, "standard": scored.standard}
                json.dump(document, file)
        document = json.loads(path.read_bytes())
        columns = {name: np.array(values, dtype=np.float64) for name, values in document["scores"].items()}
        return ScoredRows({metric.key: columns}, {metric.key: document["signature"]}, document["standard"])

    def _corpus(self, judgments: Judgments, captions: list[str], references: Sequence[Sequence[str]] | None) -> Corpus:
        """A column of captions, or the caption sets, with the references; each row is an image of that number."""
        tokenizer, threads = self.tokenizer, self.needs.threads
        names = list(map(str, range(len(captions))))
        described = None if references is None else dict(zip(names, references, strict=True))
        if isinstance(judgments, Ratings) and judgments.sets is not None:
            sets = {judgments.source: dict(zip(names, judgments.sets, strict=True))}
            return encode_sets(sets, described, tokenizer=tokenizer, threads=threads)[judgments.source]
        candidates = dict(zip(names, captions, strict=True))
        if described is not None:
            return Corpus(described, candidates, tokenizer=tokenizer, threads=threads)
        return Corpus.of_part(None, {"": as_candidates(candidates)}, tokenizer=tokenizer, threads=threads)[""]


def unscored(columns: Columns) -> int:
    """Number of rows without a score in one of the columns."""
    return int(np.isnan(np.array(list(columns.values()))).any(axis=0).sum())


def first_references(rows: list[Row], count: int | None) -> list[Sequence[str]]:
    """The first `count` references of each row, or all it has; all for None. `UsageError` if none has as many."""
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


def outside_of(needs: Needs, judgments: Judgments) -> dict[str, OutsideScores]:
    """The scores that a call was given, for each column of candidates; nothing without.

    Rows that name captions or systems may come in any order, and so may rows of images where each has one judgment.
    Others are one for each judgment, in the order of the judgments' file. Judgments that the protocol leaves out may
    have a row, but need not. Rated captions have a column per metric. Pairs have two, `NAME.b` and `NAME.c`, or one,
    `NAME`: by how much B is better.

    Raises `DataError` for scores that do not fit the judgments.
    """
    scores = outside_scores(needs.with_({"scores": _in_table(needs.get("scores"), judgments)}))
    if scores is None:
        return {}
    images, captions = [row.image_id for row in judgments.rows], judgments.candidates()
    if scores.captions is not None or scores.systems is not None:
        systems = judgments.systems()
        if scores.captions is None and systems is None:
            raise DataError(f"{scores.source} names systems, and {judgments.source} names none; add a column caption")
        of = {name: None if systems is None else systems[name] for name in captions}
        return {name: scores.aligned(images, texts, of[name]) for name, texts in captions.items()}
    names_images = scores.images is not None and len({*scores.images}) == scores.rows
    if len(captions) == 1 and names_images and len({*images}) == len(images):
        return {name: scores.aligned(images, texts) for name, texts in captions.items()}
    aligned = _in_order(scores, judgments)
    if isinstance(judgments, Ratings):
        return {"caption": replace(aligned, of_sets=judgments.sets is not None)}
    sides: dict[str, dict[str, list[float]]] = {"b": {}, "c": {}}
    for name, values in aligned.columns.items():
        stem, dot, side = name.rpartition(".")
        if not dot or side not in sides:
            sides["b"][name], sides["c"][name] = values, [0.0] * len(values)
        elif f"{stem}.b" not in aligned.columns or f"{stem}.c" not in aligned.columns:
            raise DataError(
                f"{scores.source}: column {name!r} without its partner; scores of pairs are {stem}.b and {stem}.c"
            )
        else:
            sides[side][stem] = values
    return {side: replace(aligned, columns=columns) for side, columns in sides.items()}


def for_judgments(needs: Needs, judgments: Judgments) -> Needs:
    """The needs, by which a metric's name may be a column of the scores."""
    outside = outside_of(needs, judgments)
    return needs.with_({"scores": next(iter(outside.values()))}) if outside else needs


def _in_order(scores: OutsideScores, judgments: Judgments) -> OutsideScores:
    number, every, judged = scores.rows, judgments.in_file, len(judgments.rows)
    if number not in (every, judged):
        left = "" if every == judged else f" (or {judged:,}, without those left out)"
        raise DataError(
            f"{scores.source}: {number:,} rows of scores for {every:,} judgments{left}; give a row for each"
        )
    places = [row.place for row in judgments.rows] if number == every else list(range(number))
    for row, place in zip(judgments.rows, places, strict=True):
        if scores.images is not None and scores.images[place] != row.image_id:
            raise DataError(
                f"{scores.source}: row {place + 1} is of image {scores.images[place]!r}, and that judgment of image "
                f"{row.image_id!r}; give the rows in the order of the judgments, or add a column caption"
            )
    return replace(scores.select(places), images=None)


def _in_table(scores: Any, judgments: Judgments) -> Any:
    """The scores; those by name and column of candidates, `{"mine": {"caption": …}}`, as columns of a table."""
    if not isinstance(scores, Mapping) or not any(isinstance(values, Mapping) for values in scores.values()):
        return scores
    columns: dict[str, list[float]] = {}
    expected = list(judgments.candidates())
    for name, values in scores.items():
        if not isinstance(values, Mapping) or set(values) != set(expected):
            listed = f"the columns {', '.join(map(repr, values))}" if isinstance(values, Mapping) else f"{values!r:.60}"
            needed = ", ".join(f"{column!r}: numbers" for column in expected)
            raise DataError(f"scores {name!r}: got {listed}; these judgments need {{{needed}}}")
        for column in expected:
            where = f"scores {name!r}, column {column!r}"
            try:
                numbers = np.asarray(values[column], dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise DataError(f"{where}: not a sequence of numbers: {error}") from None
            if numbers.shape != (len(judgments.rows),):
                shape = f"{len(numbers):,} numbers" if numbers.ndim == 1 else f"an array of shape {numbers.shape}"
                raise DataError(f"{where}: {shape} for {len(judgments.rows):,} judgments; give one number for each")
            if not np.isfinite(numbers).all():
                index = int(np.argmin(np.isfinite(numbers)))
                raise DataError(f"{where}: expected finite numbers, got {numbers[index]} at place {index}")
            columns[name if len(expected) == 1 else f"{name}.{column}"] = numbers.tolist()
    return OutsideScores.of_table(of_columns("the scores", columns))
