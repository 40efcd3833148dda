"""Files that are read whole, by the reader of captions, for engines: COCO's, Karpathy's, spreadsheets and others."""

from __future__ import annotations

from sacrecap.data.captions import CaptionFile
from sacrecap.data.partitioned.columns import ChosenColumns, Resolved
from sacrecap.data.partitioned.files import import_pyarrow
from sacrecap.data.partitioned.part import Part, Raw
from sacrecap.data.shapes import NamedColumns, NoColumnError, columns_named
from sacrecap.errors import DataError, option

WHOLE_BYTES = 512 << 20
"""Bytes of the largest file that is read whole: memory must not grow with the input."""

_GROUP = "group"


def read(part: Part, columns: ChosenColumns) -> tuple[Raw, Resolved]:
    """The images of a file, and the names of the columns that they are in.

    Raises:
        DataError: the file cannot be read, or is too large to be read whole.
    """
    import numpy as np

    if part.bytes > WHOLE_BYTES:
        raise DataError(
            f"{part.file}: is read whole, for its format or a format, split or encoding that is named, and has more "
            f"than {WHOLE_BYTES >> 20} MB; write it as JSON lines or Parquet in UTF-8, or take "
            f"{option('engine', 'local')}"
        )
    pyarrow = import_pyarrow()
    file = CaptionFile(part.file, part.reading)
    kinds = [("candidates", name) for name in columns.captions]
    if columns.references is not None:
        kinds.append(("references", columns.references or columns.also))
        if columns.captions:
            file.check_holds_both(_named(columns, columns.references, columns.captions))
    found = [_captions(file, kind, columns, name) for kind, name in kinds]
    images = [image for image, texts in found[-1].items() if texts or columns.references is None]
    lists = pyarrow.large_list(pyarrow.large_string())
    arrays = [pyarrow.array(images, pyarrow.large_string())]
    for own in found:
        values = [own.get(image, []) for image in images]
        is_single = own is not found[-1] or columns.references is None
        if is_single and all(len(texts) == 1 for texts in values):
            arrays.append(pyarrow.array([texts[0] for texts in values], pyarrow.large_string()))
        else:
            arrays.append(pyarrow.array(values, lists))
    names = ["image_id", *(f"captions of system {number}" for number in range(len(columns.captions)))]
    references = ("references",) if columns.references is not None else ()
    batch = pyarrow.RecordBatch.from_arrays(arrays, names=[*names, *references])
    group = None if columns.group is None else file.column(columns.group, columns=_named(columns, "", ()))
    if group:
        group_of = [None if image not in group else str(group[image]) for image in images]
        batch = batch.append_column(_GROUP, pyarrow.array(group_of, pyarrow.large_string()))
    resolved = Resolved("image_id", references, tuple((name,) for name in names[1:]), _GROUP if group else None)
    return Raw(np.arange(1, len(images) + 1), batch, []), resolved


def _captions(file: CaptionFile, part: str, columns: ChosenColumns, name: str) -> dict[str, list[str]]:
    """The captions of a part; of a file without the named columns, as if none was named."""
    named = columns_named(columns.image_id or None, name or None) if part == "candidates" else _named(columns, name, ())
    try:
        return file.captions(part, columns=named).to_dict()
    except NoColumnError:
        return file.captions(part).to_dict()


def _named(columns: ChosenColumns, references: str, captions: tuple[str, ...]) -> NamedColumns | None:
    return columns_named(columns.image_id or None, [name for name in captions if name] or None, references or None)
