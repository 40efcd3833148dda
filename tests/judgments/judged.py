"""Small judgments for tests, as files and as values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from sacrecap.judgments import Pairs, Ratings
from sacrecap.judgments.judged_rows import Row
from sacrecap.metrics import PythonMetric

REFERENCES = (
    ("a dog runs on the beach", "a brown dog runs along the sea"),
    ("two men play chess", "two old men sit at a board"),
    ("a red bus in the street", "a bus stops in a busy street"),
    ("a girl eats an apple", "a child bites into a red apple"),
    ("a cat sleeps on a sofa", "a grey cat lies on a couch"),
    ("a plane in the sky", "an aeroplane flies above clouds"),
)
GOOD = (
    "a dog runs along the beach",
    "two men sit at a board",
    "a bus in a street",
    "a girl bites an apple",
    "a cat lies on a sofa",
    "a plane flies in the sky",
)
POOR = ("a man on a horse", "two dogs", "a street at night", "a boy with a ball", "a dog sleeps", "the sea")


def ratings(values: Sequence[Sequence[float]], captions: Sequence[str] = GOOD, **more: Any) -> Ratings:
    """One rated caption per image."""
    rows = [Row(str(number), REFERENCES[number % 6], number) for number in range(len(values))]
    captions = [captions[number % 6] for number in range(len(values))]
    return Ratings("ratings", "test", rows, captions, [tuple(own) for own in values], len(values), **more)


def pairs(preferred: Sequence[int], **more: Any) -> Pairs:
    """Pairs of a good and a poor caption, in turns as B and as C; good is preferred at +1 where it is B."""
    rows = [Row(str(number), REFERENCES[number % 6], number) for number in range(len(preferred))]
    good, poor = ([column[number % 6] for number in range(len(preferred))] for column in (GOOD, POOR))
    more.setdefault("categories", ["HC" if number % 2 else "HM" for number in range(len(preferred))])
    return Pairs("pairs", "test", rows, good, poor, list(preferred), in_file=len(preferred), **more)


def pair_lines() -> list[dict[str, Any]]:
    """Six pairs as the generic format has them; people prefer the good caption."""
    return [
        {
            "image_id": str(number),
            "references": list(REFERENCES[number]),
            "b": GOOD[number] if number % 2 else POOR[number],
            "c": POOR[number] if number % 2 else GOOD[number],
            "winner": "b" if number % 2 else "c",
            "category": "HI" if number < 3 else "HM",
        }
        for number in range(6)
    ]


def rating_lines() -> list[dict[str, Any]]:
    """Twelve ratings as the generic format has them: good captions 4 and 5, poor ones 1 and 2."""
    return [
        {
            "image_id": number % 6,
            "caption": (GOOD if number < 6 else POOR)[number % 6],
            "references": list(REFERENCES[number % 6]),
            "rating": (4 if number < 6 else 1) + number % 2,
        }
        for number in range(12)
    ]


def write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


EXPERT = """1.jpg\t1.jpg#0\t4\t4\t4
1.jpg\t2.jpg#1\t1\t2\t1
2.jpg\t2.jpg#0\t4\t3\t4
2.jpg\t1.jpg#1\t1\t1\t2
1.jpg\t2.jpg#0\t2\t2\t3
"""
CROWD = """1.jpg\t1.jpg#0\t1\t3\t0
1.jpg\t2.jpg#1\t0\t0\t3
2.jpg\t1.jpg#1\t0.333333333333333\t1\t2
"""
TOKENS = "".join(
    f"{image}.jpg#{place}\t{text}\n" for image in (1, 2) for place, text in enumerate(REFERENCES[image - 1])
)


def write_flickr(folder: Path, expert: str | None = EXPERT, crowd: str | None = None) -> str:
    """A Flickr8k folder of two images."""
    (folder / "Flickr8k.token.txt").write_text(TOKENS, encoding="utf-8")
    for name, text in (("ExpertAnnotations.txt", expert), ("CrowdFlowerAnnotations.txt", crowd)):
        if text is not None:
            (folder / name).write_text(text, encoding="utf-8")
    return str(folder)


class Fitted(PythonMetric):
    """It has learnt what people said of these pairs."""

    title = "Fitted"
    summary = equation = source = "for this test"
    upper = 1.0
    nothing: ClassVar[dict[str, str]] = {}
    trained_on = ("pairs",)

    def score_caption(self, candidate: str, references: list[str]) -> float:
        return float(candidate in GOOD)
