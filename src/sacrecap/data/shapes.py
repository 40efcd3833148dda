"""The shapes of caption files, by the columns of their rows: one table for all readers and all engines.

To add a shape, add a row to `SHAPES`, an example to `tests/data/test_shapes.py`, and a line to
`docs/reference/files.md`. Where rows must first be made from a JSON document, write the function in `documents`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap.data.shape import Shape

Words = str | tuple[str, ...]

IDS = ("image_id", "id", "image", "video_id", "file_name", "filename")
"""What a column of image ids is called where nothing else tells what the file is: the first that there is."""
CANDIDATES = ("candidate", "prediction")
"""What a column of a system's captions is called."""
REFERENCES = ("references", "reference")
"""What a column of references is called."""
CAPTIONS = ("caption", "captions")
"""What a column is called that may be either."""


def _row(summary: str, ids: Words, captions: Words, references: Words = (), **more: Any) -> dict[str, Any]:
    """Arguments of `Shape`; names of columns may be words of a text."""
    columns = {"ids": ids, "captions": captions, "references": references, **more}
    lists = {"ids", "captions", "references", "also", "one_of"}
    words = {
        name: tuple(own.split() if isinstance(own, str) else own) for name, own in columns.items() if name in lists
    }
    return {"summary": summary, **more, **words}


SHAPES: dict[str, dict[str, Any]] = {
    "gts": _row('{id: [{"caption"}, …], …}', "id", "caption", unpack="gts"),
    "msrvtt": _row(
        '{"videos": [{"video_id", "split"}, …], "sentences": [{"video_id", "caption"}, …]}',
        "video_id",
        "caption",
        split="split",
        unpack="msrvtt",
    ),
    "activitynet": _row(
        '{video id: {"timestamps", "sentences": […]}, …}; a paragraph per video',
        "video_id",
        "caption",
        unpack="activitynet",
    ),
    "lmms-eval": _row(
        'samples as lines of {"doc_id", "target", "filtered_resps"}',
        "id",
        "prediction",
        "references",
        lists_in_text=True,
        unpack="lmms_eval",
    ),
    "lists": _row("[caption or [caption, …], …]", "line", "caption", unpack="lists"),
    "textcaps": _row(
        '{"data": [{"image_id", "caption_str", "reference_strs"}, …]}',
        "image_id",
        "caption_str",
        also="image_id caption_str",
    ),
    "vlmevalkit": _row(
        "a table or Excel file with index, prediction and answer", "index", "prediction", "answer", lists_in_text=True
    ),
    "predictions": _row(
        "rows of id, prediction and references",
        IDS,
        (*CANDIDATES, *CAPTIONS),
        (*REFERENCES, *CAPTIONS),
        one_of=(*CANDIDATES, *REFERENCES),
    ),
    "rows": _row(
        "a table, spreadsheet or wrapped list with image_id, and caption or captions",
        "image_id",
        CAPTIONS,
        any_case=True,
    ),
    "vatex": _row('[{"videoID", "enCap": […]}, …]', "videoID", "enCap"),
    "dcase": _row(
        "a table with file_name and caption_predicted; references in caption_reference_01, …",
        "file_name",
        "caption_predicted",
        "caption_reference_*",
    ),
    "clotho": _row("a table with file_name and caption_1, …, caption_5", "file_name", "caption_[0-9]*"),
    "audiocaps": _row("a table with youtube_id, start_time and caption", "youtube_id", "caption", also="start_time"),
    "llava": _row('lines of {"question_id", "text"}', "question_id", "text"),
    "coco-hub": _row(
        "rows of question_id and answer, a list, such as lmms-lab's COCO-Caption", "question_id", "answer"
    ),
    "imagefolder": _row(
        "metadata.csv, .jsonl or .parquet with file_name, and text or caption; or the folder of it",
        "file_name",
        "text caption",
    ),
    "flickr-hub": _row(
        "rows of filename and caption, a list, or raw, a list as text; a column split",
        "filename",
        "raw caption",
        split="split",
        lists_in_text=True,
    ),
    "hub": _row(
        "Parquet with an image (its path is the id), and caption or text",
        "image.path",
        "caption captions text",
        split="split",
    ),
    "lavis": _row(
        '[{"image", "caption": caption or […]}, …], the form of LAVIS for COCO, Flickr30k and nocaps',
        "image",
        "caption",
    ),
    "flickr-csv": _row(
        "a table with image and caption, or image_name and comment, with bars or commas between",
        "image image_name",
        "caption comment",
    ),
    "ids": _row("rows of id, image, video_id, file_name or filename, and caption or captions", IDS, CAPTIONS),
    "text": _row("a line per image; tabs between several captions", "line", "caption", only_by_name=True),
}
"""Arguments of `Shape` by its name, which options such as ``--reference-format`` take.

A file is of the first shape that fits it.
"""


@cache
def shapes() -> dict[str, Shape]:
    """The shapes by name, in the order of the table."""
    from sacrecap.data import documents
    from sacrecap.data.shape import Shape

    return {
        name: Shape(name, **{**row, "unpack": getattr(documents, row["unpack"]) if "unpack" in row else None})
        for name, row in SHAPES.items()
    }


def shape_of_columns(names: Sequence[str]) -> Shape | None:
    """The first shape whose rows have these columns, if there is one."""
    return next((shape for shape in shapes().values() if shape.unpack is None and shape.fits(names)), None)
