"""Captions of sounds: "image" means a sound here."""

from __future__ import annotations

from sacrecap.data.shapes.family import Shape

ALL = (
    Shape(
        "dcase",
        "a table with file_name and caption_predicted; references in caption_reference_01, …",
        ids=("file_name",),
        captions=("caption_predicted",),
        references=("caption_reference_*",),
    ),
    Shape(
        "clotho", "a table with file_name and caption_1, …, caption_5", ids=("file_name",), captions=("caption_[0-9]*",)
    ),
    Shape(
        "audiocaps",
        "a table with youtube_id, start_time and caption",
        ids=("youtube_id",),
        captions=("caption",),
        also=("start_time",),
    ),
)
