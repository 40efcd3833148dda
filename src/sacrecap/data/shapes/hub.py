"""Data sets of the Hugging Face Hub: Parquet with one image per row, or folders with a metadata file."""

from __future__ import annotations

from sacrecap.data.shapes.family import Shape

ALL = (
    Shape(
        "coco-hub",
        "rows of question_id and answer, a list, such as lmms-lab's COCO-Caption",
        ids=("question_id",),
        captions=("answer",),
    ),
    Shape(
        "imagefolder",
        "metadata.csv, .jsonl or .parquet with file_name, and text or caption; or the folder of it",
        ids=("file_name",),
        captions=("text", "caption"),
    ),
    Shape(
        "flickr-hub",
        "rows of filename and caption, a list, or raw, a list as text; a column split",
        ids=("filename",),
        captions=("raw", "caption"),
        split="split",
        lists_in_text=True,
    ),
    Shape(
        "hub",
        "Parquet with an image (its path is the id), and caption or text",
        ids=("image.path",),
        captions=("caption", "captions", "text"),
        split="split",
    ),
)
