"""Caption files by the part they play: references, candidates, caption sets."""

from __future__ import annotations

from capeval._core import CAPTION_FORMATS, Captions
from capeval.data.source import PathLike, display_name, read_bytes
from capeval.data.table import TABLE_FORMATS, read_table, table_format
from capeval.errors import DataError, DataWarning, UsageError, warn

FORMATS = (*CAPTION_FORMATS, *TABLE_FORMATS)
"""Names of the formats that can be read, for options such as ``--reference-format``."""

_NAMED = 5
"""Offenders that a message names; the others are only counted."""


def read_references(path: PathLike, *, format: str | None = None, split: str | None = None) -> Captions:
    """Read human captions: usually several per image, in any of `FORMATS`.

    An image without captions is kept; whoever needs its references has to say so.

    Args:
        path: the file, gzip or not; ``-`` is standard input.
        format: one of `FORMATS`; recognised from the content when not given.
        split: keep only the images of this split of a Karpathy file, such as ``"test"``.

    Raises:
        DataError: the file cannot be used; the message names the file, the place and the remedy.
        UsageError: no such format, or no such split.
        MissingDependencyError: a table, and pyarrow is not installed.

    Warns:
        DataWarning: every image has exactly one caption, as in a candidate file.
    """
    captions = read_captions(path, format, split)
    _warn_if_candidates(path, captions, "references")
    return captions


def read_candidates(path: PathLike, *, format: str | None = None, split: str | None = None) -> Captions:
    """Read the captions of one system: exactly one per image. Arguments and errors as `read_references`.

    Raises:
        DataError: also when an image has several candidates or none.
    """
    captions = read_captions(path, format, split)
    counts = captions.caption_counts()
    if any(count != 1 for count in counts):
        raise DataError(f"{display_name(path)}: {_not_one(captions, counts)}")
    return captions


def read_caption_sets(path: PathLike, *, format: str | None = None, split: str | None = None) -> Captions:
    """Read several captions per image by one system. Arguments, errors and warning as `read_references`."""
    captions = read_captions(path, format, split)
    _warn_if_candidates(path, captions, "caption sets")
    return captions


def read_captions(path: PathLike, format: str | None, split: str | None) -> Captions:
    """Captions of a file in any format, however many each image has. Arguments and errors as `read_references`."""
    if format is not None and format not in FORMATS:
        raise UsageError(f"no caption format is called {format!r}; choose from {', '.join(FORMATS)}")
    data = read_bytes(path)
    try:
        table = format if format in TABLE_FORMATS else table_format(data) if format is None else None
        if table is None:
            return Captions.parse(data, format, split).named(display_name(path))
        if split is not None:
            raise UsageError(f"this is a file of format {table}, which has no splits; leave the split out")
        return read_table(data, table).named(display_name(path))
    except (DataError, UsageError) as error:
        raise type(error)(f"{display_name(path)}: {error}") from None


def _not_one(captions: Captions, counts: list[int]) -> str:
    """Explains why these captions are not candidates."""
    if min(counts) > 1:
        return (
            f"looks like a reference file: {_per_image(captions)} captions per image, where candidates have one; "
            "give references first and candidates second, or score several captions per image as caption sets"
        )
    several = [image for image, count in zip(captions.image_ids, counts, strict=True) if count > 1]
    if several:
        return f"{_images(several)} more than one candidate: {_names(several)}; keep one for each image"
    none = [image for image, count in zip(captions.image_ids, counts, strict=True) if count == 0]
    return f"{_images(none)} an empty list of candidates: {_names(none)}; give one for each image"


def _warn_if_candidates(path: PathLike, captions: Captions, part: str) -> None:
    """Tell when a file that should have several captions per image has exactly one for each."""
    if captions.image_count > 1 and set(captions.caption_counts()) == {1}:
        message = f"{display_name(path)}: looks like a candidate file: one caption per image; taken as {part}"
        warn(message, DataWarning)


def _per_image(captions: Captions) -> str:
    """``5``, or ``about 5.1`` when not all images have as many."""
    mean = captions.caption_count / captions.image_count
    return f"{mean:.0f}" if len(set(captions.caption_counts())) == 1 else f"about {mean:.3g}"


def _images(images: list[str]) -> str:
    return "1 image has" if len(images) == 1 else f"{len(images)} images have"


def _names(images: list[str]) -> str:
    return ", ".join([*images[:_NAMED], *(["…"] if len(images) > _NAMED else [])])
