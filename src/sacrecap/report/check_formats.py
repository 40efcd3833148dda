"""A check in each of the formats of `--format`."""

from __future__ import annotations

from functools import partial

from sacrecap.report.comparison_formats import test_name
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Figures, Highlight, Number, Records, Table, Value
from sacrecap.report.score_formats import caption, heading, p_value, sentence
from sacrecap.scoring.check import Check
from sacrecap.scoring.result import counted


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


def _records(check: Check) -> Records:
    heads = ("metric", "kind", "score", "against", "delta", "p", "passed")
    return heads, [[getattr(outcome, head) for head in heads] for outcome in check.checks]


def _tables(check: Check, figures: Figures, *, in_paper: bool) -> list[Table]:
    columns = [
        Column("metric", align="left", printed="Metric", names=True),
        Column("verdict", align="left", printed="Verdict"),
        Column("score", printed="Score", bold=True),
        *(Column(head, printed=head.capitalize()) for head in ("required", "difference")),
        Column("p", printed="p"),
    ]
    labels = {key: score.label for key, score in check.result.items()}
    required = {"min": "at least", "max": "at most", "baseline": "baseline"}
    rows: list[list[Value]] = []
    notes = [f"failed: {_missing(check)}"] * (not check.complete) + [f"note: {note}" for note in check.result.notes]
    for outcome in check.checks:
        failed = Cell("regression" if outcome.kind == "baseline" else "failed", Highlight.SIGNIFICANT)
        number, against = figures.number(outcome.score), f"{required[outcome.kind]} {figures.number(outcome.against)}"
        p = "" if outcome.p is None else p_value(outcome.p)
        ended = "passed" if outcome.passed else failed
        rows.append([labels[outcome.metric], ended, number, against, figures.difference(outcome.delta), p])
        if outcome.left_out:
            notes.append(
                f"note: {labels[outcome.metric]}: the difference to the baseline is without {outcome.left_out:,} "
                "images, of which it or the baseline has no score."
            )
    how = f"{test_name(check.test, check.resampling)}, Holm over metrics"
    tests = f"regression: worse than the baseline, p ≤ {check.alpha:g} ({how})" if check.tested else ""
    if not in_paper:
        notes = ["", *filter(None, [tests]), *notes]
        return [Table(columns, rows, title=heading({"": check.result}, figures), notes=notes)]
    below = " ".join(filter(None, [caption({"": check.result}, figures), sentence(tests)]))
    return [Table(columns, rows, caption=below, notes=notes)]


render = Views(_records, partial(_tables, in_paper=True), partial(_tables, in_paper=False)).render
"""A check as text in the format of a name."""
