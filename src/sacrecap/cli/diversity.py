"""`sacrecap diversity`: caption sets of one or several systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.engine import engine, refuse_on
from sacrecap.cli.interruptible import stage
from sacrecap.cli.systems import named
from sacrecap.data import read_references
from sacrecap.errors import UsageError, warn
from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.diversity import render
from sacrecap.report.pictures import check_pictures, write_pictures
from sacrecap.scoring.diversity import diversity

if TYPE_CHECKING:
    from sacrecap.choices import Bootstrap, IntervalMethod, Tokenizer
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.data.images import ImageSource
    from sacrecap.engines import EngineOptions
    from sacrecap.report.printing.figures import Figures
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.diversity_result import Diversity


@click.command()
@click.argument("sets", nargs=-1, required=True)
@click.option("--references", metavar="FILE", help="Human captions: adds accuracy, F, people, the best K captions.")
@options.set_metrics
@click.option(
    "--accuracy",
    default="cider-d",
    show_default=True,
    metavar="METRIC",
    shell_complete=options.complete_metrics(),
    help="What scores each caption against the references.",
)
@click.option("--beta2", type=float, default=5.0, show_default=True, metavar="X", help="β² of F.")
@click.option("--top", type=click.IntRange(1), metavar="K", help="Score only the K most accurate captions of each set.")
@click.option("--training", metavar="FILE", help="Training captions: adds the share of novel captions.")
@click.option(
    "--per-image",
    metavar="FILE|DIR",
    help="Write each caption set's figures: .csv, .tsv, .jsonl or .parquet, or CSV to - (stdout); with --engine stream "
    "or ray, a folder.",
)
@click.option("--plots", metavar="DIR", help="Write pictures there: PNG and SVG, and their data as CSV.")
@click.option(
    "--draw",
    metavar="ID,ID",
    help="Images whose captions --plots and --report draw; by default the most and the least diverse.",
)
@click.option("--report", metavar="FILE.html", help="Write a report: one self-contained page.")
@options.needs
@options.tokenizer
@options.interval
@options.interval_method
@options.bootstrap
@options.samples("Bootstrap samples.")
@engine
@caption_files(captions="set")
@options.figures(papers=False)
@options.common
def command(
    sets: tuple[str, ...],
    references: str | None,
    metrics: str,
    accuracy: str,
    beta2: float,
    top: int | None,
    training: str | None,
    per_image: str | None,
    plots: str | None,
    draw: str | None,
    report: str | None,
    needs: Needs,
    tokenizer: Tokenizer,
    interval: float | None,
    interval_method: IntervalMethod,
    bootstrap: Bootstrap | None,
    samples: int,
    engine: EngineOptions,
    files: CaptionFiles,
    figures: Figures,
    format_: str,
    output: str,
    threads: int,
    seed: int,
) -> None:
    """Score caption SETS (several captions per image by one system): one file per system.

    Files may be lists of {"image_id", "captions"}, COCO results with repeated image ids, {id: [caption, ...]} JSON,
    JSON lines, CSV, TSV or Parquet; - is stdin. A system is called after its file; NAME=FILE calls it otherwise.
    """
    file = per_image if engine.name == "local" else None  # of other engines it is a folder, which they look at
    if file is not None:
        from sacrecap.report.per_image import check_suffix

        check_suffix(file)
    if draw is not None and plots is None and report is None:
        raise UsageError("--draw chooses what --plots and --report show; give one of them")
    options.check_outputs(output=output, per_image=file, report=report, skipped=engine.skipped)
    if plots is not None:
        check_pictures(plots)
    places = named(sets)
    if [*places.values(), references, training].count("-") > 1:
        raise UsageError("only one of the files can be standard input; name files for the others")
    if engine.name != "local":
        refuse_on(engine, training=training, draw=draw, images=needs.get("images") and report)
        result = diversity(
            places if references else list(sets),
            references,
            metrics,
            accuracy=accuracy,
            beta2=beta2,
            top=top,
            tokenizer=tokenizer,
            needs=needs,
            interval=interval,
            bootstrap=bootstrap,
            interval_method=interval_method,
            samples=samples,
            seed=seed,
            threads=threads,
            engine=files.for_engine(engine),
        )
        _write(result, plots, report, [], None, format_, figures, output)
        return
    stage.text = "reading"
    wanted = [("sets", file) for file in places.values()]
    found = files.read(wanted if references is None else [*wanted, ("references", references)])
    systems = dict(zip(places, found[: len(places)], strict=True))
    described = found[-1] if references is not None else None
    known_ids = next(iter(systems.values())).image_ids
    needs = files.with_images(needs)
    chosen = _split(draw, known_ids)
    photos = options.image_source(needs, report, parse_metrics(accuracy))
    if photos is not None:
        photos.find_all(known_ids)
    known = None if training is None else read_references(training)
    stage.text = "scoring"
    result = diversity(
        systems,
        described,
        metrics,
        accuracy=accuracy,
        beta2=beta2,
        top=top,
        training=known,
        tokenizer=tokenizer,
        needs=needs,
        interval=interval,
        interval_method=interval_method,
        bootstrap=bootstrap,
        samples=samples,
        seed=seed,
        threads=threads,
    )
    if per_image is not None:
        from sacrecap.report.per_image import write_sets

        write_sets(result, per_image)
    _write(result, plots, report, chosen, photos, format_, figures, output)


def _write(
    result: Diversity,
    plots: str | None,
    report: str | None,
    draw: list[str],
    photos: ImageSource | None,
    format_: str,
    figures: Figures,
    output: str,
) -> None:
    """Writes pictures and report, and prints the figures."""
    stage.text = "writing"
    _write_pictures(result, plots, report, draw, photos)
    colour, width = options.colour(output), options.width(output)
    options.emit(render(result, format_, figures=figures, colour=colour, width=width), output)


def _split(given: str | None, known: list[str]) -> list[str]:
    """The images that pictures are asked for of; they must be there before anything is scored."""
    if given is None:
        return []
    from sacrecap.report.pictures.single_images import check_images

    chosen = [image.strip() for image in given.split(",") if image.strip()]
    check_images(chosen, known)
    return chosen


def _write_pictures(
    result: Diversity, plots: str | None, report: str | None, draw: list[str], photos: ImageSource | None
) -> None:
    """Writes the pictures and the report that are asked for; says which pictures are left out."""
    if plots is not None:
        stage.text = "drawing"
        for line in write_pictures(result, plots, draw):
            warn(line)
    if report is not None:
        from sacrecap.report.html import write_report

        write_report(result, report, draw=draw, images=photos)
