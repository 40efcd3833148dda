"""Which columns of the input hold what."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from sacrecap.errors import DataError, option

_ALSO = {
    "image_id": ("image_id", "id", "image", "video_id", "file_name", "filename"),
    "references": ("references", "reference", "captions", "caption"),
    "candidate": ("candidate", "prediction", "caption"),
    "caption": ("caption", "captions", "candidate", "prediction"),
}
"""Names that files have for what they are called by default: the first that there is."""
_SHOWN = 20
"""Columns that a message names; the others are left out."""


class Columns(NamedTuple):
    """Names of columns. Those of references and captions may be patterns, as `caption_*`."""

    image_id: str = "image_id"
    """Text or whole numbers. The default may also be called `id`, `image`, `video_id`, `file_name` or `filename`."""
    references: str | None = "references"
    """A list of texts, a text, or several such columns; None if no references are wanted."""
    captions: tuple[str, ...] = ("candidate",)
    """A column for each system: a text, or a list of texts for caption sets. `candidate` may be called `prediction`."""


class Resolved(NamedTuple):
    """The columns that a file has for them."""

    image_id: str
    references: tuple[str, ...]
    captions: tuple[tuple[str, ...], ...]
    """Of each system; several where a pattern stands for several."""

    @property
    def all(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys([self.image_id, *self.references, *(name for own in self.captions for name in own)]))


def resolve(columns: Columns, names: Sequence[str], file: str) -> Resolved:
    """The columns among those of a file. Raises `DataError` if one is missing, which names those that are there."""
    ids = _called(columns.image_id, names)[:1]
    captions = tuple(tuple(one for one in _called(name, names) if one not in ids) for name in columns.captions)
    taken = {*ids, *(name for own in captions for name in own)}
    references: tuple[str, ...] = ()
    if columns.references is not None:
        references = tuple(one for one in _called(columns.references, names) if one not in taken)
    captions_named = option("caption_columns", flag="--caption-column")
    wanted = [
        (columns.image_id, ids, option("id_column")),
        *((name, found, captions_named) for name, found in zip(columns.captions, captions, strict=True)),
    ]
    if columns.references is not None:
        wanted.append((columns.references, references, option("references_column")))
    lacking = [(name, keyword) for name, found, keyword in wanted if not found]
    if lacking:
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "") if names else "none"
        raise DataError(
            f"{file}: has the columns {shown}, and not {' and '.join(name for name, _ in lacking)}; name others by "
            f"{' and '.join(dict.fromkeys(keyword for _, keyword in lacking))}"
            + (f"; {_nested_read()}" if _NESTED & {*names} else "")
        )
    return Resolved(ids[0], references, captions)


_NESTED = {"annotations", "images", "sentences"}
"""Columns that a JSON file has which is not one of rows: COCO's, nocaps', Karpathy's."""


def _nested_read() -> str:
    return f"COCO's and other nested files are read without options for columns, by {option('engine', 'local')}"


def _called(wanted: str, names: Sequence[str]) -> list[str]:
    """The columns that a name or pattern stands for."""
    if wanted in names:
        return [wanted]
    also = _ALSO.get(wanted, ())
    found = next(([name] for name in also if name in names), None)
    return found or [name for name in names if fnmatchcase(name, wanted)]
