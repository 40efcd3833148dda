"""Which columns of the input hold what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sacrecap.data.shapes import POSITION, Shape, columns_named, shape_of_columns, some_columns
from sacrecap.errors import DataError, naming, option

RECOGNISED = ""
"""Stands for the column that the shape of a file says: see `sacrecap.data.shapes`."""


class ChosenColumns(NamedTuple):
    """Names of columns. Those of references and captions may be patterns, as `caption_*`."""

    image_id: str = RECOGNISED
    """Text or whole numbers."""
    references: str | None = RECOGNISED
    """A list of texts, a text, or several such columns; None if no references are wanted."""
    captions: tuple[str, ...] = (RECOGNISED,)
    """A column for each system: a text, or a list of texts for caption sets."""
    also: str = RECOGNISED
    """The column of captions in other files, in which the references of this one may be, too."""
    group: str | None = None
    """A column of anything, in some of the files: what images of a group have in common."""

    def described(self, names: Sequence[str]) -> str:
        """The column of the references, as far as it is named, in a file with these columns."""
        named = columns_named(None, self.also) if self.also and not self.references else None
        return (
            self.also if named is not None and named.of_part(names, "references").asked == () else self.references or ""
        )


class Resolved(NamedTuple):
    """The columns that a file has for them."""

    image_id: str
    """`POSITION` of rows that have none."""
    references: tuple[str, ...]
    captions: tuple[tuple[str, ...], ...]
    """Of each system; several where a pattern stands for several."""
    group: str | None = None
    other_ids: tuple[str, ...] = ()
    """Other columns that could be image ids, the best first."""

    @property
    def all(self) -> list[str]:
        """All of them, each once."""
        group = [self.group] if self.group is not None else []
        captions = [name for own in self.captions for name in own]
        return list(dict.fromkeys([self.image_id, *self.references, *captions, *group]))


def resolve(columns: ChosenColumns, names: Sequence[str], file: str) -> Resolved:
    """The columns among those of a file. Raises `DataError` if one is missing, which names those that are there."""
    known = shape_of_columns(names)
    both = columns.references is not None and bool(columns.captions)

    def shape(captions: str = RECOGNISED, references: str = RECOGNISED) -> Shape:
        """What is named, completed by what is known of the file."""
        named = columns_named(columns.image_id or None, captions or None, references or None)
        return known if named is None else named.within(names, both=both)

    def of_part(own: Shape, part: str) -> tuple[str, ...]:
        with naming(f"{file}: "):
            return own.of_part(part)

    captions = tuple(of_part(shape(name), "candidates") for name in columns.captions)
    if both and known.of_one_part:
        captions = tuple(() if not name else own for name, own in zip(columns.captions, captions, strict=True))
    references: tuple[str, ...] = ()
    if columns.references is not None:
        taken = {name for own in captions for name in own}
        described = shape(columns.captions[0] if both else RECOGNISED, columns.described(names))
        references = tuple(name for name in of_part(described, "references") if name not in taken)
    image = next(iter(shape().ids), POSITION if both and references and not columns.image_id else None)
    captions_named = option("caption_columns", flag="--caption-column")
    wanted = [
        (columns.image_id or "image_id", image, option("id_column")),
        *((name or "candidate", own, captions_named) for name, own in zip(columns.captions, captions, strict=True)),
    ]
    if columns.references is not None:
        wanted.append((columns.references or "references", references, option("references_column")))
    lacking = [(name, keyword) for name, own, keyword in wanted if not own]
    if image is None or lacking:
        raise DataError(
            f"{file}: has the columns {some_columns(names)}, and not {' and '.join(name for name, _ in lacking)}; name "
            f"others by {' and '.join(dict.fromkeys(keyword for _, keyword in lacking))}"
        )
    group = columns.group if columns.group in names else None
    if group in references or any(group in own for own in captions):
        raise DataError(
            f"{file}: {group} is the column of captions; name one that images have in common by {option('by')}"
        )
    others = tuple(name for name in known.ids[known.ids.index(image) + 1 :]) if image in known.ids else ()
    return Resolved(image, references, captions, group, others)
