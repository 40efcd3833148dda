"""`sacrecap compare`: several systems' captions against the same references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.engine import ENGINE
from sacrecap.cli.group import Command
from sacrecap.cli.output import output
from sacrecap.cli.system_names import in_folder, named
from sacrecap.errors import UsageError
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.compare import compare

if TYPE_CHECKING:
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.cli.engine import EngineChoice
    from sacrecap.cli.options import Significance
    from sacrecap.cli.output import Output
    from sacrecap.corpus.corpus import CandidateSource, CaptionSource
    from sacrecap.resources.needs import Needs
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
    significance: Significance,
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
    alone = None
    if systems and not any(part.needs_references for metric in chosen for part in metric.parts):
        alone = files.of_systems_alone(named(in_folder([references, *systems])), needs)
    if alone is not None:
        source, (captions, needs) = None, alone
        photos = options.image_source(needs, output.report, chosen, next(iter(alone[0].values())).image_ids)
    elif not places:
        source, captions = files.of_columns(references)
    elif len(places) > 1:  # one is an error, which need not wait for the files
        described, captions, needs = files.of_systems(references, places, needs)
        source, photos = described, options.image_source(needs, output.report, chosen, described.image_ids)
    comparison = compare(
        source,
        captions,
        chosen,
        tokenizer=files.tokenizer,
        on_missing=files.on_missing,
        needs=needs,
        **significance._asdict(),
        resampling=resampling,
        threads=needs.threads,
        engine=engine.made(),
    )
    if files.by is not None:
        images = next(iter(comparison.values())).image_ids
        comparison = comparison.by(files.taken(files.by, images), files.by)
    output.write_files(comparison)
    output.write_report(comparison, images=photos)
    return output.judge(comparison)
