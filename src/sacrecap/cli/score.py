"""`sacrecap score`: one system's captions against references."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from sacrecap.choices import OnMissing, Tokenizer
from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.engine import engine, refuse_on
from sacrecap.cli.interruptible import stage
from sacrecap.corpus.corpus import Corpus
from sacrecap.data.source import system_name
from sacrecap.errors import UsageError
from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.formats import check_explained, render
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    from sacrecap.choices import Bootstrap, IntervalMethod
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.data.images import ImageSource
    from sacrecap.engines import EngineOptions
    from sacrecap.report.printing.figures import Figures
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.result import Result


@click.command(context_settings={"allow_extra_args": True})
@click.pass_context
@click.argument("references")
@click.argument("candidates", required=False)
@options.metrics
@click.option(
    "--per-image",
    metavar="FILE|DIR",
    help="Write each image's scores: .csv, .tsv, .jsonl or .parquet, or CSV to - (stdout); with --engine stream or "
    "ray, a folder of Parquet files.",
)
@click.option(
    "--baseline", metavar="FILE.json", help="Write the scores and captions that sacrecap check --against compares with."
)
@options.needs
@click.option(
    "--explain",
    multiple=True,
    metavar="IMAGE_ID",
    help="Show how METEOR aligned this image's candidate, which object VIFIDEL moved to which word, what of SPICE's "
    "scene graphs matches, and which words CHAIR finds hallucinated, after the scores; may be repeated.",
)
@options.tokenizer
@options.interval
@options.interval_method
@options.bootstrap
@options.samples("Bootstrap samples.")
@engine
@options.on_missing
@caption_files(captions="candidate")
@click.option("--report", metavar="FILE.html", help="Write a report: one self-contained page.")
@options.figures()
@options.common
def command(
    context: click.Context,
    references: str,
    candidates: str | None,
    metrics: str,
    per_image: str | None,
    baseline: str | None,
    needs: Needs,
    explain: tuple[str, ...],
    tokenizer: Tokenizer,
    interval: float | None,
    interval_method: IntervalMethod,
    bootstrap: Bootstrap | None,
    samples: int,
    engine: EngineOptions,
    on_missing: OnMissing,
    files: CaptionFiles,
    report: str | None,
    figures: Figures,
    format_: str,
    output: str,
    threads: int,
    seed: int,
) -> None:
    """Score CANDIDATES (one caption per image) against REFERENCES (several).

    Files may be COCO JSON, {id: captions} JSON, Karpathy splits, JSON lines, CSV, TSV, Parquet, Flickr token files,
    those of many data sets and harnesses, or URLs; - is stdin. REFERENCES may also be the folder that sacrecap caption
    trains on, with --split, or the name of a test set: see sacrecap testsets. If one file has both, such as rows with a
    prediction and references, give only this file.
    """
    if context.args:
        raise click.UsageError(
            f"score takes the captions of one system, got {1 + len(context.args)} files; compare several systems with "
            "sacrecap compare REFERENCES SYSTEM SYSTEM",
            context,
        )
    if references == candidates == "-":
        raise UsageError("references and candidates cannot both be standard input; name a file for one of them")

    if explain:
        check_explained(format_)
    chosen = parse_metrics(metrics, needs)
    resampling = Resampling.of(interval, interval_method, bootstrap, samples, seed, engine=engine.name)
    file = per_image if engine.name == "local" else None  # of other engines it is a folder, which they look at
    if file is not None:
        from sacrecap.report.per_image import check_suffix

        check_suffix(file)
    options.check_outputs(output=output, per_image=file, baseline=baseline, report=report, skipped=engine.skipped)
    if engine.name != "local":
        from sacrecap.engines import calls

        refuse_on(engine, baseline=baseline, explain=explain, images=needs.get("images") and report)
        result = calls.score(
            calls.Input(references, None if candidates is None else {calls.SYSTEM: candidates}),
            chosen,
            files.for_engine(engine),
            needs=needs,
            tokenizer=tokenizer,
            on_missing=on_missing,
            resampling=resampling,
        )
        _write(result, report, system_name(candidates or references), format_, figures, output)
        return
    stage.text = "reading"
    if candidates is None:
        described, captions = files.both(references)
    else:
        described, systems = files.of_systems(references, {candidates: candidates})
        captions = systems[candidates]
    needs = files.with_images(needs)
    photos = options.image_source(needs, report, chosen)
    stage.text = "tokenising"
    corpus = Corpus(described, captions, tokenizer=tokenizer, on_missing=on_missing, threads=threads)
    if photos is not None:
        photos.find_all(corpus.image_ids)
    stage.text = "scoring"
    result = score_corpus(corpus, chosen, needs=needs, resampling=resampling, threads=threads)
    explained = {image: result.explain(image) for image in explain}
    stage.text = "writing"
    if per_image is not None:
        from sacrecap.report.per_image import write_per_image

        write_per_image(result, per_image)
    if baseline is not None:
        from sacrecap.scoring.baseline import write_baseline

        write_baseline(result, baseline)
    _write(result, report, system_name(candidates or references), format_, figures, output, photos, explained)


def _write(
    result: Result,
    report: str | None,
    title: str,
    format_: str,
    figures: Figures,
    output: str,
    photos: ImageSource | None = None,
    explained: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> None:
    """Writes the report and prints the result."""
    stage.text = "writing"
    if report is not None:
        from sacrecap.report.html import write_report

        write_report(result, report, title=title, images=photos)
    colour, width = options.colour(output), options.width(output)
    text = render(result, format_, explained=explained, figures=figures, colour=colour, width=width)
    options.emit(text, output)
