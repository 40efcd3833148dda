"""Tables of Flickr8k and Flickr30k, and LAVIS, whose rows have the same columns."""

from __future__ import annotations

from sacrecap.data.shapes.family import Shape

ALL = (
    Shape(
        "lavis",
        '[{"image", "caption": caption or […]}, …], the form of LAVIS for COCO, Flickr30k and nocaps',
        ids=("image",),
        captions=("caption",),
    ),
    Shape(
        "flickr-csv",
        "a table with image and caption, or image_name and comment, with bars or commas between",
        ids=("image", "image_name"),
        captions=("caption", "comment"),
    ),
)
