"""Sets the program up; may be repeated."""

from __future__ import annotations

import os
from collections.abc import Callable

from sacrecap.data.download import OtherContentError, copy, download, is_good, storing
from sacrecap.errors import DataError
from sacrecap.resources.stanford import jars, program_settings
from sacrecap.resources.stanford.jars import ProgramPart
from sacrecap.resources.stanford.java import Java, find_java
from sacrecap.resources.stanford.program import EXAMPLE_GRAPH, MEMORY, StanfordSpice
from sacrecap.resources.stanford.program_settings import ProgramSettings

Say = Callable[[str], object]
"""Called with a line for the user."""
Progress = Callable[[str, int, int], object]
"""Called with a file's name, the number of bytes fetched, and the number of all bytes."""

LICENCES = (
    "SPICE's program is under the AGPL, the Stanford parser in it under the GPL, Meteor's jar under the LGPL. They are "
    "not part of sacrecap: this command fetches them for you, from Maven Central and PyPI."
)


def set_up(
    *, source: str | None = None, java: str | None = None, memory: str | None = None, say: Say, progress: Progress
) -> None:
    """Fetches all files of the program into the user's data folder, finds Java, and runs a test.

    Args:
        source: a folder that has the files, for machines without internet; nothing is fetched then.
        java: the path of `java`; by default the one that was named before, or that of JAVA_HOME or PATH.
        memory: the most memory for Java's objects, such as `4G`; by default the one chosen before, or 4G.
        say: called with a line about each step.
        progress: called while a file is fetched.

    Raises:
        MissingDependencyError: there is no Java; nothing was fetched.
        DataError: a file cannot be fetched or differs from the published one, or the program does not work.
        UsageError: the memory is not an amount.
    """
    folder = jars.folder()
    chosen = program_settings.load(folder)
    if memory is not None:
        program_settings.check_memory(memory)
    found = _java(java, chosen)
    say(f"Java {found.version}: {found.path}")
    with storing(folder):
        os.makedirs(folder, exist_ok=True)
    say(f"Folder: {folder}")
    wanted = [part for part in jars.PARTS if not is_good(part, os.path.join(folder, part.name))]
    if wanted:
        say(LICENCES)
        _bring(wanted, folder, source, say, progress)
    else:
        say(f"All {len(jars.PARTS)} files are there, with the right checksums.")
    program_settings.save(
        folder, ProgramSettings(os.path.abspath(found.path) if java else chosen.java, memory or chosen.memory)
    )
    program = StanfordSpice(found, folder, memory=memory or chosen.memory or MEMORY)
    progress("trying it out", 0, 1)
    if program.try_out() != EXAMPLE_GRAPH:
        raise DataError(f"SPICE's program runs, but parses an example wrongly; remove {folder}, run this again")
    say("It works: an example has the right graph.")


def _java(named: str | None, chosen: ProgramSettings) -> Java:
    """The Java to use: the one named earlier may have been removed since."""
    if named is None and chosen.java is not None and os.path.exists(chosen.java):
        return find_java(chosen.java)
    return find_java(named)


def _bring(wanted: list[ProgramPart], folder: str, source: str | None, say: Say, progress: Progress) -> None:
    if source is not None:
        _copy_all(wanted, folder, source, say)
        return
    fetched = 0
    for part in wanted:
        if _installed(part, folder):
            say(f"{part.name}: from the installed pycocoevalcap")
            continue
        download(part, folder, lambda bytes_, part=part: progress(part.name, bytes_, part.download))  # type: ignore[misc]
        fetched += part.download
        say(f"{part.name}: fetched, {part.size:,} bytes, checksum right")
    say(f"{fetched / 1e6:,.0f} MB fetched.")


def _copy_all(wanted: list[ProgramPart], folder: str, source: str, say: Say) -> None:
    """Copies the wanted files from the folder and its subfolders."""
    if not os.path.isdir(source):
        raise DataError(f"--from {source}: is not a folder; name the one that holds the jars")
    there = {file: os.path.join(place, file) for place, _, files in os.walk(source) for file in files}
    absent = [part for part in wanted if part.name not in there]
    if absent:
        urls = ", ".join(sorted({part.url for part in absent}))
        raise DataError(
            f"--from {source}: {len(absent)} of {len(wanted)} files are not there: "
            f"{', '.join(part.name for part in absent)}; copy the folder that sacrecap spice setup fills on a machine "
            f"with internet, or fetch them from {urls}"
        )
    for part in wanted:
        copy(part, there[part.name], folder)
        say(f"{part.name}: copied, checksum right")


def _installed(part: ProgramPart, folder: str) -> bool:
    """Copies the part from an installed pycocoevalcap, if it is there; returns whether it was."""
    from importlib.util import find_spec

    package = find_spec("pycocoevalcap")  # found, not imported
    for place in (package.submodule_search_locations or ()) if package is not None else ():
        for path in (os.path.join(place, "spice", *deeper, part.name) for deeper in ((), ("lib",))):
            if os.path.isfile(path):
                try:
                    copy(part, path, folder)
                except OtherContentError:
                    continue  # of another version
                return True
    return False
