"""Metrics and people: how well they agree, on one set of judgments or all, and what people would say of the rest."""

from __future__ import annotations

from typing import Any

import click

from sacrecap.choices import DATASETS, DOCUMENTS, RATERS, TIES, UNDECIDED, VOTES, Tokenizer
from sacrecap.cli import options
from sacrecap.cli.group import Command, Value, declared, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import Output, output
from sacrecap.cli.system_names import named
from sacrecap.data.source import system_name
from sacrecap.errors import DataError
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Resampling


def reference_counts(text: str) -> tuple[int, ...]:
    """Whole numbers, separated by commas."""
    parts = [part.strip() for part in text.split(",")]
    if not all(map(str.isdecimal, parts)):
        hint = "; a file of references is given by --captions" if "." in text else ""
        raise click.BadParameter(f"{text!r} is not a list of whole numbers, such as 1,5,48{hint}")
    return tuple(map(int, parts))


def rating_range(text: str) -> tuple[float, float]:
    """The smallest and the largest value, separated by a comma."""
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low, high = 0.0, 0.0
    if not low < high:
        raise click.BadParameter(f"{text!r} is not a smaller and a larger number, such as 1,5")
    return low, high


def raters(text: str) -> str:
    """What a data point is, or a pattern of the columns of one rater each."""
    if text not in RATERS and "*" not in text and "?" not in text:
        raise click.BadParameter(f"{text!r} is none of {', '.join(RATERS)}, and no pattern of columns, such as R*")
    return text


def words(text: str) -> dict[str, str]:
    """What words stand for, separated by commas."""
    pairs = [pair.partition("=") for pair in text.split(",")]
    if not all(word.strip() and sign and category.strip() for word, sign, category in pairs):
        raise click.BadParameter(f"{text!r} does not say what words stand for, such as model_a=b,model_b=c,unsure=tie")
    return {word.strip(): category.strip() for word, _, category in pairs}


_JUDGMENTS = Value(
    "reading",
    "Files",
    dict,
    declared(
        """
        --dataset NAME  The data set, one of those that sacrecap meta lists; by default recognised from content.
        --captions FILE  References, or a test set, in place of those of the judgments; they meet by image. Of Flickr8k
            and THumB the captions or references of the release.
        --rating NAME  What was rated, where captions have several ratings.
        --rating-range LOW,HIGH  Refuse ratings outside (format ratings).
        --categories LIST  Judgments of these categories alone, such as MM; also others than the usual ones.
        --drop-own-reference  Remove a candidate from its own references before scoring.
        --pairwise FILE  Direct votes on the same pairs: the export of a pairwise study. Pairs meet by image and
            captions.
        --words LIST  What words of other tools stand for, such as model_a=b,model_b=c,unsure=tie, or good=3,bad=1.
        --votes  Whose votes decide, where a file has both: the consensus of triplets, or the direct votes.
        --undecided  What a pair without a majority is: left out, or won by b or c.
        """,
        dataset={"type": click.Choice(DATASETS)},
        rating_range={"type": rating_range},
        categories={"type": lambda text: [name.strip() for name in text.split(",")]},
        words={"type": words},
        drop_own_reference={"is_flag": True},
        votes={"type": click.Choice(VOTES), "default": "consensus"},
        undecided={"type": click.Choice(UNDECIDED), "default": "out"},
    ),
)


@click.command(
    cls=Command,
    values=(
        _JUDGMENTS,
        options.NEEDS,
        options.resampling("Bootstrap samples.", intervals=options.BOOTSTRAPPED),
        output("report title"),
    ),
    common="--metrics --dataset --references --ties --scores --interval --report --format --output --quiet".split(),
    params=[options.JUDGED_METRICS, options.PLUGIN],
)
@click.argument("path")
@takes(
    """
    Output:
    --plot FILE  Draw agreement against the numbers of references; without several, the ratings with their scores, or
        the wins of each system: .svg, .png or .pdf.
    Statistics:
    --references LIST  How many references to score against, such as 1,5,48: the first ones of each image; all by
        default. Against 0, only metrics are measured that can do without, such as VIFIDEL.
    --draws N  For each of --references, also N random draws of references: they give the band around the curve.
    --halves N  Also split the references into halves N times: the votes by one are predicted by people and metrics with
        the other half (triplet studies).
    --documents  What document frequencies count: each judged row with its references, as published figures do, or each
        image once.
    --ties  What a metric's tie counts as in a forced choice.
    --raters WHAT  What is a data point where several people rated a caption: each rating, or their mean or median; or a
        pattern of the columns of one rater each, such as 'R*'. Can be repeated.
    """,
    references={"type": reference_counts},
    draws={"type": click.IntRange(0), "default": 0},
    halves={"type": click.IntRange(0), "default": 0},
    documents={"type": click.Choice(DOCUMENTS), "default": "rows"},
    ties={"type": click.Choice(TIES), "default": "wrong"},
    raters={"name": "points", "type": raters, "multiple": True},
)
@options.tokenizer
def agreement_command(
    path: str,
    metrics: str,
    reading: dict[str, Any],
    needs: Needs,
    tokenizer: Tokenizer,
    resampling: Resampling,
    output: Output,
    plot: str | None,
    **conditions: Any,
) -> None:
    """Measure how well metrics agree with the human judgments in PATH.

    PATH is the file or folder of PASCAL-50S, ABSTRACT-50S, Flickr8k (expert ratings or CrowdFlower votes), THumB, or
    JSON lines of pairs or ratings, also of caption sets. By default the metrics are the group coco; for caption sets,
    the group diversity.
    """
    from sacrecap.judgments import agreement, read_judgments
    from sacrecap.judgments.judged_rows import usual_metrics
    from sacrecap.judgments.row_scorer import for_judgments
    from sacrecap.metrics.registry import parse_metrics

    output.check(plot=plot)
    stage.text = "reading"
    references, points = conditions.pop("references") or (), conditions.pop("points")
    patterns = [point for point in points if point not in RATERS]
    judged = read_judgments(path, raters=patterns[-1] if patterns else None, **reading)
    if plot is not None:
        from sacrecap.report.pictures import check_plot

        check_plot(plot, judged, references)
    chosen = metrics or usual_metrics(judged)
    named = parse_metrics(chosen, for_judgments(needs, judged))
    photos = options.image_source(needs, output.report, named, dict.fromkeys(row.image_id for row in judged.rows))
    stage.text = "scoring"
    result = agreement(
        judged,
        chosen,
        references=references,
        raters=next((point for point in reversed(points) if point in RATERS), "each"),
        **conditions,
        tokenizer=tokenizer,
        needs=needs,
        resampling=resampling,
        threads=needs.threads,
    )
    stage.text = "writing"
    if plot is not None:
        from sacrecap.report.pictures import write_plot

        write_plot(result, plot)
    output.finish(result, title=system_name(path), images=photos)


