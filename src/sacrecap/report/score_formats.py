"""A result in each of the formats of `--format`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sacrecap.errors import UsageError, option
from sacrecap.report.printing import Views, json_text
from sacrecap.report.printing.table import Cell, Column, Figures, Number, Records, Table, Value, percent
from sacrecap.scoring.result import Result, Score, images_of, left_out, missing

if TYPE_CHECKING:
    from sacrecap.scoring.comparison import Comparison
    from sacrecap.scoring.diversity_result import Diversity
    from sacrecap.scoring.findings import SystemResult


def render(
    result: Result, format_: str, *, explained: Mapping[str, Mapping[str, Any]] | None = None, **how: Any
) -> str:
    """The result as text in the format of that name; `how` are the other arguments of `Views.render`.

    If `explained` images are given (METEOR's alignment, VIFIDEL's plan, SPICE's graphs, CHAIR's mentions), they
    follow the table or are part of the JSON; raises `UsageError` for them in another format.
    """
    views = Views(_records, partial(_tables, in_paper=True), partial(_tables, in_paper=False))
    if not explained:
        return views.render(result, format_, **how)
    check_explained(format_)
    if format_ == "json":
        document = result.to_dict()
        for image, by_kind in explained.items():
            for kind, explanation in by_kind.items():
                document.setdefault(f"{kind}s", {})[image] = explanation and explanation.to_dict()
        return json_text(document)
    drawn = [
        f"{image}\n{text}" for image, by_kind in explained.items() for text in by_kind.values() if text is not None
    ]
    return "\n\n".join([views.render(result, format_, **how), *drawn])


def check_explained(format_: str) -> None:
    """Raises `UsageError` if a format has no place for explained images."""
    if format_ not in ("table", "json"):
        formats = option("format", "table", "json")
        raise UsageError(f"explained images are shown with {formats}, not {format_}")


def sentence(text: str) -> str:
    """The text as a sentence: with a capital, and a full stop; an empty text stays empty."""
    return text and f"{text[0].upper()}{text[1:]}."


def remarks(result: Result | Comparison | Diversity, *more: str) -> list[str]:
    """What was found, and the notes."""
    return [*map(str, result.findings), *(f"note: {note}" for note in (*result.notes, *more))]


def p_value(p: float) -> str | Number:
    """A p-value to three decimals; one below that as a bound."""
    return "<0.001" if p < 0.001 else Number(p, ".3f")


def heading(systems: Mapping[str, Result], figures: Figures) -> str:
    """Number of scored images, references, tokenizer; the scale of the figures, if it is not 1; what was left out, and
    what has no score.
    """
    result = next(iter(systems.values()))
    least, most = result.corpus.reference_counts
    references = f"{least}" if least == most else f"{least} to {most}"
    reference = "reference" if most == 1 else "references"
    scored = f"{images_of(result)}, {references} {reference} each, tokenizer {result.corpus.tokenizer}"
    return "; ".join(filter(None, [scored, figures.scale, left_out(systems), *missing(systems)]))


def caption(systems: Mapping[str, SystemResult], figures: Figures) -> str:
    """The scale of the figures, if it is not 1; and of how many images they are, where some are left out."""
    of = left_out(systems)
    images = f"{images_of(next(iter(systems.values())))}; {of}" if of else ""
    return " ".join(filter(None, [sentence(figures.scale), sentence(images)]))


def _records(result: Result) -> Records:
    heads = ["metric", "score", "lower", "upper", "signature"]
    parts: dict[str | None, Mapping[str, Score]] = {None: result}
    if result.groups is not None:
        heads.append(result.groups.column)
        parts.update(result.groups.scores)
    rows = []
    for group, scores in parts.items():
        for key, score in scores.items():
            row = (key, score.value, *(score.interval or (None, None)), score.signature, group)
            rows.append(row[: len(heads)])
    return heads, rows


def groups_table(systems: Mapping[str, Result], figures: Figures) -> list[Table]:
    """A row of scores for each group of images and each system, if there are groups."""
    results = {name: result.groups for name, result in systems.items() if result.groups is not None}
    if not results:
        return []
    first, several = next(iter(results.values())), len(systems) > 1
    columns = [
        Column(first.column, align="left", names=True),
        *([Column("system", align="left", printed="System", names=True)] if several else []),
        Column("images", printed="Images", kind="count"),
        *(Column(score.label, kind="score") for score in next(iter(systems.values())).values()),
    ]
    rows: list[list[Value]] = []
    for group in first.scores:
        for name, groups in results.items():
            named = [group, name] if several else [group]
            rows.append([*named, f"{groups.images(group):,}", *map(figures.scored, groups.scores[group].values())])
    return [Table(columns, rows, title=f"by {first.column}", caption=sentence(figures.scale))]


def scores_table(result: Result, figures: Figures, *, in_paper: bool = False) -> Table:
    """A row for each score; but for papers, with its landmarks or a bar within its metric's range, and a title."""
    level = result.resampling.interval
    columns = [
        Column("metric", align="left", printed="Metric", names=True),
        Column("score", printed="Score", bold=True, kind="score"),
    ]
    if level is not None:
        columns.append(Column(f"{percent(level)} interval", kind="interval", term="interval"))
    rows: list[list[Value]] = []
    notes = []
    for key, score in result.items():
        metric = score.metric
        row: list[Value] = [Cell(metric.label, term=key), figures.number(score.value)]
        if level is not None:
            row.append(figures.interval(*score.interval) if score.interval else "")
        if not in_paper:
            if score.landmarks:
                row.append(", ".join(f"{of} {figures.number(landmark)}" for of, landmark in score.landmarks.items()))
            elif metric.largest is None or not math.isfinite(score.value):
                row.append("")
            else:
                row.append(figures.bar(score.value, metric.largest, score.interval))
            if score.coverage is not None and "embeddings" in metric.needs:
                notes.append(f"{metric.label}: {score.coverage:.1%} of the content words and labels have a vector")
        rows.append(row)
    systems = {"": result}
    return Table(
        columns if in_paper else [*columns, Column("range", align="left", kind="range")],
        rows,
        title="" if in_paper else heading(systems, figures),
        caption=caption(systems, figures),
        notes=[*notes, *remarks(result)],
        signatures=[score.signature for score in result.values()],
    )


def _tables(result: Result, figures: Figures, *, in_paper: bool) -> list[Table]:
    return [scores_table(result, figures, in_paper=in_paper), *groups_table({"": result}, figures)]
