"""The references and the systems of a contest in a folder."""

from __future__ import annotations

import os
from typing import NamedTuple

from sacrecap.data.listing import captions_in, may_be_captions
from sacrecap.data.source import PathLike, reading, system_name
from sacrecap.errors import DataError


class Contest(NamedTuple):
    """What [`board`][sacrecap.boards.board] takes."""

    references: str
    """The path of their file."""
    teams: dict[str, dict[str, str]]
    """For each team's name, the paths of its systems by name."""


def in_folder(folder: PathLike) -> Contest:
    """Finds the files of a contest.

    Args:
        folder: has a file `references`, with the suffix of any format that `sacrecap score` reads, and a folder
            `systems`: each file in it is a system of a team of its own, each folder in it has the systems of one team,
            which are called TEAM/SYSTEM.

    Raises:
        DataError: there are no references, no systems, or two of a name.
    """
    with reading(folder):
        files = sorted(entry.path for entry in os.scandir(folder) if entry.is_file() and may_be_captions(entry.name))
    found = [path for path in files if system_name(path) == "references"]
    if len(found) != 1:
        number = "no file" if not found else f"{len(found)} files"
        raise DataError(f"{folder}: has {number} called references, as references.json or .csv; give one")
    inside = os.path.join(folder, "systems")
    if not os.path.isdir(inside):
        raise DataError(f"{folder}: has no folder called systems; put a file of captions of each system into one")
    teams = {system: {system: path} for system, path in _systems(inside).items()}
    for entry in sorted(os.scandir(inside), key=lambda entry: entry.name):
        if entry.is_dir() and not entry.name.startswith((".", "_")):
            systems = _systems(entry.path)
            if systems and entry.name in teams:
                raise DataError(f"{inside}: a file and a folder are called {entry.name}; rename one")
            if systems:
                teams[entry.name] = {f"{entry.name}/{system}": path for system, path in systems.items()}
    if not teams:
        raise DataError(f"{inside}: has no files of captions")
    return Contest(found[0], teams)


def _systems(folder: str) -> dict[str, str]:
    """Files by the name of their system. Raises `DataError` for two of a name."""
    systems: dict[str, str] = {}
    for path in captions_in(folder):
        other = systems.setdefault(system_name(path), path)
        if other != path:
            names = f"{os.path.basename(other)} and {os.path.basename(path)}"
            raise DataError(f"{folder}: {names} are both captions of {system_name(path)}; rename one")
    return systems
