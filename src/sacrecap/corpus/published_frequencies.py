"""Document frequencies that everybody has by name: of training splits, counted on first use, and the released pickles.

`named_frequencies` keeps them as if the user had made them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacrecap.data.testsets import CIDER, Source, karpathy

if TYPE_CHECKING:
    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.data.testsets import Progress, TestSet

STEMS = "-stems"
"""Ends the names of counts of stems, for `cider-paper`."""
_SPLITS: dict[str, TestSet] = {
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
_PICKLES = {
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
PUBLISHED = (*_SPLITS, *(f"{name}{STEMS}" for name in _SPLITS), *_PICKLES)
"""The names."""


def made(name: str, progress: Progress | None) -> tuple[DocumentFrequency, str]:
    """The counts of one of these names, and what they are made of; files are fetched if they are not here.

    Raises `DataError` if a file cannot be fetched, or is not the published one.
    """
    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.data.testsets import captions_of, file_of

    if name in _PICKLES:
        return DocumentFrequency.import_pickle(file_of(_PICKLES[name], progress)), _PICKLES[name].url
    split = _SPLITS[name.removesuffix(STEMS)]
    return DocumentFrequency.build(captions_of(split, progress), stem=name.endswith(STEMS)), split.summary
