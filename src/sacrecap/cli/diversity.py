"""`sacrecap diversity`: caption sets of one or several systems."""

from __future__ import annotations

from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command, Value, declared, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import Output, local_only, output
from sacrecap.cli.system_names import named
from sacrecap.data import read_references
from sacrecap.errors import UsageError, warn
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.diversity import diversity
from sacrecap.scoring.intervals import Resampling

_SCORED = Value(
    "scored",
    "Metrics",
    dict,
    [
        options.SET_METRICS,
        options.PLUGIN,
        *declared(
            """
            --accuracy METRIC  What scores each caption against the references.
            --beta2 X  β² of F.
            --top K  Score only the K most accurate captions of each set.
            """,
            accuracy={"default": "cider-d", "shell_complete": options.complete_metrics()},
            beta2={"type": float, "default": 5.0},
            top={"type": click.IntRange(1)},
        ),
        options.TEST,
    ],
)


@click.command(
    cls=Command,
    values=(
        caption_files(captions="set"),
        options.NEEDS,
        _SCORED,
        options.resampling("Bootstrap samples."),
        output(per_image=True, report=True, strict=True, papers=False),
    ),
    common="--references --metrics --df --interval --per-image --report --format --output --threads --quiet".split(),
)
@click.argument("sets", nargs=-1, required=True)
@local_only("caption sets")
@takes(
    """
    --references FILE  Human captions: adds accuracy, F, people, the best K captions.
    --training FILE  Training captions: adds the share of novel captions.
    """,
    heading="Files",
)
@takes(
    """
    --plots DIR  Write pictures there: PNG and SVG, and their data as CSV.
    --draw ID,ID  Images whose captions --plots and --report draw; by default the most and the least diverse.
    """,
    heading="Output",
)
def command(
    sets: tuple[str, ...],
    references: str | None,
    training: str | None,
    files: CaptionFiles,
    needs: Needs,
    scored: dict[str, Any],
    resampling: Resampling,
    output: Output,
    plots: str | None,
    draw: str | None,
) -> int:
    """Score caption SETS (several captions per image by one system): one file per system.

    Files may be lists of {"image_id", "captions"}, COCO results with repeated image ids, {id: [caption, ...]} JSON,
    JSON lines, CSV, TSV or Parquet; - is stdin. A system is called after its file; NAME=FILE calls it otherwise.
    """
    if draw is not None and plots is None and output.report is None:
        raise UsageError("--draw chooses what --plots and --report show; give one of them")
    output.check()
    if plots is not None:
        from sacrecap.report.pictures import check_pictures

        check_pictures(plots)
    places = named(sets)
    if [*places.values(), references, training].count("-") > 1:
        raise UsageError("only one of the files can be standard input; name files for the others")
    described, systems, needs = files.of_systems(references, places, needs, "sets")
    first, *rest = systems.values()
    image_ids = [image for image in first.image_ids if all(image in captions for captions in rest)]
    drawn = [image.strip() for image in (draw or "").split(",") if image.strip()]
    if drawn:
        from sacrecap.report.pictures.charts import check_images

        check_images(drawn, image_ids)
    photos = options.image_source(needs, output.report, parse_metrics(scored["accuracy"]), image_ids)
    training_captions = None if training is None else read_references(training)
    result = diversity(
        systems,
        described,
        **scored,
        training=training_captions,
        tokenizer=files.tokenizer,
        on_missing=files.on_missing,
        needs=needs,
        resampling=resampling,
    )
    if plots is not None:
        from sacrecap.report.pictures import write_pictures

        stage.text = "drawing"
        for line in write_pictures(result, plots, drawn):  # those that are left out
            warn(line)
    return output.finish(result, draw=drawn, images=photos)
