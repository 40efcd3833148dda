"""Names of systems whose captions are in files: one rule for all commands."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence

from sacrecap.data.source import is_remote, system_name, systems_in
from sacrecap.errors import UsageError, warn


def named(systems: Iterable[str]) -> dict[str, str]:
    """Files by the name of their system: NAME of NAME=FILE, or the file's name without suffix. Files of the same name
    are told apart by their folders; one given twice by a number, with a warning. Raises `UsageError` for a name given
    twice.
    """
    names_and_files: list[tuple[str | None, str]] = [name_and_file(system) for system in systems]
    paths = [os.path.realpath(file) for name, file in names_and_files if name is None and file != "-"]
    stems = {path: [*os.path.dirname(path).split(os.sep), system_name(path)] for path in paths}
    short: dict[str, str] = {}
    for path, parts in stems.items():
        other_stems = [stem for key, stem in stems.items() if key != path]
        lengths = (n for n in range(1, len(parts)) if all(parts[-n:] != stem[-n:] for stem in other_stems))
        short[path] = "/".join(parts[-next(lengths, len(parts)) :])
    # a.json and a.csv of one folder differ by nothing but the suffix.
    counts = Counter(short.values())
    short = {path: name if counts[name] == 1 else os.path.basename(path) for path, name in short.items()}
    names: dict[str, str] = {}
    places: set[str] = set()
    for name, file in names_and_files:
        place = os.path.realpath(file)
        called = name or short.get(place, system_name(file))
        if name is None and place in places:
            called = next(alias for n in range(2, len(names_and_files) + 2) if (alias := f"{called} {n}") not in names)
        if called in names:
            raise UsageError(f"two systems are called {called!r}; give each a name of its own: NAME=FILE")
        if place in places and file != "-":
            warn(f"{file} is given twice, as two systems")
        places.add(place)
        names[called] = file
    return names


def in_folder(systems: Sequence[str]) -> Sequence[str]:
    """The files of a folder of two or more, each the captions of a system, where nothing but the folder is given."""
    is_folder = len(systems) == 1 and os.path.isdir(systems[0])
    return systems_in(systems[0]) if is_folder else systems


def name_and_file(system: str) -> tuple[str | None, str]:
    """Name and file of NAME=FILE; a file or URL that has the sign itself is taken as a file."""
    name, equals, file = system.partition("=")
    is_named = bool(equals and name and file) and not os.path.exists(system) and not is_remote(name)
    return (name, file) if is_named else (None, system)
