"""Several systems: compared on the same references, their caption sets, or a board of references that stay hidden."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click

from sacrecap.boards.examination import CaptionLimits
from sacrecap.choices import Tokenizer
from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command, Value, declared, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import ENGINE, Engine, Output, engine_of, output
from sacrecap.cli.system_names import in_folder, name_and_file, named
from sacrecap.corpus.corpus import CandidateSource, CaptionSource
from sacrecap.data import read_references
from sacrecap.errors import UsageError, warn
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.comparison import compare
from sacrecap.scoring.diversity import diversity
from sacrecap.scoring.intervals import Resampling


@click.command(
    cls=Command,
    values=(
        caption_files("reference", "candidate", groups=True),
        options.NEEDS,
        options.SIGNIFICANCE,
        options.resampling("Bootstrap samples, and those of --test permutation."),
        output("per_image report title strict percent digits"),
        ENGINE,
    ),
    common="--metrics --df --on-missing --test --interval --report --format --output --threads --quiet".split(),
)
@click.argument("references")
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@options.metrics
def compare_command(
    references: str,
    systems: tuple[str, ...],
    metrics: str,
    files: CaptionFiles,
    needs: Needs,
    significance: dict[str, Any],
    resampling: Resampling,
    engine: Engine,
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
    alone: dict[str, str] = {}
    if not (files.caption_column or any(part.needs_references for metric in chosen for part in metric.parts)):
        paths = in_folder([references, *systems])
        if len(paths) > 1 and not files.has_references(name_and_file(paths[0])[1], several=True):
            if len(paths) > 2:
                why = "has no more than one caption of an image, and no metric needs references"
                warn(f"{paths[0]}: {why}: it is compared as a system")
            alone = named(paths)
    if alone or len(places) > 1:  # one is an error, which need not wait for the files
        source, read, needs = files.of_systems(None if alone else references, alone or places, needs)
        images = (next(iter(read.values())) if source is None else source).image_ids
        captions, photos = read, options.image_source(needs, output.report, chosen, images)
    elif not places:
        source, captions = files.of_columns(references)
    comparison = compare(
        source, captions, chosen, **files.scored_as, needs=needs, **significance, resampling=resampling, engine=engine
    )
    if files.by is not None:
        images = next(iter(comparison.values())).image_ids
        comparison = comparison.by(files.values_of_column(files.by, images), files.by)
    return output.finish(comparison, images=photos)


def _check_local(_: click.Context, __: click.Parameter, engine: str) -> None:
    if engine_of(engine=engine) != "local":
        raise UsageError("caption sets are scored with all captions in memory; take --engine local")


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
            accuracy={"default": "cider-d", "shell_complete": options.complete_metrics},
            beta2={"type": float, "default": 5.0},
            top={"type": click.IntRange(1)},
        ),
        options.TEST,
    ],
)


@click.command(
    cls=Command,
    values=(
        caption_files("reference", "set"),
        options.NEEDS,
        _SCORED,
        options.resampling("Bootstrap samples."),
        output("per_image report title strict percent digits", papers=False),
    ),
    common="--references --metrics --df --interval --per-image --report --format --output --threads --quiet".split(),
)
@click.argument("sets", nargs=-1, required=True)
@click.option("--engine", default="local", hidden=True, expose_value=False, callback=_check_local)
@takes(
    """
    Files:
    --references FILE  Human captions: adds accuracy, F, people, the best K captions.
    --training FILE  Training captions: adds the share of novel captions.
    Output:
    --plots DIR  Write pictures there: PNG and SVG, and their data as CSV.
    --draw ID,ID  Images whose captions --plots and --report draw; by default the most and the least diverse.
    """
)
def diversity_command(
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
        systems, described, **scored, training=training_captions, **files.scored_as, needs=needs, resampling=resampling
    )
    if plots is not None:
        from sacrecap.report.pictures import write_pictures

        stage.text = "drawing"
        for line in write_pictures(result, plots, drawn):  # those that are left out
            warn(line)
    return output.finish(result, draw=drawn, images=photos)


_PERCENT = click.IntRange(0, 100)
_USUAL = CaptionLimits()


@click.command(
    cls=Command,
    values=(options.NEEDS, output("percent digits", elsewhere=False)),
    common="--site --metrics --rank-by --title --df --format --threads --quiet".split(),
)
@click.argument("references", metavar="FOLDER | REFERENCES")
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option("-o", "--site", metavar="DIR", help="Write the board's page and its JSON, index.html and board.json.")
@takes(
    """
    Captions:
    --rank-by METRIC  Whose ranks the board shows: CIDEr-D by default, or else the first.
    --title TEXT  The heading of the page.
    --most-degenerate PERCENT  Refuse a file with more captions that are empty, too long or too short, or repeat one
        word.
    --most-same PERCENT  Refuse a file with more captions that are one and the same.
    --longest-words N  A caption of more words is too long.
    """,
    most_degenerate={"type": _PERCENT, "default": _USUAL.most_degenerate},
    most_same={"type": _PERCENT, "default": _USUAL.most_same},
    longest_words={"type": click.IntRange(1), "default": _USUAL.longest_words},
)
@options.metrics
@options.tokenizer
def board_command(
    references: str,
    systems: tuple[str, ...],
    site: str | None,
    metrics: str,
    tokenizer: Tokenizer,
    needs: Needs,
    output: Output,
    rank_by: str | None,
    title: str | None,
    **limits: int,
) -> None:
    """Rank systems on references that stay hidden.

    FOLDER is a contest: its contest.toml declares references, metrics, dates and rules, submissions/TEAM/ has the files
    of a team, of which the best is ranked. Or give REFERENCES and SYSTEMS, as for sacrecap compare, each a team of its
    own.

    The board tells four decimals of each score, ranks, and which pairs a test separates; no number on it hangs on
    single images. Write it with -o where a web server finds it: its page needs no other file.
    """
    from sacrecap.boards import Contest, board
    from sacrecap.boards.contest_board import write_site

    output.check()
    if not systems and os.path.isdir(references):
        declared_there = {"metrics", "tokenizer", "objects", "rank_by", "title", *vars(_USUAL)}
        for parameter in options.on_command_line():
            if parameter.name in declared_there:
                place = os.path.join(references, "contest.toml")
                raise UsageError(f"{parameter.opts[0]} is declared in {place}; change it there")
        contest = Contest.load(references)
        stage.text = "scoring"
        of_contest = contest.board(needs=needs)
        if site is not None:
            of_contest.write(site)
        output.show(of_contest)
        return
    teams = {name: {name: path} for name, path in named(in_folder(systems)).items()}
    stage.text = "scoring"
    rules = CaptionLimits(**limits)
    result = board(references, teams, metrics, rank_by=rank_by, tokenizer=tokenizer, limits=rules, needs=needs)
    if site is not None:
        write_site(site, result, [references], title=title)
    output.show(result)
