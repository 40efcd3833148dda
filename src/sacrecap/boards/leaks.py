"""What keeps a board's numbers from telling about single hidden references (docs/howto/make-a-board.md).

Real systems are far below the default limits of degenerate captions: of ten systems' and people's captions of COCO,
Flickr8k and abstract scenes, the worst has 0.4 % empty ones, 13 % that are the same, no caption of more than 49 words,
and none whose half is one word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap._core import Statistics


DECIMALS = 4
LIMITS = (0.001, 0.01, 0.05)


def rounded_score(value: float) -> float:
    """The number as anybody but the server may know it."""
    # Adding 0 makes 0 of -0, whose sign would tell more.
    return round(value, DECIMALS) + 0.0


def limit_of(p: float) -> str:
    """`< 0.01`, or `≥ 0.05` if it is below none of the limits."""
    return next((f"< {limit}" for limit in LIMITS if p < limit), f"≥ {LIMITS[-1]}")


FEWEST = 0.05
"""Share of the images that have to count."""


def pseudo_values(statistics: Statistics) -> npt.NDArray[np.float64]:
    """What each image adds to the score, float64 of shape (images,): its pseudo-value (Quenouille 1956)."""
    without = np.frombuffer(statistics.scores_without_each())
    return len(without) * statistics.score() - (len(without) - 1) * without


def hangs_on_few(values: npt.NDArray[np.float64]) -> bool:
    """Whether fewer than 5 % of the images count; also if none adds anything, which would tell as much.

    Less than one of a million is nothing: BLEU starts from matches of 1e-15, and sums round.
    """
    squares = np.where(np.abs(values) < 1e-6, 0.0, values) ** 2
    return bool(squares.sum() ** 2 <= FEWEST * len(values) * (squares**2).sum())


_WORD = re.compile(r"[^\W_]+")
_FEW_WORDS = 6
"""A shorter caption may say one word as often as it likes."""


@dataclass(frozen=True)
class CaptionLimits:
    """Of the captions of a file, at most these percentages may be degenerate, and one and the same."""

    most_degenerate: int = 5
    most_same: int = 30
    longest_words: int = 100
    fewest_words: int = 1
    """The longest n-gram of a BLEU among the metrics: it hangs on the captions that have one."""


def problems(captions: Iterable[str], limits: CaptionLimits) -> list[str]:
    """One sentence for each limit that the captions exceed, with the counts."""
    kinds: Counter[str] = Counter()
    same: Counter[str] = Counter()
    count = 0
    for caption in captions:
        count += 1
        words = _WORD.findall(caption.lower())
        if kind := _degenerate(words, limits):
            kinds[kind] += 1
        if words:
            same[" ".join(words)] += 1
    sentences = []
    if kinds.total() > _allowed(count, limits.most_degenerate, least=1):
        sentences.append(
            f"{kinds.total():,} of {count:,} captions are degenerate, and this board takes "
            f"{limits.most_degenerate} %: {', '.join(f'{number:,} {kind}' for kind, number in kinds.most_common())}."
        )
    for caption, number in same.most_common(1):
        if number > _allowed(count, limits.most_same, least=2):
            sentences.append(
                f"{number:,} of {count:,} captions are the same, {caption[:60]!r}, and this board takes "
                f"{limits.most_same} %."
            )
    return sentences


def _degenerate(words: list[str], limits: CaptionLimits) -> str:
    """What is wrong with a caption of these words; empty if nothing is."""
    if not words:
        return "without a letter or digit"
    if len(words) > limits.longest_words:
        return f"of more than {limits.longest_words} words"
    if len(words) < limits.fewest_words:
        return f"of fewer than {limits.fewest_words} words"
    if len(words) >= _FEW_WORDS and 2 * max(Counter(words).values()) > len(words):
        return "of which one word is more than half"
    return ""


def _allowed(count: int, percent: int, least: int) -> int:
    """Captions of `count` that a percentage allows; a few in a small file, unless the limit is 0 %."""
    return max(least, count * percent // 100) if percent else 0
