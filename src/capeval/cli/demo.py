"""`capeval demo`: the main job on the embedded example."""

from __future__ import annotations

import click

from capeval import example
from capeval.cli import options
from capeval.evaluate import score
from capeval.report.formats import render
from capeval.report.html import write_report


@click.command()
@click.option("--output", "-o", metavar="report.html", help="Write the report of the best system here.")
@options.threads
@options.quiet
def command(output: str | None, threads: int, quiet: bool) -> None:
    """Score three made-up systems on 60 made-up images, with intervals, and write a report."""
    references = example.references()
    results = {name: score(references, captions, threads=threads) for name, captions in example.systems().items()}
    for name, result in results.items():
        click.echo(f"\n{name}")
        click.echo(render(result, "table"))
    if output is not None:
        best = max(results, key=lambda name: results[name]["cider-d"].value)
        write_report(results[best], output, title=f"capeval demo: {best}")
        click.echo(f"\nReport of {best}: {output}")
