"""`sacrecap metrics`: every metric, or one explained."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.metrics import Metric
from sacrecap.metrics.declared import accepts, spell
from sacrecap.metrics.judge import ASKED, Asked, prompt
from sacrecap.metrics.registry import OWN, added, groups, origin_of, own_metrics, parse_metrics
from sacrecap.resources.needs import TITLES


@click.command(name="metrics")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=options.complete_metrics())
@options.plugin
@click.option(
    "--prompt",
    "prompt_name",
    type=click.Choice(ASKED),
    help="Print what judge asks a language model, to change it: sacrecap metrics judge --prompt rating > mine.txt.",
)
@options.table_or_json
@options.quiet
def command(names: tuple[str, ...], prompt_name: Asked | None, format_: str) -> None:
    """List the metrics, or explain those called NAME: equation, parameters, range, needs, citation."""
    if prompt_name is not None:
        if names != ("judge",):
            raise click.UsageError(f"--prompt is of judge: sacrecap metrics judge --prompt {prompt_name}")
        options.emit(prompt(prompt_name, "default").text)
        return
    chosen = parse_metrics(names) if names else (*own_metrics(), *added().values())
    described = [describe(metric) for metric in chosen]
    if format_ == "json":
        options.emit(json.dumps(described, ensure_ascii=False, indent=1))
    elif names:
        options.emit("\n\n".join(_page(metric) for metric in described))
    else:
        width = max(len(metric["name"]) for metric in described)
        lines = []
        for origin, metrics in groupby(described, key=lambda metric: metric["origin"]):
            lines += [] if origin == OWN else ["", f"From {origin}:"]
            lines += [f"{metric['name']:<{width}}  {metric['summary']}" for metric in metrics]
        lines += ["", "sacrecap metrics NAME explains one."]
        options.emit("\n".join([*lines, "combine(NAME, 0.5*NAME, ...) is the weighted mean of several."]))


def describe(metric: Metric) -> dict[str, Any]:
    """The declaration of the metric, as JSON."""
    return {
        "name": metric.name,
        "origin": origin_of(metric),
        "label": metric.label,
        "summary": metric.summary,
        "equation": metric.equation,
        "range": [metric.smallest, metric.largest],
        "direction": "lower is better" if metric.lower_is_better else "higher is better",
        "needs": [TITLES.get(name, name) for name in metric.needs],
        "groups": [group for group, members in groups().items() if metric.name in members],
        "parameters": {
            p.name: {"default": getattr(metric, p.name), "meaning": p.meaning, "accepts": accepts(p)}
            for p in metric.parameters()
        },
        "trained_on": list(metric.trained_on),
        "nothing": metric.nothing,
        "source": metric.source,
    }


def _range(smallest: float | None, largest: float | None) -> str:
    if smallest is None:
        return "any number" if largest is None else f"up to {largest:g}"
    return f"{smallest:g} " + ("and more" if largest is None else f"to {largest:g}")


def _page(metric: dict[str, Any]) -> str:
    lines = [
        f"{metric['label']}   ({metric['name']}; groups: {', '.join(metric['groups']) or 'none'})",
        f"  {metric['summary']}",
        "",
        f"  equation    {metric['equation']}",
        f"  range       {_range(*metric['range'])}, {metric['direction']}",
        f"  needs       {', '.join(metric['needs'])}",
        f"  source      {metric['source']}",
        f"  comes from  {metric['origin']}",
    ]
    lines += [
        f"  parameter   {name}={spell(p['default'])}: {p['meaning']}; {p['accepts']}"
        for name, p in metric["parameters"].items()
    ]
    if metric["trained_on"]:
        lines.append(f"  fitted to   {', '.join(metric['trained_on'])}: people's judgments")
    lines += [f"  edge case   {case}: {value}" for case, value in metric["nothing"].items()]
    return "\n".join(lines)
