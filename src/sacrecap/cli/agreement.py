"""`sacrecap agreement`: metrics against people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sacrecap.choices import CATEGORIES, DATASETS, DOCUMENTS, TIES
from sacrecap.cli import options
from sacrecap.cli.interruptible import stage
from sacrecap.data.source import system_name

if TYPE_CHECKING:
    from sacrecap.choices import Tokenizer
    from sacrecap.resources.needs import Needs

    _Counts = click.ParamType[tuple[int, ...]]
    _Range = click.ParamType[tuple[float, float]]
else:
    _Counts = _Range = click.ParamType


class Counts(_Counts):
    """Whole numbers above 0, separated by commas."""

    name = "list"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        parts = [part.strip() for part in str(value).split(",")]
        if not all(part.isdecimal() and int(part) > 0 for part in parts):
            self.fail(f"{value!r} is not a list of whole numbers above 0, such as 1,5,48", param, ctx)
        return tuple(map(int, parts))


class Range(_Range):
    """The smallest and the largest value, separated by a comma."""

    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        try:
            low, high = map(float, str(value).split(","))
        except ValueError:
            low, high = 0.0, 0.0
        if not low < high:
            self.fail(f"{value!r} is not a smaller and a larger number, such as 1,5", param, ctx)
        return low, high


@click.command()
@click.argument("path")
@click.option("--dataset", type=click.Choice(DATASETS), help="The data set; by default recognised from content.")
@options.metrics
@click.option(
    "--references",
    type=Counts(),
    metavar="LIST",
    help="How many references to score against, such as 1,5,48: the first ones of each image; all by default.",
)
@click.option(
    "--draws",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    help="For each of --references, also N random draws of references: they give the band around the curve.",
)
@click.option(
    "--halves",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Also split the references into halves N times: the votes by one are predicted by people and metrics with the "
    "other half (ABSTRACT-50S, PASCAL-50S).",
)
@click.option("--plot", metavar="FILE", help="Draw agreement against the number of references: .svg, .png or .pdf.")
@click.option("--report", metavar="FILE.html", help="Write a report: one self-contained page.")
@click.option(
    "--documents",
    type=click.Choice(DOCUMENTS),
    default="rows",
    show_default=True,
    help="What document frequencies count: each judged row with its references, as published figures do, or each "
    "image once.",
)
@click.option(
    "--ties",
    type=click.Choice(TIES),
    default="wrong",
    show_default=True,
    help="What a metric's tie counts as in a forced choice.",
)
@click.option("--drop-own-reference", is_flag=True, help="Remove a candidate from its own references before scoring.")
@click.option(
    "--scores",
    metavar="FILE",
    help="Scores that others computed: CSV, TSV or JSON lines; a column per metric, a row per judgment.",
)
@click.option(
    "--captions",
    metavar="FILE",
    help="Captions or references that the judgments lack, if they are not in the same folder.",
)
@click.option("--rating", metavar="NAME", help="What was rated, where captions have several ratings.")
@click.option("--rating-range", type=Range(), metavar="LOW,HIGH", help="Refuse ratings outside (format ratings).")
@click.option(
    "--categories",
    default=",".join(CATEGORIES),
    show_default=True,
    metavar="LIST",
    help="Categories that pairs may have (format pairs).",
)
@options.needs
@options.tokenizer
@options.interval
@options.samples("Bootstrap samples.")
@options.common
def command(
    path: str,
    dataset: str | None,
    metrics: str,
    references: tuple[int, ...] | None,
    draws: int,
    halves: int,
    plot: str | None,
    report: str | None,
    documents: str,
    ties: str,
    drop_own_reference: bool,
    scores: str | None,
    captions: str | None,
    rating: str | None,
    rating_range: tuple[float, float] | None,
    categories: str,
    needs: Needs,
    tokenizer: Tokenizer,
    interval: float | None,
    samples: int,
    format_: str,
    output: str,
    threads: int,
    seed: int,
) -> None:
    """Measure how well metrics agree with the human judgments in PATH.

    PATH is the file or folder of PASCAL-50S, ABSTRACT-50S, Flickr8k (expert ratings or CrowdFlower votes), THumB, or
    JSON lines of pairs or ratings.
    """
    from sacrecap.judgments import agreement, read_judgments
    from sacrecap.metrics.registry import parse_metrics
    from sacrecap.report.agreement import render
    from sacrecap.report.curve import check_plot, draw

    if plot is not None:
        check_plot(plot, references)
    options.check_outputs(output=output, plot=plot, report=report)
    photos = options.image_source(needs, report, parse_metrics(metrics))
    stage.text = "reading"
    judgments = read_judgments(
        path,
        dataset=dataset,
        captions=captions,
        rating=rating,
        rating_range=rating_range,
        categories=[name.strip() for name in categories.split(",")],
        drop_own_reference=drop_own_reference,
    )
    if photos is not None:
        photos.find_all(dict.fromkeys(row.image_id for row in judgments.rows))
    stage.text = "scoring"
    found = agreement(
        judgments,
        metrics,
        references=references or (),
        draws=draws,
        halves=halves,
        documents=documents,
        ties=ties,
        scores=scores,
        tokenizer=tokenizer,
        needs=needs,
        interval=interval,
        samples=samples,
        seed=seed,
        threads=threads,
    )
    stage.text = "writing"
    if plot is not None:
        draw(found, plot)
    if report is not None:
        from sacrecap.report.html import write_report

        write_report(found, report, title=system_name(path), images=photos)
    options.emit(render(found, format_, colour=options.colour(output), width=options.width(output)), output)
