"""`sacrecap compare`: several systems' captions against the same references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command
from sacrecap.cli.output import ENGINE, EngineChoice, Output, output
from sacrecap.cli.system_names import in_folder, name_and_file, named
from sacrecap.corpus.corpus import CandidateSource, CaptionSource
from sacrecap.errors import UsageError, warn
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.comparison import compare
from sacrecap.scoring.intervals import Resampling


@click.command(
    cls=Command,
    values=(
        caption_files(captions="candidate", groups=True),
        options.NEEDS,
        options.SIGNIFICANCE,
        options.resampling("Bootstrap samples, and those of --test permutation."),
        output(per_image=True, report=True, strict=True),
        ENGINE,
    ),
    common="--metrics --df --on-missing --test --interval --report --format --output --threads --quiet".split(),
)
@click.argument("references")
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@options.metrics
def command(
    references: str,
    systems: tuple[str, ...],
    metrics: str,
    files: CaptionFiles,
    needs: Needs,
    significance: dict[str, Any],
    resampling: Resampling,
    engine: EngineChoice,
    output: Output,
) -> int:
    """Compare SYSTEMs (a file of captions each, one caption per image) on the same REFERENCES.

    A system is called after its file; NAME=FILE calls it otherwise. One folder alone stands for all files in it. Files
    are as for sacrecap score. Without SYSTEMs, REFERENCES are rows that have the captions too, a --caption-column per
    system. Where no metric needs references, the first file may be a system, too.
    """
    places = named(in_folder(systems))
    if [references, *places.values()].count("-") > 1:
        raise UsageError("standard input can be read once; name a file for all but one of references and systems")
    chosen = parse_metrics(metrics, needs)
    output.check()
    captions: Mapping[str, CandidateSource] = places
    source: CaptionSource | None = references
    photos = None
    alone = _alone([references, *systems], chosen, files)
    if alone or len(places) > 1:  # one is an error, which need not wait for the files
        source, read, needs = files.of_systems(None if alone else references, alone or places, needs)
        images = (next(iter(read.values())) if source is None else source).image_ids
        captions, photos = read, options.image_source(needs, output.report, chosen, images)
    elif not places:
        source, captions = files.of_columns(references)
    comparison = compare(
        source,
        captions,
        chosen,
        tokenizer=files.tokenizer,
        on_missing=files.on_missing,
        needs=needs,
        **significance,
        resampling=resampling,
        engine=engine.options(),
    )
    if files.by is not None:
        images = next(iter(comparison.values())).image_ids
        comparison = comparison.by(files.values_of_column(files.by, images), files.by)
    return output.finish(comparison, images=photos)


def _alone(paths: Sequence[str], metrics: Sequence[Metric], files: CaptionFiles) -> dict[str, str]:
    """The files by the names of their systems, where no metric needs references, and the first has none; or nothing."""
    if files.caption_column or any(part.needs_references for metric in metrics for part in metric.parts):
        return {}
    paths = in_folder(paths)
    if len(paths) < 2 or files.has_references(name_and_file(paths[0])[1], several=True):
        return {}
    if len(paths) > 2:
        warn(
            f"{paths[0]}: has no more than one caption of an image, and no metric needs references: it is compared as "
            "a system"
        )
    return named(paths)
