"""The types of options name what is accepted, and nothing else."""

from __future__ import annotations

from typing import get_args

import pytest

from sacrecap.corpus import corpus
from sacrecap.scoring import compare, intervals


@pytest.mark.parametrize(
    ("annotated", "accepted"),
    [
        (corpus.Tokenizer, corpus.TOKENIZERS),
        (corpus.OnMissing, corpus.ON_MISSING),
        (intervals.IntervalMethod, intervals.METHODS),
        (compare.Test, compare.TESTS),
        (compare.Correction, compare.CORRECTIONS),
    ],
)
def test_a_type_has_the_accepted_names(annotated: object, accepted: tuple[str, ...]) -> None:
    assert get_args(annotated) == accepted
