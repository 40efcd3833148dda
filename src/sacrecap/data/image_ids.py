"""Image ids that files of one data set spell differently: `391895` and `COCO_val2014_000000391895.jpg`.

And what to do about images that do not fit, for messages: the same words for every way in which captions are joined.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from sacrecap._core import Captions
from sacrecap.errors import DataError, option, some, spelled


def key(image: str, how: str) -> str | None:
    """The part of the image id that is compared; None if it should be a number and there is none."""
    if how == "text":
        return image
    name = image.replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    if how == "stem":
        return stem
    numbers = re.findall(r"[0-9]+", stem)
    return (numbers[-1].lstrip("0") or "0") if numbers else None


def keyed(captions: Captions, how: str) -> Captions:
    """The captions by the compared part of their image ids."""
    if how == "text":
        return captions
    images = captions.image_ids
    keys = [key(image, how) for image in images]
    without = [image for image, part in zip(images, keys, strict=True) if part is None]
    if without:
        compares = f"{option('image_ids', 'stem')} compares file names without suffix"
        raise DataError(f"no number in the id of {some(without)}; {compares}")
    places: dict[str, str] = {}
    for image, part in zip(images, keys, strict=True):
        if places.setdefault(part or "", image) != image:
            other = places[part or ""]
            raise DataError(
                f"the images {other} and {image} are both {part} by {option('image_ids', how)}; compare more of the "
                f"ids: {option('image_ids', *(['stem', 'text'] if how == 'number' else ['text']))}"
            )
    by_image = captions.to_dict()
    return captions.with_texts({part: by_image[image] for part, image in places.items()})


def same_images(described: Collection[str], captioned: Collection[str]) -> tuple[str, dict[str, str]] | None:
    """Which image with references each of the candidates' is that has another id, and the part of the ids that says so.

    By number, the ids of one side are numbers alone, and those of the other differ in nothing but theirs: `391895` is
    `COCO_val2014_000000391895.jpg`, and `1` is not `dog-1` beside `cat-2`. None where it is not sure.
    """
    for how in ("stem", "number"):
        by_key = {key(image, how): image for image in described}
        parts = [key(image, how) for image in captioned]
        is_sure = len(by_key) == len(described) and len({*parts}) == len(parts) and {*parts} <= by_key.keys()
        if how == "number":
            stems = [
                {re.sub(r"[0-9]+$", "", key(image, "stem") or "") for image in side} for side in (described, captioned)
            ]
            is_sure = is_sure and all(len(names) == 1 for names in stems) and {""} in stems
        if captioned and is_sure and None not in parts:
            return how, {image: by_key[part] for image, part in zip(captioned, parts, strict=True)}
    return None


def remedy_for_other_ids(references: Collection[str], candidates: Collection[str]) -> str:
    """About candidates of which not one is of an image of the references."""
    for how in ("stem", "number"):
        keys = {key(image, how) for image in references} - {None}
        if any(key(image, how) in keys for image in candidates):
            return f"they match with {option('image_ids', how, of='sacrecap.data.read_references and read_candidates')}"
    return "are these files of the same data set?"


def remedy_for_extra(remedy: str = "remove such candidates, or score against references that have these images") -> str:
    """About candidates of images without references, or with none that says something."""
    return remedy + spelled(python="", command=", or choose --on-extra skip (leave them out)")


def remedy_for_missing() -> str:
    """About images without candidate."""
    zero = spelled(python='"zero"', command="zero")
    return (
        f"add them, or choose {option('on_missing', 'skip')} (leave such images out) or {zero} (count them as empty "
        "captions)"
    )
