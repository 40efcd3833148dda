"""What there is: metrics, what to cite of them, test sets."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import click
from click.core import ParameterSource

from sacrecap import __version__
from sacrecap.cli import options
from sacrecap.cli.group import takes
from sacrecap.data import testsets
from sacrecap.errors import UsageError
from sacrecap.metrics import Metric
from sacrecap.metrics.declared import accepts, spell
from sacrecap.metrics.judge import ASKED, Asked, prompt
from sacrecap.metrics.registry import OWN, added, groups, origin_of, own_metrics, parse_metrics
from sacrecap.resources.needs import TITLES
from sacrecap.resources.publications import SOFTWARE, publications, read_bibtex


@click.command(name="metrics")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=options.complete_metrics)
@options.plugin
@click.option(
    "--prompt",
    "prompt_name",
    type=click.Choice(ASKED),
    help="Print what judge asks a language model, to change it: sacrecap metrics judge --prompt rating > mine.txt.",
)
@options.table_or_json
@options.quiet
def metrics_command(names: tuple[str, ...], prompt_name: Asked | None, format_: str) -> None:
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


def _page(metric: dict[str, Any]) -> str:
    least, most = metric["range"]
    upwards = "and more" if most is None else f"to {most:g}"
    below = "any number" if most is None else f"up to {most:g}"
    lines = [
        f"{metric['label']}   ({metric['name']}; groups: {', '.join(metric['groups']) or 'none'})",
        f"  {metric['summary']}",
        "",
        f"  equation    {metric['equation']}",
        f"  range       {below if least is None else f'{least:g} {upwards}'}, {metric['direction']}",
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


@click.command()
@click.argument("names", nargs=-1, metavar="[METRIC]...", shell_complete=options.complete_metrics)
@options.metrics
@takes(
    "--format  BibTeX entries, or a line of text per publication.",
    format={"name": "format_", "type": click.Choice(["bibtex", "text"]), "default": "bibtex"},
)
@options.quiet
@click.pass_context
def cite_command(context: click.Context, names: tuple[str, ...], metrics: str, format_: str) -> None:
    """Print what to cite: sacrecap in this version, and the papers of the METRICs, or of those of --metrics."""
    is_chosen = context.get_parameter_source("metrics") is not ParameterSource.DEFAULT
    chosen = parse_metrics([*names, *([metrics] if is_chosen or not names else [])])
    software = publications()[SOFTWARE]
    works = {SOFTWARE: software._replace(fields={**software.fields, "note": f"Version {__version__}"})}
    for metric in chosen:
        for cited in metric.cites:
            try:
                entries = [publications()[cited]] if cited in publications() else read_bibtex(cited)
            except ValueError as error:
                raise UsageError(
                    f"{metric.name}: cites must hold BibTeX entries, or keys of those of sacrecap: {error}"
                ) from None
            for entry in entries:
                works.setdefault(entry.key, entry)
    if format_ == "bibtex":
        options.emit("\n\n".join(work.to_bibtex() for work in works.values()))
    else:
        options.emit("\n".join(work.to_text() for work in works.values()))


@click.command(name="testsets")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.table_or_json
@options.quiet
def testsets_command(names: tuple[str, ...], format_: str) -> None:
    """List the test sets, or fetch those called NAME now.

    The name of a test set can be given in place of a file of references, that of document frequencies in place of a
    file for --df: it is fetched once, checked by its checksum, and kept in the user's cache folder, or in the folder
    that SACRECAP_TEST_SETS names. A folder filled on one machine can be used on another one without internet.
    """
    for test_set in [testsets.named(name) for name in names]:
        if test_set.counts is None:
            testsets.find(test_set.name, options.show_fetched)
        else:
            from sacrecap.corpus.document_frequency import frequencies_of_set

            frequencies_of_set(test_set, options.show_fetched)
    described = [
        testsets.describe(test_set) for test_set in testsets.TEST_SETS.values() if not names or test_set.name in names
    ]
    if format_ == "json":
        options.emit(json.dumps(described, ensure_ascii=False, indent=1))
        return
    from sacrecap.report.printing.table import Column, Table
    from sacrecap.report.printing.terminal import render

    heads = ("name", "images", "here", "what")
    columns = [Column(head, align="right" if head == "images" else "left") for head in heads]
    rows = [[d["name"], f"{d['images']:,}", "yes" if d["here"] else "no", d["summary"]] for d in described]
    options.emit(render([Table(columns, rows, title=testsets.folder())]))
