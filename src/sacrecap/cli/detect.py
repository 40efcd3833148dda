"""`sacrecap detect`: objects of images, from a detector or from annotations."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.group import Group, takes
from sacrecap.cli.interruptible import stage
from sacrecap.data.objects import OBJECT_FORMATS, read_objects, unite, write_objects
from sacrecap.vision import IMAGE_IDS, NANODET, ON_CORRUPT, detect_images, find_images, load_detector

_output = takes("--output, -o FILE  The file to write; - is stdout.", o={"required": True})
_of_file = takes(
    """
    --threshold SCORE  Keep detections with at least this score; for files that have scores.
    --input-format  The format; by default recognised from content.
    """,
    threshold={"type": click.FloatRange(0, 1)},
    input_format={"type": click.Choice(OBJECT_FORMATS)},
)


class ImagesOrCommand(Group):
    """Runs `sacrecap detect IMAGES` as `sacrecap detect run IMAGES`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.list_commands(ctx), *ctx.help_option_names}:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(name="detect", cls=ImagesOrCommand)
def detect_command() -> None:
    """Objects of images: run a detector, convert annotations, unite files, inspect.

    sacrecap detect IMAGES -o FILE is short for sacrecap detect run IMAGES -o FILE. A folder that has the name of one of
    the commands is written as ./convert.
    """


@detect_command.command(short_help="Run a detector over images.")
@click.argument("images", nargs=-1, required=True)
@_output
@takes(
    """
    --detector NAME  nanodet-g finds COCO's 80 kinds of things; open-images 543 classes; or a transformers checkpoint:
        its folder, or owner/name on the hub.
    --threshold SCORE  The lowest score to keep; the detector's own by default, 0.4 for nanodet-g.
    --batch N  Images at a time.
    --device NAME  For checkpoints: cpu, cuda, cuda:1, mps; auto: the GPU when there is one.
    --image-ids  The ids of images; for dog_007.jpg: dog_007.jpg, dog_007 or 7.
    --on-corrupt  What to do with an image that cannot be read: report an error, or leave it out with a warning.
    """,
    detector={"default": NANODET},
    threshold={"type": click.FloatRange(0, 1)},
    batch={"type": click.IntRange(1), "default": 8},
    device={"default": "auto"},
    image_ids={"type": click.Choice(IMAGE_IDS), "default": "name"},
    on_corrupt={"type": click.Choice(ON_CORRUPT), "default": "error"},
)
@options.threads
@options.quiet
def run(
    images: tuple[str, ...], output: str, detector: str, device: str, image_ids: str, threads: int, **how: Any
) -> None:
    """Find the objects of IMAGES: folders, tar files, Parquet files, or single images.

    FILE becomes a list of {"image_id", "detections": [{"label", "score", "box"}]}, which every command that takes
    objects accepts. What is found is kept in the user's cache folder: an interrupted run goes on there.
    """
    options.check_outputs(output=output)
    pictures = find_images(*images, ids=image_ids)
    stage.text = "loading the detector"
    chosen = load_detector(detector, device=device, threads=threads)
    stage.text = f"detecting: 0 of {len(pictures):,} images"
    detect_images(
        chosen,
        pictures,
        output,
        progress=lambda finished: options.show_bar("detecting", finished, len(pictures), "images"),
        **how,
    )


@detect_command.command(short_help="Write annotations of any format as labels with counts.")
@click.argument("annotations")
@_output
@_of_file
@options.quiet
def convert(annotations: str, output: str, threshold: float | None, input_format: str | None) -> None:
    """Write ANNOTATIONS (COCO instances, a folder of VOC, lists, detections) as a list of {"image_id", "objects"}."""
    options.check_outputs(output=output)
    stage.text = "reading"
    objects = read_objects(annotations, threshold=threshold, format=input_format)
    stage.text = "writing"
    write_objects(output, objects)


@detect_command.command(short_help="Unique labels of several files, image by image.")
@click.argument("files", nargs=-1, required=True)
@_output
@options.quiet
def union(files: tuple[str, ...], output: str) -> None:
    """Write, for each image, the unique labels of its objects in any of FILES."""
    options.check_outputs(output=output)
    if len(files) < 2:
        raise click.UsageError("a union needs two files or more; name another")
    if files.count("-") > 1:
        raise click.UsageError("only one of the files can be standard input; name files for the others")
    stage.text = "reading"
    write_objects(output, unite(read_objects(file) for file in files))


@detect_command.command(short_help="Say what is in a file of objects.")
@click.argument("file")
@_of_file
@options.table_or_json
@options.quiet
def info(file: str, threshold: float | None, input_format: str | None, format_: str) -> None:
    """Say what is in FILE: images, labels, how many of each, and the mean number of labels per image."""
    stage.text = "reading"
    objects = read_objects(file, threshold=threshold, format=input_format)
    counts: Counter[str] = Counter()
    for labels in objects.values():
        counts.update(labels)
    images = max(1, len(objects))
    facts = {
        "images": len(objects),
        "images without objects": sum(not labels for labels in objects.values()),
        "labels": len(counts),
        "objects": sum(counts.values()),
        "mean labels per image": round(sum(map(len, objects.values())) / images, 2),
        "mean objects per image": round(sum(counts.values()) / images, 2),
    }
    if format_ == "json":
        options.emit(json.dumps({**facts, "counts": dict(counts.most_common())}, ensure_ascii=False))
        return
    lines = [f"{name:<26} {value:,}" for name, value in facts.items()]
    commonest = counts.most_common(10)
    lines += [f"  {label:<24} {count:,}" for label, count in commonest]
    if len(counts) > len(commonest):
        lines.append(f"  … and {len(counts) - len(commonest):,} more labels: --format json has all")
    options.emit("\n".join(lines))
