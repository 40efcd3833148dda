"""Scores of caption sets in each of the formats of `--format`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain

from sacrecap.report.comparison_formats import test_name
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Figures, Number, Records, Table, Value, percent
from sacrecap.report.score_formats import caption, remarks
from sacrecap.scoring.diversity_result import Diversity
from sacrecap.scoring.result import images_of, left_out
from sacrecap.scoring.signature import in_one_line


def table(result: Diversity, figures: Figures) -> Table:
    """One row per figure, one column per system; people are the last column."""
    everybody = result.everybody()
    scored = {key: score for system in everybody for key, score in system.items()}
    signatures = {
        key: {system.name: system[key].signature for system in result.values() if key in system} for key in scored
    }
    rows: list[list[Value]] = [
        [
            Cell(f"{score.label} ↓" if score.metric.lower_is_better else score.label, term=key),
            *(figures.scored(system.figures[key]) if key in system.figures else "" for system in everybody),
        ]
        for key, score in scored.items()
    ]
    sizes = [
        f"{count}" if isinstance(count, int) else "{min} to {max}, mean {mean:.2f}".format(**count)
        for count in (system.captions_per_image for system in everybody)
    ]
    rows.append([Cell("Vocabulary", term="vocabulary"), *(Number(system.vocabulary, ",") for system in everybody)])
    rows.append(["Captions per image", *sizes])
    return Table(
        [Column("", align="left", names=True), *(Column(system.name) for system in everybody)],
        rows,
        caption=caption(result, figures),
        signatures=list(chain.from_iterable(map(in_one_line, signatures.values()))),
    )


def _tables(result: Diversity, figures: Figures, *, in_paper: bool) -> list[Table]:
    """The table; but in papers, with the text around it: the differences of the figures that summarise the others."""
    if in_paper:
        return [table(result, figures)]
    first, interval = next(iter(result.values())), result.resampling.interval
    level = "" if interval is None else f"{percent(interval)} intervals over images"
    title = [images_of(first) + f", tokenizer {first.corpus.tokenizer}", level, figures.scale, left_out(result)]
    tests = [
        f"  {pair.a} − {pair.b}: {pair.metric} {figures.difference(pair.delta)} "
        f"({figures.interval(*pair.interval, signed=True)}), p = {pair.p_corrected:.3g}"
        for pair in result.pairs
        if pair.metric in ("self-cider", "accuracy", "f") and pair.interval is not None
    ]
    if tests:
        tests = ["", f"{test_name(result.test, result.resampling)}, p corrected (Holm)", *tests]
    return [replace(table(result, figures), title="; ".join(filter(None, title)), notes=[*tests, *notes(result)])]


def _records(result: Diversity) -> Records:
    rows: list[tuple[object, ...]] = []
    for system in result.everybody():
        for key, figure in system.items():
            rows.append((system.name, key, figure.value, *(figure.interval or (None, None)), figure.signature))
        rows.append((system.name, "vocabulary", system.vocabulary, None, None, None))
    return ("system", "metric", "score", "lower", "upper", "signature"), rows


def notes(result: Diversity) -> list[str]:
    """What was found, and what the result and each system remark."""
    return remarks(result, *(f"{system.name}: {note}" for system in result.everybody() for note in system.notes))


render = Views(_records, partial(_tables, in_paper=True), partial(_tables, in_paper=False), papers=False).render
"""Scores of caption sets as text in the format of a name."""
