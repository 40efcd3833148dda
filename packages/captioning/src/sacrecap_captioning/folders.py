"""Folders that commands write in; without torch."""

from __future__ import annotations

import os

from sacrecap.data.source import PathLike
from sacrecap.errors import DataError


def make_folder(folder: PathLike) -> None:
    """Makes a folder, where there is none. Raises `DataError` if it cannot be made."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: this folder cannot be made: {error.strerror}; choose another place") from None
