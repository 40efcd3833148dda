"""A result in each of the formats of `--format`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from capeval.errors import UsageError

if TYPE_CHECKING:
    from capeval.scoring.result import Result


def render(
    result: Result,
    format_: str,
    *,
    explained: Mapping[str, Mapping[str, Any]] | None = None,
    colour: bool = False,
) -> str:
    """The result as text in the format of that name; a table in colour where it is asked for.

    Images `explained` by METEOR's alignment and VIFIDEL's plan, where given, follow the table or are part of the JSON;
    raises `UsageError` for them in another format.
    """
    if explained:
        check_explained(format_)
    if format_ == "json":
        return _json(result, explained)
    if format_ != "table":
        return _RENDERERS[format_](result)
    from capeval.report.text import table

    drawn = [
        f"{image}\n{shown}"
        for image, by_kind in (explained or {}).items()
        for shown in by_kind.values()
        if shown is not None
    ]
    return "\n\n".join([table(result, colour=colour), *drawn])


def check_explained(format_: str) -> None:
    """Raises `UsageError` where a format has no place for alignments and plans."""
    if format_ not in ("table", "json"):
        raise UsageError(f"alignments and plans are shown with --format table or json, not {format_}")


def _json(result: Result, explained: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    document = result.to_dict()
    for image, by_kind in (explained or {}).items():
        for kind, found in by_kind.items():
            document.setdefault(f"{kind}s", {})[image] = found and found.to_dict()
    return json.dumps(document, ensure_ascii=False, indent=1)


def _csv(result: Result) -> str:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["metric", "score", "lower", "upper", "signature"])
    for key, score in result.items():
        bounds = ("", "") if score.interval is None else (repr(score.interval[0]), repr(score.interval[1]))
        writer.writerow([key, repr(score.value), *bounds, score.signature])
    return text.getvalue()


def _rows(result: Result) -> list[tuple[str, str, str]]:
    """Label, score and interval of each metric, to four decimals."""
    return [
        (
            score.metric.label,
            f"{score.value:.4f}",
            "" if score.interval is None else f"{score.interval[0]:.4f} to {score.interval[1]:.4f}",
        )
        for score in result.values()
    ]


def percent(level: float) -> str:
    """A confidence level as text: 95%, 97.5%."""
    return f"{100 * level:.6g}%"


def _markdown(result: Result) -> str:
    rows = _rows(result)
    notes = [line for note in result.notes for line in ("", f"Note: {note}")]
    if result.level is None:
        return "\n".join(["| metric | score |", "| --- | ---: |", *(f"| {a} | {b} |" for a, b, _ in rows), *notes])
    head = [f"| metric | score | {percent(result.level)} interval |", "| --- | ---: | ---: |"]
    return "\n".join([*head, *(f"| {a} | {b} | {c} |" for a, b, c in rows), *notes])


def _latex(result: Result) -> str:
    """A booktabs table."""
    with_interval = result.level is not None
    interval_head = "" if result.level is None else rf" & {percent(result.level)} interval".replace("%", r"\%")
    head = "Metric & Score" + interval_head
    lines = [
        f"{label} & {score}" + (f" & [{interval.replace(' to ', ', ')}]" if with_interval else "")
        for label, score, interval in _rows(result)
    ]
    columns = "lrr" if with_interval else "lr"
    body = " \\\\\n".join(line.replace("_", r"\_") for line in lines)
    head, body = head + r" \\", body + r" \\"
    notes = [f"% Note: {note}" for note in result.notes]
    parts = [
        *notes,
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        head,
        r"\midrule",
        body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(parts)


_RENDERERS: dict[str, Callable[[Result], str]] = {
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}

FORMATS = ("table", *_RENDERERS)
"""The names that `--format` takes."""
