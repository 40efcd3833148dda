"""`sacrecap demo`: the main job on the embedded example, or its files to try the other commands on."""

from __future__ import annotations

import os
import shlex

import click

from sacrecap import example
from sacrecap.cli import options
from sacrecap.data.atomic import atomic_write, check_writable
from sacrecap.errors import DataError, UsageError
from sacrecap.report.html import write_report
from sacrecap.report.score_formats import render
from sacrecap.scoring.score import score

FILES = {
    "references.json": example.references_path(),
    "captions.json": example.system_path("careful"),
    "a.json": example.system_path("careful"),
    "b.json": example.system_path("plain"),
}
"""What --files writes: the names that the documentation's first commands have."""


@click.command()
@click.option("--output", "-o", metavar="FILE.html", help="Write the report of the best system here.")
@click.option(
    "--files",
    "folder",
    metavar="DIR",
    help=f"Write the example's captions there instead ({', '.join(FILES)}), and print commands to try on them.",
)
@options.threads
@options.quiet
def command(output: str | None, folder: str | None, threads: int) -> None:
    """Score three made-up systems on 60 made-up images, with intervals, and write a report."""
    if folder is not None:
        if output is not None:
            raise UsageError("--files writes files to score, --output the report of a score; give one of them")
        write_files(folder)
        return
    options.check_outputs(output=output)
    references = example.references()
    results = {name: score(references, captions, threads=threads) for name, captions in example.systems().items()}
    for name, result in results.items():
        options.emit(f"\n{name}\n" + render(result, "table", colour=options.colour("-"), width=options.width("-")))
    if output is not None:
        best = max(results, key=lambda name: results[name]["cider-d"].value)
        write_report(results[best], output, title=f"sacrecap demo: {best}")
        options.emit(f"\nReport of {best}: {output}")


def write_files(folder: str) -> None:
    """Writes the example's files into the folder, which is made if it is not there, and prints commands for them.

    Raises `DataError`, before anything is written, if a file of one of the names has other content, or if the folder
    cannot be written.
    """
    places = {name: os.path.normpath(os.path.join(folder, name)) for name in FILES}
    taken = [place for name, place in places.items() if os.path.lexists(place) and not _is(place, name)]
    if taken:
        raise DataError(
            f"--files would overwrite {', '.join(taken)}; name another folder, or move what is there out of the way"
        )
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: this folder cannot be made: {error.strerror}; name another one") from None
    for place in places.values():
        check_writable(place)
    for name, place in places.items():
        with atomic_write(place, "wb") as file:
            file.write(FILES[name].read_bytes())
    references, captions, a, b = map(shlex.quote, places.values())
    options.emit(
        f"{references}: five captions by people of each of 60 made-up images\n"
        f"{captions}: one caption of each image, by a system\n"
        f"{a}, {b}: the captions of two systems to compare\n"
        "\n"
        "Try:\n"
        f"  sacrecap score {references} {captions} --report report.html\n"
        f"  sacrecap compare {references} {a} {b}"
    )


def _is(place: str, name: str) -> bool:
    """Whether what is there is the example's file of that name."""
    try:
        with open(place, "rb") as file:
            return file.read() == FILES[name].read_bytes()
    except OSError:
        return False
