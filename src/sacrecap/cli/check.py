"""Whether scores are as they should be: above bounds, no worse than a baseline, or what a signature says."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from sacrecap.choices import TOKENIZERS, Tokenizer
from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import FAILED, Output, output
from sacrecap.cli.score import with_own_scores
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import origin_of, parse_metrics
from sacrecap.report.check_formats import verdict
from sacrecap.resources.needs import Needs
from sacrecap.scoring.check import Kind, check, read_baseline
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.result import Score
from sacrecap.scoring.score import score_corpus
from sacrecap.scoring.signature import Signature


@click.command(
    cls=Command,
    values=(
        caption_files("reference", "candidate"),
        options.NEEDS,
        options.SIGNIFICANCE_OF_CHECK,
        options.resampling("Samples of --test permutation and bootstrap.", intervals=None),
        output("percent digits"),
    ),
    common="--min --max --against --metrics --df --on-missing --format --output --threads --quiet".split(),
    params=[options.COMPARED_METRICS, options.PLUGIN],
)
@click.argument("references")
@click.argument("candidates")
@takes(
    """
    Files:
    --against FILE.json  Fail if a metric is significantly worse than in this baseline, which sacrecap score wrote by
        --baseline.
    Statistics:
    --min METRIC=SCORE  Fail below this score, such as cider-d=1.1; may be repeated.
    --max METRIC=SCORE  Fail above this score; may be repeated.
    --allow-missing SHARE  Fail if more of the images have no candidate, where --on-missing lets them pass.
    """,
    min={"name": "least", "multiple": True},
    max={"name": "most", "multiple": True},
    allow_missing={"type": click.FloatRange(0, 1), "default": 0.05},
)
def check_command(
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
        **files.scored_as,
        needs=needs,
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


_CALLED = {
    "refs": "references",
    "caps": "captions",
    "df": "frequencies",
    "embeddings": "vectors",
    "lm": "language model",
    "pictures": "image files",
    "vocabulary": "words for objects",
    "tok": "tokenizer",
    "missing": "missing captions",
    "sacrecap": "version",
}
"""What differs, in words, by parts of signatures; others are called by their names."""
_LACKING = {
    "df": ("document_frequency", "--df"),
    "embeddings": ("embeddings", "--embeddings"),
    "lm": ("language_model", "--lm"),
    "objects": ("objects", "--objects"),
    "pictures": ("images", "--images"),
    "scores": ("scores", "--scores"),
    "standard": ("standard", "--standard"),
}
"""Parts of inputs that are not captions: what a call gives, and by which option."""


@click.command(
    cls=Command,
    values=(caption_files("reference", "candidate", tokenizer=False, missing=False), options.NEEDS),
    common="--df --embeddings --objects --images --lm --threads --quiet".split(),
    params=[options.PLUGIN, options.QUIET],
)
@click.argument("signature")
@click.argument("references")
@click.argument("captions", required=False)
@takes(
    """
    Metrics:
    --metric METRIC  The metric of the signature with the names that its files have here, where its parameters name
        files: bertscore(model=FOLDER).
    """
)
def verify_command(
    signature: str, references: str, captions: str | None, metric: str | None, files: CaptionFiles, needs: Needs
) -> int:
    """Say whether the number with this SIGNATURE comes again from REFERENCES and CAPTIONS, or what differs.

    Whatever else the number depends on is given as to sacrecap score; captions alone are enough for a metric without
    references. The tokenizer, how missing captions were treated, and how intervals were made stand in the signature.
    The exit status is 0 if it is the same number, and 3 if not, or if the number cannot be made here.
    """
    claimed = Signature.read(signature)
    if "+" in claimed.metric.partition("(")[0] or claimed.metric.startswith("f("):
        raise UsageError(f"{claimed.metric} is a figure of sacrecap diversity; make it again with that")
    if claimed.get("group") is not None:
        raise UsageError(f"the number is that of a group of images, {claimed.get('group')}; verify that of all images")
    if references == captions == "-":
        raise UsageError("references and captions cannot both be standard input; name a file for one of them")
    files.on_missing = "zero" if claimed.get("missing") == "zero" else "skip"
    files.on_extra = "skip"
    files.tokenizer = _tokenizer(claimed.get("tok"))
    needs = with_own_scores(needs, captions)
    scorable, why = _metric(claimed, metric, needs)
    how = _resampling(claimed.get("interval"))
    if scorable is not None and scorable.scores_sets:
        from sacrecap.scoring.diversity import diversity

        sets = references if captions is None else captions
        about = None if captions is None else references
        described, systems, needs = files.of_systems(about, {sets: sets}, needs, "sets")
        by_system = diversity(systems, described, [scorable], needs=needs, resampling=how, **files.scored_as)
        score: Score | None = by_system[sets][scorable]
    else:
        stage.text = "scoring"
        if captions is None and claimed.get("refs") is None and not files.has_references(references):
            _, systems, needs = files.of_systems(None, {references: references}, needs)
            corpus = Corpus.without_references(systems[references], tokenizer=files.tokenizer)
        else:
            described, candidates, needs = files.of_system(references, captions, needs)
            corpus = Corpus(described, candidates, threads=needs.threads, **files.scored_as)
        score = None if scorable is None else score_corpus(corpus, [scorable], needs=needs, resampling=how)[scorable]
    here = claimed.on(corpus) if score is None else Signature.read(score.signature)
    differ = claimed.differences(here)
    if not {"images", "caps"} & differ.keys():
        differ.pop("missing", None)  # an empty caption counts as none where missing ones count as empty
    _check_given(["embeddings"] if "embeddings" in differ else [], claimed, needs)
    of_files = {name for part in (scorable.parts if scorable else ()) for name in part.resolved} - _LACKING.keys()
    if named := next((part for part in differ if part in of_files and metric is None), None):
        opening = f"{claimed.metric[:-1]}," if claimed.metric.endswith(")") else f"{claimed.metric}("
        raise UsageError(
            f"{claimed.metric} was scored with {named}:{claimed.get(named)}, which is not the default; give it with "
            f"--metric '{opening}{named}=…)'"
        )
    click.echo("\n".join(_lines(here, score, differ, why)))
    return FAILED if differ or why else 0


def _metric(claimed: Signature, named: str | None, needs: Needs) -> tuple[Metric | None, str]:
    """The metric, or None for one that is not made here, and why its number cannot be made again here."""
    # References or captions are the input of some parts.
    parts = [name for name, value in claimed.parts if not value.startswith(("corpus(", "references(", "sets("))]
    # Of word vectors a call has its own, if it gives none.
    _check_given([name for name in parts if name in _LACKING and name != "embeddings"], claimed, needs)
    try:
        metrics = parse_metrics(named or claimed.metric, needs)
    except UsageError as error:
        if "code" not in dict(claimed.parts):
            raise
        return None, str(error)
    if len(metrics) != 1:
        raise UsageError(f"a signature is of one metric, and {claimed.metric!r} is {len(metrics)}")
    [metric] = metrics
    [meant] = parse_metrics(claimed.metric, needs)
    if metric.head != meant.head:
        raise UsageError(f"--metric {named} is {metric.head}, and the signature is of {meant.head}")
    if any("judge" in part.needs for part in metric.parts):
        return None, "it asks a language model, and answers differ"
    if any("scores" in part.needs for part in metric.parts):
        return metric, "others computed its scores"
    origin = next((origin_of(part) for part in metric.parts if origin_of(part) != "sacrecap"), None)
    return (metric, "") if origin is None else (None, f"the metric is that of {origin}")


def _check_given(parts: Sequence[str], claimed: Signature, needs: Needs) -> None:
    """Raises `UsageError` if an input of which these parts tell was not given."""
    for part in parts:
        need, option = _LACKING[part]
        if need not in needs and not (part == "objects" and "images" in needs):  # where they are found
            raise UsageError(
                f"{claimed.metric} was scored with {_CALLED.get(part, part)} that are not those of a call without "
                f"{option}: {part}:{claimed.get(part)}; give them with {option}"
            )


def _tokenizer(signed: str | None) -> Tokenizer:
    """The tokenizer of that part: sacreBLEU's stand there with versions, as `ja-mecab-0.996-IPA-lc@sacrebleu-2.6.0`."""
    name, _, _ = (signed or "ptb").partition("@")
    lower = name.endswith("-lc")
    fitting = [t for t in TOKENIZERS if t.endswith("-lc") == lower and name.startswith(t.removesuffix("-lc"))]
    if not fitting:
        raise UsageError(f"the signature has a tokenizer that is not known here: tok:{signed}")
    return max(fitting, key=len)


def _resampling(signed: str | None) -> Resampling:
    """How the interval was made."""
    if signed is None:
        return Resampling(None)
    method, _, numbers_text = signed.removesuffix(")").partition("(")
    level, *drawn = numbers_text.split(",")
    try:
        numbers = dict(zip(("samples", "seed"), map(int, drawn), strict=False))
        return Resampling(float(level), method, **numbers)  # type: ignore[arg-type]
    except ValueError:
        raise UsageError(f"the signature's interval is mistyped: {signed}") from None


def _lines(here: Signature, score: Score | None, differ: Mapping[str, tuple[str, str]], why: str) -> list[str]:
    """The lines that say how it ended."""
    lines = [
        f"{_CALLED.get(part, part)}: {mine or 'none'} in the signature, {here_value or 'none'} here"
        for part, (mine, here_value) in differ.items()
    ]
    number = "" if score is None else f"{score.key} {score}"
    if why:
        same = "these inputs differ" if differ else "captions and all other inputs that can be told are the same"
        return [f"cannot be made again here: {why}; {same}", *lines]
    what = "another number" if differ else "the same number"
    if [*differ] == ["sacrecap"]:
        what = "the same inputs by another version of sacrecap"
    return [f"{what}: {number}", *lines, str(here)]
