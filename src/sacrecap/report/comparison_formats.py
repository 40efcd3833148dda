"""A comparison in each of the formats of `--format`."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import chain, combinations

from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Figures, Highlight, Records, Table, Value, percent
from sacrecap.report.score_formats import caption, groups_table, heading, p_value, remarks
from sacrecap.scoring.comparison import Comparison
from sacrecap.scoring.findings import comparable
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.ranks import best
from sacrecap.scoring.signature import in_one_line


def tested(comparison: Comparison) -> str:
    """Describes how the differences were tested."""
    pairs = math.comb(len(comparison), 2)
    holm = f", Holm over {pairs} pairs per metric" if comparison.correction == "holm" and pairs > 1 else ""
    return f"{test_name(comparison.test, comparison.resampling)}{holm}"


def test_name(test: str, resampling: Resampling) -> str:
    """A test as text, with the number of samples that it drew."""
    if test == "exact":
        return "paired exact sign-flip permutation test"
    return f"paired {test} test, {resampling.samples:,} samples"


def ordered(comparison: Comparison) -> Comparison:
    """The same with the best system first: by CIDEr-D, or the first metric."""
    metrics = list(comparison.metrics)
    ranking = comparison.ranking("cider-d" if "cider-d" in metrics else metrics[0])
    return replace(comparison, results={name: comparison[name] for name in ranking})


def best_and_worse(comparison: Comparison, metric: str) -> tuple[set[str], set[str]]:
    """The systems with the best score, and those significantly worse than the first of these.

    None is the best where the metric does not bear its captions' lengths beside those of every other system.
    """
    first = comparison.ranking(metric)[0]
    if not math.isfinite(comparison[first][metric].value):
        return set(), set()
    leading = best(comparison, metric)
    trailing = [system for system in comparison if system not in leading]
    worse = {system for system in trailing if system != first and comparison.pair(first, system, metric).significant}
    is_fair = all(comparable(comparison[first], comparison[system], metric) for system in trailing if system != first)
    return (leading if is_fair else set()), worse


def _records(comparison: Comparison) -> Records:
    heads = ("metric", "a", "b", "score_a", "score_b", "delta", "lower", "upper", "p", "p_corrected", "significant")
    rows = []
    for pair in comparison.pairs:
        values = [comparison[system][pair.metric].value for system in (pair.a, pair.b)]
        tests = (*(pair.interval or (None, None)), pair.p, pair.p_corrected, pair.significant)
        rows.append((pair.metric, pair.a, pair.b, *values, pair.delta, *tests))
    return heads, rows


def scores(comparison: Comparison, figures: Figures, *, in_paper: bool = False) -> Table:
    """Systems by metrics, marked, with intervals; but for papers, before each score the ranks that it may have."""
    rows: dict[str, list[Value]] = {system: [system] for system in comparison}
    for metric in comparison.metrics:
        best, worse = best_and_worse(comparison, metric)
        places = {} if in_paper else comparison.ranks(metric)
        for system, result in comparison.items():
            score = result[metric]
            mark = Highlight.BEST if system in best else Highlight.WORSE if system in worse else None
            below = None if score.interval is None else Cell(figures.interval(*score.interval))
            before = "–".join(map(str, dict.fromkeys(places.get(system, ()))))
            rows[system].append(Cell(figures.number(score.value), mark, before, below=below))
    level = comparison.resampling.interval
    if not in_paper:
        head = "score" if level is None else f"score, {percent(level)} interval"
        columns = [Column(head, align="left", names=True), *_metrics(comparison)]
        return Table(columns, list(rows.values()), title=heading(comparison, figures))
    how = comparison.resampling.interval_method.replace("percentile", "bootstrap")
    intervals = "" if level is None else f"Intervals: {percent(level)}, {how} over images."
    return Table(
        [Column("system", align="left", printed="System"), *_metrics(comparison)],
        list(rows.values()),
        notes=remarks(comparison),
        signatures=signatures(comparison),
        turns=True,
        legend={
            Highlight.BEST: "best",
            Highlight.WORSE: f"worse than the best, p ≤ {comparison.alpha:g} ({tested(comparison)})",
        },
        caption=" ".join(filter(None, [caption(comparison, figures), intervals])),
    )


def differences(comparison: Comparison, figures: Figures) -> Table:
    """Pairs by metrics: the difference, and its p."""
    rows: list[list[Value]] = []
    for a, b in combinations(comparison, 2):
        rows.append([f"{a} – {b}"])
        for key, metric in comparison.metrics.items():
            pair = comparison.pair(a, b, key)
            delta, p = figures.difference(pair.delta), p_value(pair.p_corrected)
            bounds = f", interval {figures.interval(*pair.interval, signed=True)}" if pair.interval else ""
            title = f"{a} − {b}, {metric.label}: {delta}{bounds}; p {p_value(pair.p)}, corrected {p}"
            # Which system is better; the colour is stronger for a smaller p.
            better = "first" if pair.delta > 0 else "second" if pair.delta < 0 else "equal"
            kind = f"{better} depth-{sum(pair.p_corrected <= level + 1e-12 for level in (0.001, 0.01, 0.05))}"
            below = Cell(p, Highlight.SIGNIFICANT if pair.significant else None)
            rows[-1].append(Cell(delta, below=below, kind=kind, title=title))
    return Table(
        [Column("difference, p", align="left", names=True), *_metrics(comparison)],
        rows,
        notes=[
            "",
            "* best   † significantly worse than the best   before each score: the ranks it may have",
            f"p: {tested(comparison)}; ! significant, p ≤ {comparison.alpha:g}",
            *remarks(comparison),
        ],
        signatures=signatures(comparison),
    )


def signatures(comparison: Comparison) -> list[str]:
    """A line for each metric, with the digests of all systems' captions."""
    every = ({name: result[metric].signature for name, result in comparison.items()} for metric in comparison.metrics)
    return list(chain.from_iterable(map(in_one_line, every)))


def _metrics(comparison: Comparison) -> list[Column]:
    return [Column(metric.label, title=metric.summary, term=key) for key, metric in comparison.metrics.items()]


def _tables(comparison: Comparison, figures: Figures, *, in_paper: bool) -> list[Table]:
    comparison = ordered(comparison)
    tests = [] if in_paper else [differences(comparison, figures)]
    return [scores(comparison, figures, in_paper=in_paper), *tests, *groups_table(comparison, figures)]


render = Views(_records, partial(_tables, in_paper=True), partial(_tables, in_paper=False)).render
"""A comparison as text in the format of a name."""
