"""The user's choices in `sacrecap spice setup`, kept in the folder of the jars."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass

from sacrecap.data.atomic import atomic_write
from sacrecap.errors import UsageError

_NAME = "settings.json"


@dataclass(frozen=True)
class ProgramSettings:
    """The path of `java` and the memory; None if they were not chosen."""

    java: str | None = None
    memory: str | None = None


def load(folder: str) -> ProgramSettings:
    """The settings in the folder; empty ones if there are none that can be read."""
    try:
        with open(os.path.join(folder, _NAME), encoding="utf-8") as file:
            return ProgramSettings(**json.load(file))
    except (OSError, ValueError, TypeError):
        return ProgramSettings()


def save(folder: str, settings: ProgramSettings) -> None:
    """Writes the settings."""
    with atomic_write(os.path.join(folder, _NAME)) as file:
        json.dump(asdict(settings), file)


def check_memory(memory: str) -> str:
    """The memory as given. Raises `UsageError` for a text that Java would not understand, or too little memory."""
    match = re.fullmatch(r"(\d{1,6})([GgMm])", memory)
    if match is None or int(match[1]) * (1024 if match[2] in "Gg" else 1) < _LEAST:
        raise UsageError(f"memory is a number with G or M, {_LEAST}M or more, such as 4G; got {memory!r}")
    return memory


_LEAST = 1024
"""Megabytes; with less, even the models do not fit well."""
