"""`capeval demo`: the main job on the embedded example."""

from __future__ import annotations

import click

from capeval import example
from capeval.cli import options
from capeval.report.formats import render
from capeval.report.html import write_report
from capeval.scoring.score import score


@click.command()
@click.option("--output", "-o", metavar="FILE.html", help="Write the report of the best system here.")
@options.threads
def command(output: str | None, threads: int) -> None:
    """Score three made-up systems on 60 made-up images, with intervals, and write a report."""
    options.check_outputs(output=output)
    references = example.references()
    results = {name: score(references, captions, threads=threads) for name, captions in example.systems().items()}
    for name, result in results.items():
        options.emit(f"\n{name}\n" + render(result, "table", colour=options.colour("-"), width=options.width("-")))
    if output is not None:
        best = max(results, key=lambda name: results[name]["cider-d"].value)
        write_report(results[best], output, title=f"capeval demo: {best}")
        options.emit(f"\nReport of {best}: {output}")
