"""`sacrecap study`: the file of a human study."""

from __future__ import annotations

import json
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.group import Group
from sacrecap.cli.system_names import named
from sacrecap.data import read_candidates, read_caption_sets, read_references
from sacrecap.data.images import ImageSource
from sacrecap.data.source import read_bytes
from sacrecap.errors import UsageError, warn
from sacrecap_studies import KINDS
from sacrecap_studies.design import StudyDesign, read_design
from sacrecap_studies.make import CATEGORIES, images_of, make_study


@click.group(name="study", cls=Group, section="People, studies and benchmarks")
def command() -> None:
    """Make and check the file of a human study, which sacrecap serve runs."""


@command.command(short_help="Make a study from references and systems.")
@click.argument("kind", metavar="KIND", type=click.Choice(list(KINDS)))
@click.argument("more_systems", nargs=-1, metavar="")
@click.option("--references", metavar="FILE", help="Human sentences, in any format that sacrecap score reads.")
@click.option(
    "--systems",
    multiple=True,
    metavar="FILE...",
    help="Captions of the systems (for diversity: caption sets), as FILE or NAME=FILE; several may follow.",
)
@click.option(
    "--images",
    metavar="DIR|FILE.tar|PATTERN",
    help="The images: from a folder, a tar file, or a pattern such as "
    "photos/{image_id}.jpg, copies go into the file; with https://host/{image_id:012}.jpg, browsers load them.",
)
@click.option(
    "--categories",
    default="MM",
    show_default=True,
    metavar="LIST",
    help=f"Pairs to ask about, of {', '.join(CATEGORIES)}: two people, a person and another image's, a person and a "
    "system, two systems.",
)
@click.option("--items", type=click.IntRange(1), metavar="N", help="Draw this many items; all by default.")
@click.option("--judgments", type=click.IntRange(1), metavar="N", help="People per item; the protocol's by default.")
@click.option(
    "--gold", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Questions with known answers."
)
@click.option(
    "--attention", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Attention checks."
)
@click.option(
    "--practice",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Practice questions; people are shown the known answers.",
)
@click.option("--title", metavar="TEXT", help="What annotators read first.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Random seed.")
@click.option("--output", "-o", default="-", show_default=True, metavar="FILE", help="The file to write; - is stdout.")
@options.quiet
def make(
    kind: str,
    more_systems: tuple[str, ...],
    references: str | None,
    systems: tuple[str, ...],
    images: str | None,
    categories: str,
    title: str | None,
    output: str,
    **drawn: Any,
) -> None:
    """Make a study of KIND: triplet, pairwise, diversity or collection.

    The file has all questions. Change it as you like, check it with sacrecap study check, and upload it on
    the page Studies of sacrecap serve.
    """
    options.check_outputs(output=output)
    sentences = _references(kind, references, images)
    read = read_caption_sets if kind == "diversity" else read_candidates
    captions = {name: read(file).to_dict() for name, file in named((*systems, *more_systems)).items()}
    if captions and kind == "collection":
        raise UsageError("a collection asks people to describe images, so it has no systems; leave --systems out")
    names = [name.strip() for name in categories.split(",")]
    study = make_study(kind, sentences, captions, categories=names, **drawn)
    if title is not None:
        study = {"study": kind, "title": title, **study}
    if KINDS[kind].shows_image:
        study["images"] = _images(study, images)
    _warn(read_design(json.dumps(study).encode()))
    options.emit(json.dumps(study, ensure_ascii=False, indent=1), output)


@command.command(short_help="Check the file of a study.")
@click.argument("file")
def check(file: str) -> None:
    """Check FILE completely, and summarise what it asks."""
    design = read_design(read_bytes(file), file)
    _warn(design)
    checks = sum(len(each.pages) for each in design.checks.values())
    click.echo(
        f"{design.kind.name}: {len(design.pages):,} questions, {design.judgments} people each, "
        f"{len(design.pages) * design.judgments:,} answers; {checks:,} checks, {len(design.images):,} images"
    )


def _warn(design: StudyDesign) -> None:
    for remark in design.remarks:
        warn(remark)


def _references(kind: str, file: str | None, images: str | None) -> dict[str, list[str]]:
    if file is not None:
        return read_references(file).to_dict()
    if kind in ("triplet", "pairwise"):
        raise UsageError(f"a {kind} study needs --references, what people wrote of the images")
    if kind == "collection":
        if images is None:
            raise UsageError("a collection needs its images: --images DIR, or --references FILE and --images PATTERN")
        return {image: [] for image in ImageSource.open(images).image_ids()}
    return {}


def _images(study: dict[str, Any], images: str | None) -> dict[str, str]:
    if images is None:
        raise UsageError(f"a {study['study']} study shows images: give --images DIR, FILE.tar or PATTERN")
    shown = [*study["items"]]
    for role in ("gold", "attention", "practice"):
        shown += study.get(role, {}).get("items", [])
    return images_of(images, list(dict.fromkeys(item["image_id"] for item in shown)))
