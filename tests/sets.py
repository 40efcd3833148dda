"""Caption sets for tests: small vocabularies, repeats, sets of different sizes."""

from __future__ import annotations

import warnings
from random import Random

from hypothesis import strategies as st

import sacrecap
from corpora import caption, seeds
from sacrecap import SacrecapWarning
from sacrecap.scoring.diversity_result import Diversity, SystemDiversity

Sets = dict[str, list[str]]


@st.composite
def caption_sets(draw: st.DrawFn, *, least: int = 1, most: int = 6, size: int = 6) -> Sets:
    """`{image id: [caption, …]}`; a caption is drawn afresh, or repeats another of its set."""
    images, chance = draw(st.integers(least, most)), Random(draw(seeds))
    sets: Sets = {}
    for number in range(images):
        chosen = [caption(chance) for _ in range(chance.randint(1, size))]
        sets[f"image-{number}"] = [chance.choice(chosen) if chance.random() < 0.5 else own for own in chosen]
    return sets


def result(sets: object, references: object = None, metrics: object = "diversity", **options: object) -> Diversity:
    """Scores without intervals of captions that are tokenised already; warnings are known."""
    settings: dict[str, object] = {"tokenizer": "none", "interval": None, "threads": 1, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SacrecapWarning)
        return sacrecap.diversity(sets, references, metrics, **settings)  # type: ignore[arg-type]


def score(sets: Sets, metrics: object = "diversity", **options: object) -> SystemDiversity:
    """One system's figures."""
    return result(sets, None, metrics, **options)["sets"]
