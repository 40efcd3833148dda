"""`sacrecap compare`: several systems' captions against the same references."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sacrecap.choices import CORRECTIONS, Correction, OnMissing, Test, Tokenizer
from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.engine import engine, refuse_on
from sacrecap.cli.interruptible import stage
from sacrecap.cli.systems import named
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError
from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.comparison_formats import render_comparison
from sacrecap.scoring.compare import check_test, compare_results, score_systems
from sacrecap.scoring.intervals import Resampling

if TYPE_CHECKING:
    from sacrecap.choices import Bootstrap, IntervalMethod
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.data.images import ImageSource
    from sacrecap.engines import EngineOptions
    from sacrecap.report.printing.figures import Figures
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.comparison import Comparison


@click.command()
@click.argument("references")
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@options.metrics
@options.test_of_engine
@options.alpha
@click.option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    default="holm",
    show_default=True,
    help="Of p for the number of pairs of systems, for each metric.",
)
@options.interval
@options.interval_method
@options.bootstrap
@options.samples("Bootstrap samples, and permutations.")
@engine
@click.option(
    "--per-image",
    metavar="FILE|DIR",
    help="Write each image's scores: .csv, .tsv, .jsonl or .parquet, or CSV to - (stdout); with --engine stream or "
    "ray, a folder of Parquet files.",
)
@options.needs
@options.tokenizer
@options.on_missing
@caption_files(captions="candidate")
@click.option("--report", metavar="FILE.html", help="Write a report: one self-contained page.")
@options.figures()
@options.common
def command(
    references: str,
    systems: tuple[str, ...],
    metrics: str,
    test: Test | None,
    alpha: float,
    correction: Correction,
    interval: float | None,
    interval_method: IntervalMethod,
    bootstrap: Bootstrap | None,
    samples: int,
    engine: EngineOptions,
    per_image: str | None,
    needs: Needs,
    tokenizer: Tokenizer,
    on_missing: OnMissing,
    files: CaptionFiles,
    report: str | None,
    figures: Figures,
    format_: str,
    output: str,
    threads: int,
    seed: int,
) -> None:
    """Compare SYSTEMs (a file of captions each, one caption per image) on the same REFERENCES.

    A system is called after its file; NAME=FILE calls it otherwise. Files are as for sacrecap score. With --engine
    stream or ray and without SYSTEMs, REFERENCES are rows that have the captions too, a --caption-column per system.
    """
    places = named(systems)
    if [references, *places.values()].count("-") > 1:
        raise UsageError("standard input can be read once; name a file for all but one of references and systems")
    chosen = parse_metrics(metrics, needs)
    resampling = Resampling.of(interval, interval_method, bootstrap, samples, seed, engine=engine.name)
    file = per_image if engine.name == "local" else None
    if file is not None:
        from sacrecap.report.per_image import check_suffix

        check_suffix(file)
    options.check_outputs(output=output, per_image=file, report=report, skipped=engine.skipped)
    if engine.name != "local":
        from sacrecap.engines import calls

        refuse_on(engine, images=needs.get("images") and report)
        comparison = calls.compare(
            calls.Input(references, places or None),
            chosen,
            files.for_engine(engine),
            needs=needs,
            tokenizer=tokenizer,
            on_missing=on_missing,
            test=test or "bootstrap",
            alpha=alpha,
            correction=correction,
            resampling=resampling,
        )
        _write(comparison, report, format_, figures, output)
        return
    test = test or "permutation"
    if not places:
        raise UsageError("no system was given; name their files after the references")
    check_test(len(places), test=test, alpha=alpha, correction=correction)
    stage.text = "reading"
    described, captions = files.of_systems(references, places)
    needs = files.with_images(needs)
    photos = options.image_source(needs, report, chosen)
    stage.text = "tokenising"
    corpora = Corpus.of_systems(described, captions, tokenizer=tokenizer, on_missing=on_missing, threads=threads)
    if photos is not None:
        photos.find_all(next(iter(corpora.values())).image_ids)
    stage.text = "scoring"
    results = score_systems(corpora, chosen, needs)
    stage.text = "resampling"
    comparison = compare_results(
        results, test=test, alpha=alpha, correction=correction, resampling=resampling, threads=threads
    )
    if per_image is not None:
        from sacrecap.report.per_image import write_per_image

        write_per_image(comparison, per_image)
    _write(comparison, report, format_, figures, output, photos)


def _write(
    comparison: Comparison,
    report: str | None,
    format_: str,
    figures: Figures,
    output: str,
    photos: ImageSource | None = None,
) -> None:
    """Writes the report and prints the comparison."""
    stage.text = "writing"
    if report is not None:
        from sacrecap.report.html import write_report

        write_report(comparison, report, images=photos)
    colour, width = options.colour(output), options.width(output)
    options.emit(render_comparison(comparison, format_, figures=figures, colour=colour, width=width), output)
