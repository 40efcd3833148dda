"""Scores of judged captions that are kept in files, so that a run that was cut off goes on where it was."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.data.atomic import atomic_write
from sacrecap.judgments.row_scorer import RowScorer, ScoredRows

if TYPE_CHECKING:
    from sacrecap.judgments.judged_rows import Judgments
    from sacrecap.metrics import Metric


@dataclass(frozen=True)
class KeptScores(RowScorer):
    """Scores each metric by itself, and keeps its scores in a file of the folder, named by all that they depend on."""

    folder: str = ""

    def score(self, judgments: Judgments, references: Sequence[Sequence[str]]) -> ScoredRows:
        """As `RowScorer.score`, from the files that are there."""
        parts = [self._of(metric, judgments, references) for metric in self.metrics]
        standards = {key: scale for part in parts for key, scale in part.standard.get("standard", {}).items()}
        return ScoredRows(
            {key: columns for part in parts for key, columns in part.scores.items()},
            {key: signature for part in parts for key, signature in part.signatures.items()},
            {"standard": standards} if standards else {},
        )

    def _of(self, metric: Metric, judgments: Judgments, references: Sequence[Sequence[str]]) -> ScoredRows:
        import numpy as np

        path = self._path(metric, judgments, references)
        if not path.exists():
            alone = RowScorer((metric,), self.documents, self.tokenizer, self.needs, self.outside)
            _keep(path, metric, alone.score(judgments, references))
        document = json.loads(path.read_bytes())
        columns = {name: np.array(values, dtype=np.float64) for name, values in document["scores"].items()}
        return ScoredRows({metric.key: columns}, {metric.key: document["signature"]}, document["standard"])

    def _path(self, metric: Metric, judgments: Judgments, references: Sequence[Sequence[str]]) -> Path:
        inputs = {
            **self.needs.described(),
            "scores": sorted((name, scores.signature) for name, scores in self.outside.items()),
        }
        how = [str(metric), _core.__version__, self.documents, self.tokenizer, inputs]
        judged = [[row.image_id for row in judgments.rows], references, judgments.candidates()]
        key = hashlib.sha256(json.dumps([how, judged], default=list).encode()).hexdigest()[:16]
        return Path(self.folder, f"{judgments.dataset}-{metric.name}-{key}.json")


def _keep(path: Path, metric: Metric, scored: ScoredRows) -> None:
    [columns] = scored.scores.values()
    scores = {
        name: [None if math.isnan(value) else value for value in column.tolist()] for name, column in columns.items()
    }
    document = {
        "metric": metric.key,
        "signature": scored.signatures[metric.key],
        "scores": scores,
        "standard": scored.standard,
    }
    with atomic_write(path, "w") as file:
        json.dump(document, file)
