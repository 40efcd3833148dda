"""Scores printed in Wang and Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), Table 1.

One caption against its modifications. The printed figures come out when the original is the candidate and the modified
caption the only reference, lower-cased, one image at a time. BLEU-1 of the redundant caption is 0.7165…, printed .716:
by truncation, or another rounding, as is METEOR of the concise one, 0.5265…, printed .526; every other figure is the
rounded one.
"""

from __future__ import annotations

import pytest

import sacrecap

ORIGINAL = "a group of people are playing football on a grass covered field"
COLUMNS = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l")
TABLE = {
    "none": (ORIGINAL, (1, 1, 1, 1, 1, 1)),
    "word": (
        "a couple of boys are playing soccer on a grass covered field",
        (0.750, 0.584, 0.468, 0.388, 0.387, 0.750),
    ),
    "phrase": ("some guys are playing football on a grassy ground", (0.417, 0.389, 0.357, 0.317, 0.310, 0.489)),
    "sentence": (
        "on a grass covered field a group of people are playing football",
        (1.000, 0.953, 0.899, 0.834, 0.581, 0.583),
    ),
    "redundancy": (
        "a group of people in red soccer suits are playing football on a grass covered field",
        (0.716, 0.683, 0.644, 0.598, 0.429, 0.836),
    ),
    "conciseness": ("a group of people are playing football", (0.583, 0.564, 0.542, 0.516, 0.526, 0.774)),
    "other meaning": ("a group of people are watching TV", (0.417, 0.389, 0.357, 0.317, 0.270, 0.553)),
}
TRUNCATED = {("redundancy", "bleu-1"), ("conciseness", "meteor")}


@pytest.mark.parametrize("modification", TABLE)
def test_table_1(modification: str) -> None:
    modified, printed = TABLE[modification]
    result = sacrecap.score({"1": [modified.lower()]}, {"1": ORIGINAL}, COLUMNS, tokenizer="none", interval=None)
    for column, figure in zip(COLUMNS, printed, strict=True):
        value = result[column].value
        if (modification, column) in TRUNCATED:
            assert figure <= value < figure + 0.001, column
        else:
            assert round(value, 3) == figure, column
