"""`capeval compare`: several systems' captions against the same references."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from capeval.cli import options
from capeval.cli.interruptible import stage
from capeval.corpus.corpus import Corpus
from capeval.data import read_candidates, read_references
from capeval.errors import UsageError, warn
from capeval.metrics.registry import parse_metrics
from capeval.report.comparison_formats import render_comparison
from capeval.scoring.compare import CORRECTIONS, TESTS, check_test, compare_results, score_systems

if TYPE_CHECKING:
    from capeval.resources.needs import Needs


@click.command()
@click.argument("references")
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...")
@options.metrics
@click.option(
    "--test",
    type=click.Choice(TESTS),
    default="permutation",
    show_default=True,
    help="Paired test over images: approximate randomisation, or the paired bootstrap.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    metavar="LEVEL",
    help="A difference is significant where its corrected p is at most this.",
)
@click.option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    default="holm",
    show_default=True,
    help="Of p for the number of pairs of systems, for each metric.",
)
@options.interval
@options.samples("Bootstrap samples, and permutations.")
@click.option("--per-image", metavar="FILE", help="Write each image's scores: .csv, .jsonl or .parquet.")
@options.needs
@options.tokenizer
@options.on_missing
@options.caption_files
@click.option("--report", metavar="FILE.html", help="Write a report: one self-contained page.")
@options.common
def command(
    references: str,
    systems: tuple[str, ...],
    metrics: str,
    test: str,
    alpha: float,
    correction: str,
    interval: float | None,
    samples: int,
    per_image: str | None,
    needs: Needs,
    tokenizer: str,
    on_missing: str,
    reference_format: str | None,
    candidate_format: str | None,
    split: str | None,
    report: str | None,
    format_: str,
    output: str,
    threads: int,
    seed: int,
) -> None:
    """Compare SYSTEMs (a file of captions each, one caption an image) on the same REFERENCES.

    A system is called after its file; NAME=FILE calls it otherwise. Files are as for capeval score.
    """
    files = named(systems)
    if [references, *files.values()].count("-") > 1:
        raise UsageError("standard input can be read once; name a file for all but one of references and systems")
    check_test(len(files), test=test, alpha=alpha, correction=correction)
    chosen = parse_metrics(metrics, needs)
    if per_image is not None:
        from capeval.report.per_image import check_suffix

        check_suffix(per_image)
    options.check_outputs(output=output, per_image=per_image, report=report)
    stage.text = "reading"
    captions = {name: read_candidates(file, format=candidate_format) for name, file in files.items()}
    described = read_references(references, format=reference_format, split=split)
    stage.text = "tokenising"
    corpora = Corpus.of_systems(described, captions, tokenizer=tokenizer, on_missing=on_missing, threads=threads)
    stage.text = "scoring"
    results = score_systems(corpora, chosen, needs)
    stage.text = "resampling"
    comparison = compare_results(
        results,
        test=test,
        samples=samples,
        alpha=alpha,
        correction=correction,
        interval=interval,
        seed=seed,
        threads=threads,
    )
    stage.text = "writing"
    if per_image is not None:
        from capeval.report.per_image import write_per_image

        write_per_image(comparison, per_image)
    if report is not None:
        from capeval.report.comparison_html import write_comparison

        write_comparison(comparison, report, title=_title(list(files)))
    colour, width = options.colour(output), options.width(output)
    options.emit(render_comparison(comparison, format_, colour=colour, width=width), output)


def _title(names: list[str]) -> str:
    return " and ".join(names) if len(names) == 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def named(systems: Iterable[str]) -> dict[str, str]:
    """Files by the name of their system: as given, or the file's without suffix.

    Files of one name are told apart by their folders, and the same file given twice by a number, with a warning. Raises
    `UsageError` for a name given twice.
    """
    given: list[tuple[str | None, str]] = [_split(system) for system in systems]
    files = {os.path.realpath(file): file for name, file in given if name is None and file != "-"}
    short = _told_apart(files)
    names: dict[str, str] = {}
    seen: set[str] = set()
    for name, file in given:
        place = os.path.realpath(file)
        called = name or short.get(place, "standard input")
        if name is None and place in seen:
            called = next(other for n in range(2, len(given) + 2) if (other := f"{called} {n}") not in names)
        if called in names:
            raise UsageError(f"two systems are called {called!r}; give each a name of its own, as NAME=FILE")
        if place in seen and file != "-":
            warn(f"{file} is given twice, as two systems")
        seen.add(place)
        names[called] = file
    return names


def _split(system: str) -> tuple[str | None, str]:
    """Name and file of NAME=FILE; a file whose own name has the sign is taken as a file."""
    name, equals, file = system.partition("=")
    return (name, file) if equals and name and file and not os.path.exists(system) else (None, system)


def _told_apart(files: dict[str, str]) -> dict[str, str]:
    """The shortest ends of the paths, without suffix, that are all different."""
    stems = {place: os.path.splitext(place)[0].split(os.sep) for place in files}
    names: dict[str, str] = {}
    for place, parts in stems.items():
        others = [other for key, other in stems.items() if key != place]
        length = next(
            (n for n in range(1, len(parts)) if all(parts[-n:] != other[-n:] for other in others)), len(parts)
        )
        names[place] = "/".join(parts[-length:])
    # a.json and a.csv of one folder differ by nothing but the suffix.
    twice = {name for name in names.values() if list(names.values()).count(name) > 1}
    return {place: os.path.basename(place) if name in twice else name for place, name in names.items()}
