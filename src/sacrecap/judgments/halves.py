"""People and metrics under equal conditions: one half of a pair's references judges, the other half predicts.

The CIDEr paper's comparison with people (ABSTRACT-50S and PASCAL-50S, 24 of 48 references): the votes of one half are
the truth; people predict it by the votes of the other half, and metrics by scores against the references of that half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacrecap.errors import UsageError
from sacrecap.judgments import accuracy
from sacrecap.judgments.judged_rows import Pairs

if TYPE_CHECKING:
    import numpy as np

    from sacrecap.judgments.bootstrap import Estimate, Floats
    from sacrecap.judgments.judged_rows import Ratings
    from sacrecap.judgments.row_scorer import RowScorer
    from sacrecap.scoring.intervals import Resampling

PEOPLE = "people"


def halves(
    judgments: Pairs | Ratings, scorer: RowScorer, splits: int, ties: str, resampling: Resampling
) -> dict[str, dict[str, Estimate]]:
    """Accuracy by category, over this number of random splits, of each metric and of `people`.

    Raises `UsageError` if there is not one vote per reference, or no pair has two references.
    """
    import numpy as np

    votes = judgments.reference_votes if isinstance(judgments, Pairs) else None
    if not isinstance(judgments, Pairs) or votes is None or max(map(len, votes)) < 2:
        raise UsageError(
            f"{judgments.source} has no vote on each of several references, so these cannot be split into halves; "
            "ABSTRACT-50S, PASCAL-50S and exports of triplet studies have"
        )
    generator = np.random.default_rng(resampling.seed)
    names = [*(metric.key for metric in scorer.metrics), PEOPLE]
    right = {name: np.zeros(len(judgments.rows)) for name in names}
    decided = np.zeros(len(judgments.rows))
    for _ in range(splits):
        truth, differences = _predict(judgments, scorer, generator)
        decided += truth != 0
        for name, difference in differences.items():
            right[name] += accuracy.credit(difference, truth, ties) * (truth != 0)
    return {name: accuracy.shares(correct, decided, judgments, resampling) for name, correct in right.items()}


def _predict(pairs: Pairs, scorer: RowScorer, generator: np.random.Generator) -> tuple[Floats, dict[str, Floats]]:
    """The truth, by one half of the votes; and how much each metric, and people, prefer B by the other half."""
    import numpy as np

    truth, votes, references = [], [], []
    for row, row_votes in zip(pairs.rows, pairs.reference_votes or [], strict=True):
        order = generator.permutation(len(row_votes)).tolist()
        judging, predicting = order[: len(row_votes) // 2], sorted(order[len(row_votes) // 2 :])
        truth.append(sum(row_votes[index] for index in judging))
        votes.append(sum(row_votes[index] for index in predicting))
        references.append([row.references[index] for index in predicting])
    scores = scorer.score(pairs, references).scores
    differences = {name: accuracy.difference(columns) for name, columns in scores.items()}
    return np.sign(np.array(truth, dtype=np.float64)), {**differences, PEOPLE: np.array(votes, dtype=np.float64)}
