"""`sacrecap check`: scores that continuous integration insists on."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import click

from sacrecap.choices import OnMissing, Tokenizer
from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.interruptible import stage
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError
from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.check_formats import render_check, verdict
from sacrecap.scoring.baseline import baseline_corpus, read_baseline, recorded
from sacrecap.scoring.check import check_result
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    from sacrecap.choices import Test
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.metrics import Metric
    from sacrecap.report.printing.figures import Figures
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.check import Kind

FAILED = 3
"""The exit status of a check that failed."""


@click.command()
@click.argument("references")
@click.argument("candidates")
@click.option(
    "--min",
    "least",
    multiple=True,
    metavar="METRIC=SCORE",
    help="Fail below this score, such as cider-d=1.1; may be repeated.",
)
@click.option("--max", "most", multiple=True, metavar="METRIC=SCORE", help="Fail above this score; may be repeated.")
@click.option(
    "--against",
    metavar="FILE.json",
    help="Fail if a metric is significantly worse than in this baseline, which sacrecap score --baseline wrote.",
)
@options.compared_metrics
@options.test
@options.alpha
@options.samples("Permutations, or bootstrap samples.")
@options.needs
@options.tokenizer
@options.on_missing
@caption_files(captions="candidate")
@options.figures()
@options.common
def command(
    references: str,
    candidates: str,
    least: tuple[str, ...],
    most: tuple[str, ...],
    against: str | None,
    metrics: str,
    test: Test,
    alpha: float,
    samples: int,
    needs: Needs,
    tokenizer: Tokenizer,
    on_missing: OnMissing,
    files: CaptionFiles,
    figures: Figures,
    format_: str,
    output: str,
    threads: int,
    seed: int,
) -> int:
    """Compare the scores of CANDIDATES with bounds or a baseline, for continuous integration.

    The exit status is 0 if all checks pass, and 3 if one fails.
    """
    if not (least or most or against):
        raise click.UsageError("nothing to check; give --min METRIC=SCORE, --max METRIC=SCORE or --against FILE.json")
    if metrics and not against:
        raise click.UsageError("--metrics chooses what to compare with --against FILE.json, which was not given")
    if references == candidates == "-":
        raise UsageError("references and candidates cannot both be standard input; name a file for one of them")
    bounds = [*(_bound("min", text) for text in least), *(_bound("max", text) for text in most)]
    baseline = None if against is None else read_baseline(against)
    compared: tuple[Metric, ...] = ()
    if baseline is not None:
        compared = parse_metrics(metrics or list(baseline.scores), needs)
        for metric in compared:
            recorded(baseline, metric.key)
    options.check_outputs(output=output)
    stage.text = "reading"
    described, systems = files.of_systems(references, {candidates: candidates})
    stage.text = "tokenising"
    corpus = Corpus(described, systems[candidates], tokenizer=tokenizer, on_missing=on_missing, threads=threads)
    before = None if baseline is None else baseline_corpus(baseline, corpus, threads=threads)
    stage.text = "scoring"
    wanted = tuple(dict.fromkeys((*(metric for metric, _, _ in bounds), *compared)))
    now = score_corpus(corpus, wanted, needs=needs, threads=threads)
    then = None if before is None else score_corpus(before, compared, needs=needs, threads=threads)
    check = check_result(
        now,
        bounds,
        baseline,
        then,
        compared=compared,
        test=test,
        samples=samples,
        alpha=alpha,
        seed=seed,
        threads=threads,
    )
    colour, width = options.colour(output), options.width(output)
    options.emit(render_check(check, format_, figures=figures, colour=colour, width=width), output)
    if check.passed:
        return 0
    click.echo(f"sacrecap: {verdict(check)}", file=stage.errors or sys.stderr)
    return FAILED


def _bound(kind: Kind, text: str) -> tuple[Metric, Kind, float]:
    """The metric and the score of METRIC=SCORE; the metric's parameters may have equals signs of their own."""
    name, equals, number = (part.strip() for part in text.rpartition("="))
    try:
        score = float(number)
    except ValueError:
        score = math.nan
    if not (equals and name) or not math.isfinite(score):
        raise UsageError(f"--{kind} takes METRIC=SCORE, such as cider-d=1.1, got {text!r}")
    metrics = parse_metrics(name)
    if len(metrics) != 1:
        raise UsageError(f"--{kind} takes one metric, and {name!r} is {len(metrics)}; repeat the option for each")
    return metrics[0], kind, score
