"""`sacrecap demo`: the main job on the embedded example, or its files to try the other commands on."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from sacrecap import example
from sacrecap.cli import options
from sacrecap.cli.group import takes
from sacrecap.data.writers import atomic_write, check_writable
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

PAPERS = example.PATH / "papers"
"""What --papers copies: what the papers print."""


@click.command()
@takes(
    f"""
    -o, --output FILE.html  Write the report of the best system here.
    --files DIR  Write the example's captions there instead ({", ".join(FILES)}), and print commands to try on them.
    --papers DIR  Write captions there instead that the papers of CIDEr, VIFIDEL and Self-CIDEr print, to compute their
        tables again.
    --vlm DIR  Write a vision-language checkpoint there instead, with random weights, small enough to train on a laptop.
    """,
    files={"name": "folder"},
)
@options.threads
@options.quiet
def demo_command(output: str | None, folder: str | None, papers: str | None, vlm: str | None, threads: int) -> None:
    """Score three made-up systems on 60 made-up images, with intervals, and write a report."""
    if sum(target is not None for target in (output, folder, papers, vlm)) > 1:
        raise UsageError(
            "--files and --papers write files to score, --vlm a checkpoint, --output the report of a score; give one "
            "of them"
        )
    if folder is not None:
        described, captions, a, b = map(shlex.quote, write_files(folder, FILES))
        options.emit(
            f"{described}: five captions by people of each of 60 made-up images\n"
            f"{captions}: one caption of each image, by a system\n"
            f"{a}, {b}: the captions of two systems to compare\n"
            "\n"
            "Try:\n"
            f"  sacrecap score {described} {captions} --report report.html\n"
            f"  sacrecap compare {described} {a} {b}"
        )
        return
    if papers is not None:
        files = {str(path.relative_to(PAPERS)): path for path in sorted(PAPERS.rglob("*")) if path.is_file()}
        write_files(papers, files)
        options.emit(f"{papers}: {len(files)} files; README.md there says what each holds")
        return
    if vlm is not None:
        from sacrecap.example.tiny_llava import write_tiny_llava

        if os.path.lexists(vlm) and (not os.path.isdir(vlm) or os.listdir(vlm)):
            raise DataError(f"{vlm}: is there already; name another folder, or move what is there out of the way")
        write_tiny_llava(Path(vlm), [caption for texts in example.references().values() for caption in texts])
        options.emit(f"{vlm}: a LLaVA with random weights that knows the words of the example, with its processor")
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


def write_files(folder: str, files: Mapping[str, Path]) -> list[str]:
    """Writes the files into the folder, made if need be, and returns their places. Raises `DataError`, before anything
    is written, if a file of one of the names has other content, or if the folder cannot be written.
    """
    contents = {os.path.normpath(os.path.join(folder, name)): path.read_bytes() for name, path in files.items()}
    occupied = []
    for place, data in contents.items():
        try:
            occupied += [place] if os.path.lexists(place) and Path(place).read_bytes() != data else []
        except OSError:
            occupied.append(place)
    if occupied:
        raise DataError(
            f"this would overwrite {', '.join(occupied)}; name another folder, or move what is there out of the way"
        )
    try:
        for place in contents:
            os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: this folder cannot be made: {error.strerror}; name another one") from None
    for place in contents:
        check_writable(place)
    for place, data in contents.items():
        with atomic_write(place, "wb") as file:
            file.write(data)
    return list(contents)
