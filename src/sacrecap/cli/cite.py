"""`capeval cite`: what to cite, as BibTeX or as text."""

from __future__ import annotations

import click

from capeval import __version__
from capeval.cli import options
from capeval.errors import UsageError
from capeval.metrics import Metric
from capeval.metrics.registry import parse_metrics
from capeval.resources.publications import SOFTWARE, Publication, publications, read_bibtex


@click.command()
@options.metrics
@click.option(
    "--format", "format_", type=click.Choice(["bibtex", "text"]), default="bibtex", show_default=True,
    help="BibTeX entries, or a line of text per publication.",
)  # fmt: skip
def command(metrics: str, format_: str) -> None:
    """Print what to cite: capeval in this version, and the papers of the metrics."""
    cited = cite(parse_metrics(metrics))
    if format_ == "bibtex":
        options.emit("\n\n".join(one.to_bibtex() for one in cited))
    else:
        options.emit("\n".join(one.to_text() for one in cited))


def cite(metrics: tuple[Metric, ...]) -> list[Publication]:
    """The software, then the publications of each metric, each once.

    Raises `UsageError` for a metric of another package whose `cites` is neither a key nor BibTeX.
    """
    software = publications()[SOFTWARE]
    found = {SOFTWARE: software._replace(fields={**software.fields, "note": f"Version {__version__}"})}
    for metric in metrics:
        for cited in metric.cites:
            if cited in publications():
                found.setdefault(cited, publications()[cited])
                continue
            try:
                entries = read_bibtex(cited)
            except ValueError as error:
                raise UsageError(
                    f"{metric.name}: cites must hold BibTeX entries, or keys of those of capeval: {error}"
                ) from None
            for entry in entries:
                found.setdefault(entry.key, entry)
    return list(found.values())
