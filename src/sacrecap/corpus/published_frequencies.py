"""Document frequencies that everybody has by name: of training splits, counted on first use, and the released pickles.

`named_frequencies` keeps them as if the user had made them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacrecap.data.testsets import CIDER, Source, karpathy

if TYPE_CHECKING:
    from sacrecap.data.testsets import TestSet

STEMS = "-stems"
"""Ends the names of counts of stems, for `cider-paper`."""
SPLITS: dict[str, TestSet] = {
    f"{data}-train": karpathy(data, "train", images, f"{title}, Karpathy's split, training")
    for data, title, images in (
        ("coco", "COCO", 113_287),
        ("flickr8k", "Flickr8k", 6_000),
        ("flickr30k", "Flickr30k", 29_000),
    )
}
_SELF_CRITICAL = (
    "https://media.githubusercontent.com/media/cswhjiang/Recurrent_Fusion_Network/"
    "bff11fbddfc0773c48df3d6fa6bdadaaeb778ff8/data"
)
"""A repository that has the pickles of self-critical training; its large files' pointers have their SHA-256."""
PICKLES = {
    "coco-val-df": Source(f"{CIDER}/coco-val-df.p"),
    "coco-train-words": Source(
        f"{_SELF_CRITICAL}/coco-train-words.p",
        148_814_913,
        "d84d6da1a064d64e87050ca61774fa5ed879ab882f4bc5f222b20172a98627d1",
    ),
    "coco-train-idxs": Source(
        f"{_SELF_CRITICAL}/coco-train-idxs.p",
        135_369_466,
        "bcd03bf0baaacee93e0345339c9e9ed61a7020f7eab69e899696ce317df39c5b",
    ),
}
PUBLISHED = (*SPLITS, *(f"{name}{STEMS}" for name in SPLITS), *PICKLES)
"""The names."""
