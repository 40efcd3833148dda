"""Checks of arguments before torch is loaded, which takes seconds."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sacrecap.data.captioned import CaptionedImage, of_split, read_captioned


def listed_images(captioner: str, data: str | None, split: str) -> list[CaptionedImage] | None:
    """The images of DATA, or of the data of a run; None if `generate` should report what is wrong.

    Raises:
        DataError: DATA holds no data set.
        UsageError: no image is in the split.
    """
    place = _data_of(captioner) if data is None else data
    if place is None:
        return None
    images = read_captioned(place)
    of_split(images, split)
    return images


def _data_of(captioner: str) -> str | None:
    """The place of the data as noted in the run, if it exists."""
    try:
        place = json.loads((Path(captioner) / "config.json").read_text(encoding="utf-8"))["settings"]["data"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return place if isinstance(place, str) and os.path.exists(place) else None
