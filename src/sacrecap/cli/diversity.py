"""`sacrecap diversity`: caption sets of one or several systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.engine import local_only
from sacrecap.cli.group import Command, Value, declared, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import output
from sacrecap.cli.system_names import named
from sacrecap.data import read_references
from sacrecap.errors import UsageError, warn
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.diversity import diversity

if TYPE_CHECKING:
    from sacrecap.choices import Test
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.cli.output import Output
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.diversity_result import Diversity
    from sacrecap.scoring.intervals import Resampling


class SetOptions(NamedTuple):
    """What is asked of the sets; the values are those of the options."""

    metrics: str
    accuracy: str
    beta2: float
    top: int | None
    test: Test | None


class PictureOptions(NamedTuple):
    """What is drawn; the values are those of the options."""

    plots: str | None
    draw: str | None


SET_OPTIONS = Value(
    "set_options",
    "Metrics",
    SetOptions,
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
PICTURES = Value(
    "pictures",
    "Output",
    PictureOptions,
    declared(
        """
        --plots DIR  Write pictures there: PNG and SVG, and their data as CSV.
        --draw ID,ID  Images whose captions --plots and --report draw; by default the most and the least diverse.
        """
    ),
)


@click.command(
    cls=Command,
    values=(
        caption_files(captions="set"),
        options.NEEDS,
        SET_OPTIONS,
        options.resampling("Bootstrap samples."),
        output(per_image=True, report=True, strict=True, papers=False),
        PICTURES,
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
def command(
    sets: tuple[str, ...],
    references: str | None,
    training: str | None,
    files: CaptionFiles,
    needs: Needs,
    set_options: SetOptions,
    resampling: Resampling,
    output: Output,
    pictures: PictureOptions,
) -> int:
    """Score caption SETS (several captions per image by one system): one file per system.

    Files may be lists of {"image_id", "captions"}, COCO results with repeated image ids, {id: [caption, ...]} JSON,
    JSON lines, CSV, TSV or Parquet; - is stdin. A system is called after its file; NAME=FILE calls it otherwise.
    """
    plots, draw = pictures
    if draw is not None and plots is None and output.report is None:
        raise UsageError("--draw chooses what --plots and --report show; give one of them")
    output.check()
    if plots is not None:
        from sacrecap.report.pictures import check_pictures

        check_pictures(plots)
    places = named(sets)
    if [*places.values(), references, training].count("-") > 1:
        raise UsageError("only one of the files can be standard input; name files for the others")
    described, systems, needs = files.of_sets(references, places, needs)
    first, *rest = systems.values()
    image_ids = [image for image in first.image_ids if all(image in captions for captions in rest)]
    drawn = _split(draw, image_ids)
    photos = options.image_source(needs, output.report, parse_metrics(set_options.accuracy), image_ids)
    training_captions = None if training is None else read_references(training)
    result = diversity(
        systems,
        described,
        **set_options._asdict(),
        training=training_captions,
        tokenizer=files.tokenizer,
        on_missing=files.on_missing,
        needs=needs,
        resampling=resampling,
        threads=needs.threads,
    )
    output.write_files(result)
    if plots is not None:
        _write_pictures(result, plots, drawn)
    output.write_report(result, draw=drawn, images=photos)
    return output.judge(result)


def _split(text: str | None, image_ids: list[str]) -> list[str]:
    """The images that pictures are asked for of; they must be there before anything is scored."""
    if text is None:
        return []
    from sacrecap.report.pictures.charts import check_images

    chosen = [image.strip() for image in text.split(",") if image.strip()]
    check_images(chosen, image_ids)
    return chosen


def _write_pictures(result: Diversity, plots: str, draw: Sequence[str]) -> None:
    """Writes the pictures; says which are left out."""
    from sacrecap.report.pictures import write_pictures

    stage.text = "drawing"
    for line in write_pictures(result, plots, draw):
        warn(line)
