"""`sacrecap check`: scores that continuous integration insists on."""

from __future__ import annotations

import math
import sys
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import FAILED, Output, output
from sacrecap.errors import UsageError
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.check_formats import verdict
from sacrecap.resources.needs import Needs
from sacrecap.scoring.check import Kind, check, read_baseline
from sacrecap.scoring.intervals import Resampling


@click.command(
    cls=Command,
    values=(
        caption_files(captions="candidate"),
        options.NEEDS,
        options.SIGNIFICANCE_OF_CHECK,
        options.resampling("Samples of --test permutation and bootstrap.", intervals=None),
        output(),
    ),
    common="--min --max --against --metrics --df --on-missing --format --output --threads --quiet".split(),
    params=[options.COMPARED_METRICS, options.PLUGIN],
)
@click.argument("references")
@click.argument("candidates")
@takes(
    """
    --against FILE.json  Fail if a metric is significantly worse than in this baseline, which sacrecap score wrote by
        --baseline.
    """,
    heading="Files",
)
@takes(
    """
    --min METRIC=SCORE  Fail below this score, such as cider-d=1.1; may be repeated.
    --max METRIC=SCORE  Fail above this score; may be repeated.
    --allow-missing SHARE  Fail if more of the images have no candidate, where --on-missing lets them pass.
    """,
    heading="Statistics",
    min={"name": "least", "multiple": True},
    max={"name": "most", "multiple": True},
    allow_missing={"type": click.FloatRange(0, 1), "default": 0.05},
)
def command(
    references: str,
    candidates: str,
    against: str | None,
    metrics: str,
    files: CaptionFiles,
    needs: Needs,
    significance: dict[str, Any],
    resampling: Resampling,
    output: Output,
    **bounds: Any,
) -> int:
    """Compare the scores of CANDIDATES with bounds or a baseline, for continuous integration.

    The exit status is 0 if all checks pass, and 3 if one fails.
    """
    kinds: tuple[tuple[Kind, str], ...] = (("min", "least"), ("max", "most"))
    of_scores = [_bound(kind, text) for kind, name in kinds for text in bounds[name]]
    if not (of_scores or against):
        raise click.UsageError("nothing to check; give --min METRIC=SCORE, --max METRIC=SCORE or --against FILE.json")
    if metrics and not against:
        raise click.UsageError("--metrics chooses what to compare with --against FILE.json, which was not given")
    if references == candidates == "-":
        raise UsageError("references and candidates cannot both be standard input; name a file for one of them")
    baseline = None if against is None else read_baseline(against)
    compared = () if baseline is None else parse_metrics(metrics or list(baseline.scores), needs)
    output.check()
    described, captions, needs = files.of_system(references, candidates, needs)
    result = check(
        described,
        captions,
        of_scores,
        baseline,
        compared,
        tokenizer=files.tokenizer,
        needs=needs,
        on_missing=files.on_missing,
        **significance,
        allow_missing=bounds["allow_missing"],
        resampling=resampling,
    )
    output.show(result)
    if result.passed:
        return 0
    click.echo(f"sacrecap: {verdict(result)}", file=stage.errors or sys.stderr)
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
