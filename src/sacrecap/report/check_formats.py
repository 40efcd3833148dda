"""A check in each of the formats of `--format`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.report.comparison_formats import test_name
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Figures, Highlight, Number, Table, records
from sacrecap.report.score_formats import caption, heading, p_value, sentence
from sacrecap.scoring.result import counted

if TYPE_CHECKING:
    from sacrecap.report.printing.table import Value
    from sacrecap.scoring.check import Check

_REQUIRED = {"min": "at least", "max": "at most", "baseline": "baseline"}


def verdict(check: Check) -> str:
    """The result of the check, in one line."""
    if check.passed:
        return f"{counted(len(check.checks), 'check')} passed"
    beyond = {"min": "below", "max": "above"}
    failed = [
        f"{check.result[outcome.metric].label} {Number(outcome.score)} is {beyond[outcome.kind]} {outcome.against:g}"
        for outcome in check.failed
        if outcome.kind in beyond
    ]
    worse = ", ".join(check.result[outcome.metric].label for outcome in check.failed if outcome.kind not in beyond)
    failed += [f"worse than the baseline by {worse}"] * bool(worse)
    if not check.complete:
        failed.append(f"{_missing(check)}; --allow-missing SHARE lets more pass")
    count = len(check.failed) + (not check.complete)
    return f"{count} of {counted(len(check.checks) + (not check.complete), 'check')} failed: {'; '.join(failed)}"


def _missing(check: Check) -> str:
    images = check.result.images + check.result.corpus.images_left_out
    return (
        f"{check.missing:,} of {images:,} images ({check.missing_share:.3g}) have no candidate, and at most "
        f"{check.allow_missing:g} may"
    )


def _records(check: Check) -> Table:
    heads = ("metric", "kind", "score", "against", "delta", "p", "passed")
    return records(heads, [[getattr(outcome, head) for head in heads] for outcome in check.checks])


def _table(check: Check, figures: Figures) -> Table:
    columns = [
        Column("metric", align="left", printed="Metric", names=True),
        Column("verdict", align="left", printed="Verdict"),
        Column("score", printed="Score", bold=True),
        Column("required", printed="Required"),
        Column("difference", printed="Difference"),
        Column("p", printed="p"),
    ]
    rows: list[list[Value]] = [
        [
            check.result[outcome.metric].label,
            "passed"
            if outcome.passed
            else Cell("regression" if outcome.kind == "baseline" else "failed", Highlight.SIGNIFICANT),
            figures.number(outcome.score),
            f"{_REQUIRED[outcome.kind]} {figures.number(outcome.against)}",
            figures.difference(outcome.delta),
            "" if outcome.p is None else p_value(outcome.p),
        ]
        for outcome in check.checks
    ]
    notes = [f"failed: {_missing(check)}"] * (not check.complete)
    notes += [f"note: {note}" for note in check.result.notes]
    notes += [
        f"note: {check.result[outcome.metric].label}: the difference to the baseline is without {outcome.left_out:,} "
        "images, of which it or the baseline has no score."
        for outcome in check.checks
        if outcome.left_out
    ]
    below = " ".join(filter(None, [caption({"": check.result}, figures), sentence(_tests(check))]))
    return Table(columns, rows, caption=below, notes=notes)


def _tests(check: Check) -> str:
    """How a regression was distinguished from chance."""
    if not check.tested:
        return ""
    how = f"{test_name(check.test, check.resampling)}, Holm over metrics"
    return f"regression: worse than the baseline, p ≤ {check.alpha:g} ({how})"


def _in_terminal(check: Check, figures: Figures) -> list[Table]:
    table = _table(check, figures)
    notes = ["", *filter(None, [_tests(check)]), *table.notes]
    return [replace(table, title=heading({"": check.result}, figures), caption="", notes=notes)]


render = Views(_records, lambda check, figures: [_table(check, figures)], _in_terminal).render
"""A check as text in the format of a name."""