@click.command(
    cls=Command,
    values=(
        options.NEEDS,
        options.resampling("Bootstrap samples.", intervals=options.BOOTSTRAPPED),
        output("report title"),
    ),
    common="--metrics --results --scores --interval --report --format --output --threads --quiet".split(),
    params=[options.JUDGED_METRICS, options.PLUGIN],
)
@click.argument("datasets", nargs=-1, metavar="[DATASET]...")
@takes(
    "--results DIR  Where each metric's scores are kept; a run that was cut off goes on there.",
    results={"default": "meta-results"},
)
def meta_command(
    datasets: tuple[str, ...], metrics: str, results: str, needs: Needs, resampling: Resampling, output: Output
) -> None:
    """Measure every metric on every DATASET: a file or folder of judgments, as for sacrecap agreement.

    A data set is called as it is recognised; NAME=FILE calls it otherwise, such as polaris=test.parquet, and says what
    a file is that is not recognised. Figures of papers stand beside those of the same name. By default the metrics are
    all that can be computed here. Without a DATASET, it lists those that are recognised, and what is measured on each.
    """
    from sacrecap.judgments import meta, read_judgments
    from sacrecap.judgments.meta import PROTOCOLS

    output.check()
    if not datasets:
        options.emit("\n".join(f"{name}: {measured}" for name, measured in PROTOCOLS.items()), output.output)
        return
    stage.text = "reading"
    judged = {}
    for name, path in named(datasets).items():
        is_called = f"{name}={path}" in datasets
        try:
            read = read_judgments(path)
        except DataError:
            if not is_called or name not in DATASETS:
                raise
            read = read_judgments(path, dataset=name)
        is_own = is_called or read.dataset in ("pairs", "ratings")
        judged[name if is_own else read.dataset] = read
    stage.text = "scoring"
    result = meta(judged, metrics or "all", results=results, needs=needs, resampling=resampling, threads=needs.threads)
    output.finish(result)


@click.command(cls=Command, values=(output("report title"),))
@click.argument("scores")
@click.argument("ratings")
@takes(
    """
    --witness NAME  A column of SCORES to use; all by default.
    --rating NAME  Which rating, where captions have several.
    --rating-range LOW,HIGH  The scale, where all ratings are equal.
    --raters PATTERN  The columns of one rater each, such as 'R*'; columns like rater_1 are found without.
    --words LIST  What words of other tools stand for, such as model_a=b,model_b=c,unsure=tie.
    --interval LEVEL  Confidence level of the intervals.
    --plan  Also tell how long the interval would be with other numbers of ratings.
    """,
    witness={"name": "witnesses", "multiple": True},
    rating_range={"type": rating_range},
    words={"type": words},
    interval={"type": click.FloatRange(0, 1, min_open=True, max_open=True), "default": 0.95},
    plan={"is_flag": True},
)
def calibrate_command(scores: str, ratings: str, witnesses: tuple[str, ...], output: Output, **how: Any) -> None:
    """Tell what people would say of all captions of SCORES, from the RATINGS of a few.

    SCORES has a row per caption, with image_id, system or caption, and a column per metric or judge (Parquet, CSV, JSON
    lines), as sacrecap compare --per-image writes. RATINGS has image_id, system or caption, and rating; or it is the
    export of a study, of ratings or of choices. The rated captions must be drawn at random; where not all were drawn
    alike, a column inclusion has what the probability of each draw is proportional to.
    """
    from sacrecap.judgments import calibrate

    output.check()
    stage.text = "calibrating"
    calibration = calibrate(scores, ratings, witnesses=witnesses or None, **how)
    output.finish(calibration)
