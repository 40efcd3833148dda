"""Degenerate captions, which describe nothing: a file with many of them is not a system's output, but a probe of the
references.

A file with empty captions for most images turns a corpus score into the scores of the few others. Real systems are
far below the default limits: of ten systems' and people's captions of COCO, Flickr8k and abstract scenes, the worst has
0.4 % empty ones, 13 % that are the same, no caption of more than 49 words, and none whose half is one word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

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
    found = []
    if kinds.total() > _allowed(count, limits.most_degenerate, least=1):
        found.append(
            f"{kinds.total():,} of {count:,} captions are degenerate, and this benchmark takes "
            f"{limits.most_degenerate} %: {', '.join(f'{number:,} {kind}' for kind, number in kinds.most_common())}."
        )
    for caption, number in same.most_common(1):
        if number > _allowed(count, limits.most_same, least=2):
            found.append(
                f"{number:,} of {count:,} captions are the same, {caption[:60]!r}, and this benchmark takes "
                f"{limits.most_same} %."
            )
    return found


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
