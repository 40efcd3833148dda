"""People predict people: a metric above this agrees with people better than people agree with each other.

- Forced choices that are decided by votes: the votes are split into halves; the majority of one half is the truth that
  the majority of the other predicts. Averaged over splits. (ABSTRACT-50S: 24 votes against 24.)
- Forced choices with votes of other people in addition to the decision: the majority of these votes predicts it: what
  people like against what is like the captions that people write (CIDEr paper, appendix III).
- Ratings by several people: each one's ratings predict those of the others. (Flickr8k Expert.)
- Shares of yes: one vote of a row predicts the share of the others. (Flickr8k CrowdFlower.)

People and metrics under equal conditions (the CIDEr paper's comparison, 24 of 48 references): one half of a pair's
references judges, by its votes; people predict it by the votes of the other half, and metrics by scores against the
references of that half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sacrecap.errors import UsageError
from sacrecap.judgments import accuracy, correlation
from sacrecap.judgments.bootstrap import Estimate, image_numbers
from sacrecap.judgments.judged_rows import Pairs

if TYPE_CHECKING:
    from sacrecap.judgments.bootstrap import Floats
    from sacrecap.judgments.judged_rows import Ratings
    from sacrecap.judgments.row_scorer import RowScorer
    from sacrecap.scoring.intervals import Resampling


SPLITS = 100
"""Random halves of the votes."""
VOTE_SPLITS = 5
"""Random choices of the predicting vote."""


def people(
    judgments: Pairs | Ratings, ties: str, resampling: Resampling, threads: int = 0, raters: str = "each"
) -> tuple[str, dict[str, Estimate]] | None:
    """How people were split, in words, and their statistics; None if each judgment is one person's.

    `raters`: whether one rater predicts each of the others, or their mean or median.
    """
    if isinstance(judgments, Pairs):
        if judgments.votes is None:
            direct = direct_votes(judgments, ties, resampling)
            return None if direct is None else ("the majority of direct votes predicts the consensus", direct)
        if min((len(person_votes) for person_votes in judgments.votes if person_votes), default=0) < 2:
            return None
        return f"half of the votes predicts the other half, {SPLITS} splits", _halves(judgments, ties, resampling)
    if judgments.votes is not None:
        return f"one vote predicts the others, {VOTE_SPLITS} splits", _single_votes(
            judgments, judgments.votes, resampling, threads
        )
    if min(map(len, judgments.ratings)) < 2:
        return None
    rest = "the others" if raters == "each" else f"the {raters} of the others"
    return f"each rater predicts {rest}", _raters(judgments, raters, resampling, threads)


def direct_votes(judgments: Pairs | Ratings, ties: str, resampling: Resampling) -> dict[str, Estimate] | None:
    """The majority of the direct votes predicts the decision, by category; None if there are no such votes."""
    if not isinstance(judgments, Pairs) or judgments.direct is None:
        return None
    totals = np.array(list(map(sum, judgments.direct)), dtype=float)
    has_votes = np.array([bool(votes) for votes in judgments.direct]) & (np.asarray(judgments.preferred) != 0)
    right = accuracy.credit(totals, judgments.preferred, ties) * has_votes
    return accuracy.shares(right, has_votes.astype(float), judgments, resampling)


def _halves(pairs: Pairs, ties: str, resampling: Resampling) -> dict[str, Estimate]:
    generator = np.random.default_rng(resampling.seed)
    right, decided = np.zeros(len(pairs.rows)), np.zeros(len(pairs.rows))
    for _ in range(SPLITS):
        truth, predicted = np.sign(_split(pairs.votes or [], generator))
        right += accuracy.credit(predicted, truth, ties) * (truth != 0)
        decided += truth != 0
    return accuracy.shares(right, decided, pairs, resampling)


def _split(votes: list[list[int]], generator: np.random.Generator) -> Floats:
    """Sums of two random halves of each pair's votes, shape (2, pairs)."""
    sums = []
    for people in votes:
        shuffled = generator.permutation(people)
        half = len(people) // 2
        sums.append((shuffled[:half].sum(), shuffled[half : 2 * half].sum()))
    halves: Floats = np.array(sums, dtype=np.float64).T
    return halves


def _raters(ratings: Ratings, raters: str, resampling: Resampling, threads: int) -> dict[str, Estimate]:
    images = image_numbers([row.image_id for row in ratings.rows])
    parts = []
    for rater in range(min(map(len, ratings.ratings))):
        rating = np.array([values[rater] for values in ratings.ratings])
        rest = [(*values[:rater], *values[rater + 1 :]) for values in ratings.ratings]
        parts.append(correlation.correlate(rating, correlation.merged(rest, raters), images, resampling, threads))
    return _mean(parts)


def _single_votes(
    ratings: Ratings, votes: list[tuple[int, int]], resampling: Resampling, threads: int
) -> dict[str, Estimate]:
    """Rows of a single vote are left out."""
    generator = np.random.default_rng(resampling.seed)
    several = [number for number, (yes, no) in enumerate(votes) if yes + no > 1]
    yes, total = np.array([(votes[n][0], sum(votes[n])) for n in several], dtype=float).T
    images = image_numbers([ratings.rows[number].image_id for number in several])
    parts = []
    for _ in range(VOTE_SPLITS):
        vote = (generator.random(len(yes)) < yes / total).astype(float)
        rest = (yes - vote) / (total - 1)
        parts.append(correlation.correlate(vote, rest[:, None].tolist(), images, resampling, threads))
    return _mean(parts)


def _mean(parts: list[dict[str, Estimate]]) -> dict[str, Estimate]:
    return {name: Estimate.mean([part[name] for part in parts]) for name in parts[0]}


PEOPLE = "people"


def halves_of_references(
    judgments: Pairs | Ratings, scorer: RowScorer, splits: int, ties: str, resampling: Resampling
) -> dict[str, dict[str, Estimate]]:
    """Accuracy by category, over this number of random splits, of each metric and of `people`: one half of the votes is
    the truth; people predict it by the other half, and metrics by the references of that half.

    Raises `UsageError` if there is not one vote per reference, or no pair has two references.
    """
    votes = judgments.reference_votes if isinstance(judgments, Pairs) else None
    if not isinstance(judgments, Pairs) or votes is None or max(map(len, votes)) < 2:
        raise UsageError(
            f"{judgments.source} has no vote on each of several references, so these cannot be split into halves; "
            "ABSTRACT-50S, PASCAL-50S and exports of triplet studies have"
        )
    generator = np.random.default_rng(resampling.seed)
    decided = np.zeros(len(judgments.rows))
    right = {name: decided.copy() for name in (*(metric.key for metric in scorer.metrics), PEOPLE)}
    for _ in range(splits):
        sums, references = [], []
        for row, row_votes in zip(judgments.rows, votes, strict=True):
            order = generator.permutation(len(row_votes)).tolist()
            judging, predicting = order[: len(row_votes) // 2], sorted(order[len(row_votes) // 2 :])
            sums.append([sum(row_votes[index] for index in half) for half in (judging, predicting)])
            references.append([row.references[index] for index in predicting])
        truth, by_people = np.sign(np.array(sums, dtype=np.float64).T)
        scores = scorer.score(judgments, references).scores
        decided += truth != 0
        for name in right:
            difference = by_people if name == PEOPLE else accuracy.difference(scores[name])
            right[name] += accuracy.credit(difference, truth, ties) * (truth != 0)
    return {name: accuracy.shares(correct, decided, judgments, resampling) for name, correct in right.items()}
