"""`sacrecap score`: one system's captions against references."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import ENGINE, Engine, Output, output
from sacrecap.corpus.corpus import Corpus
from sacrecap.data.source import system_name
from sacrecap.errors import UsageError
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.score import score

_NOT_WITH_RANK = (
    "candidates captions_format references_column add_references on_missing on_extra on_duplicate by interval samples "
    "seed per_image report baseline explain strict percent digits engine"
).split()
"""What is for scores of candidates, and does nothing where references are ranked."""


@click.command(
    cls=Command,
    values=(
        caption_files("reference", "candidate", groups=True),
        options.NEEDS,
        options.resampling("Bootstrap samples."),
        output("per_image report title baseline strict percent digits"),
        ENGINE,
    ),
    common="--metrics --df --on-missing --interval --per-image --report --format --output --threads --quiet".split(),
    context_settings={"allow_extra_args": True},
)
@click.argument("references")
@click.argument("candidates", required=False)
@options.metrics
@takes(
    """
    Output:
    --explain IMAGE_ID  Show how METEOR aligned this image's candidate, which object VIFIDEL moved to which word, what
        of SPICE's scene graphs matches, and which words CHAIR finds hallucinated, after the scores; may be repeated.
    Statistics:
    --rank IMAGE_ID|all  Instead of candidates, rank this image's references, each scored against its others; may be
        repeated.
    """,
    explain={"multiple": True},
    rank={"multiple": True},
)
def score_command(
    references: str,
    candidates: str | None,
    metrics: str,
    files: CaptionFiles,
    needs: Needs,
    resampling: Resampling,
    engine: Engine,
    output: Output,
    explain: tuple[str, ...],
    rank: tuple[str, ...],
) -> int:
    """Score CANDIDATES (one caption per image) against REFERENCES (several).

    Files may be COCO JSON, {id: captions} JSON, Karpathy splits, JSON lines, CSV, TSV, Parquet, Flickr token files,
    those of many data sets and harnesses, or URLs; - is stdin. REFERENCES may also be the folder that sacrecap caption
    trains on, with --split, or the name of a test set: see sacrecap testsets. If one file has both, such as rows with a
    prediction and references, give only this file; so do where no metric needs references.
    """
    context = click.get_current_context()
    if context.args:
        raise click.UsageError(
            f"score takes the captions of one system, got {1 + len(context.args)} files; compare several systems with "
            "sacrecap compare REFERENCES SYSTEM SYSTEM"
        )
    if rank:
        _rank(references, rank, metrics, files, needs, output)
        return 0
    if references == candidates == "-":
        raise UsageError("references and candidates cannot both be standard input; name a file for one of them")
    if explain:
        from sacrecap.report.score_formats import check_explained

        check_explained(output.format_)
    chosen = parse_metrics(metrics, needs)
    output.check()
    source: Any = None
    captions, photos = None, None
    by_references = any(part.needs_references for metric in chosen for part in metric.parts)
    if candidates is None and not (by_references or files.has_references(references)):
        _, systems, needs = files.of_systems(None, {references: references}, needs)
        source = Corpus.without_references(systems[references], tokenizer=files.tokenizer)
    elif candidates is None and engine != "local" and needs.get("images") is None:
        source = files.in_pieces(references)
    if source is None:
        source, captions, needs = files.of_system(references, candidates, needs)
    if needs.get("images") is not None:
        photos = options.image_source(needs, output.report, chosen, source.image_ids)
    needs = with_own_scores(needs, candidates)
    if engine != "local":  # whether anything is wanted of single images
        engine = replace(engine, rows=bool(explain or files.by or output.per_image or output.report or output.baseline))
    result = score(source, captions, chosen, **files.scored_as, needs=needs, resampling=resampling, engine=engine)
    if files.by is not None:
        result = result.by(files.values_of_column(files.by, result.image_ids), files.by)
    explained = {image: result.explain(image) for image in explain}
    return output.finish(result, explained=explained, title=system_name(candidates or references), images=photos)


def _rank(
    references: str, images: tuple[str, ...], metrics: str, files: CaptionFiles, needs: Needs, output: Output
) -> None:
    """Prints the ranks of the images' references, in the order of the last metric."""
    for parameter in options.on_command_line():
        if parameter.name in _NOT_WITH_RANK:
            called = "CANDIDATES" if parameter.name == "candidates" else parameter.opts[0]
            raise click.UsageError(f"--rank ranks references; leave {called} out")
    if "all" in images and len(images) > 1:
        raise click.UsageError("--rank all ranks every image; leave the others out")
    from sacrecap.judgments import rank_references

    output.check()
    stage.text = "reading"
    [captions] = files.read([("references", references)])
    stage.text = "scoring"
    chosen = None if images == ("all",) else images
    ranking = rank_references(captions, chosen, metrics, tokenizer=files.tokenizer, needs=needs, threads=needs.threads)
    output.show(ranking)


def with_own_scores(needs: Needs, candidates: str | None) -> Needs:
    """The needs; of scores that others computed of several systems, those of the one that the file is called after."""
    if "scores" not in needs or candidates is None:
        return needs
    from sacrecap.metrics.outside import for_system, outside_scores

    scores = outside_scores(needs)
    name = system_name(candidates)
    return for_system(needs, name) if scores is not None and name in (scores.systems or ()) else needs
