"""`sacrecap cite`: what to cite, as BibTeX or as text."""

from __future__ import annotations

import click
from click.core import ParameterSource

from sacrecap import __version__
from sacrecap.cli import options
from sacrecap.cli.group import takes
from sacrecap.errors import UsageError
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.publications import SOFTWARE, Publication, publications, read_bibtex


@click.command()
@click.argument("names", nargs=-1, metavar="[METRIC]...", shell_complete=options.complete_metrics())
@options.metrics
@takes(
    "--format  BibTeX entries, or a line of text per publication.",
    format={"name": "format_", "type": click.Choice(["bibtex", "text"]), "default": "bibtex"},
)
@options.quiet
@click.pass_context
def command(context: click.Context, names: tuple[str, ...], metrics: str, format_: str) -> None:
    """Print what to cite: sacrecap in this version, and the papers of the METRICs, or of those of --metrics."""
    is_chosen = context.get_parameter_source("metrics") is not ParameterSource.DEFAULT
    cited = cite(parse_metrics([*names, *([metrics] if is_chosen or not names else [])]))
    if format_ == "bibtex":
        options.emit("\n\n".join(work.to_bibtex() for work in cited))
    else:
        options.emit("\n".join(work.to_text() for work in cited))


def cite(metrics: tuple[Metric, ...]) -> list[Publication]:
    """The software, then the publications of each metric, each once.

    Raises `UsageError` for a metric of another package whose `cites` is neither a key nor BibTeX.
    """
    software = publications()[SOFTWARE]
    works = {SOFTWARE: software._replace(fields={**software.fields, "note": f"Version {__version__}"})}
    for metric in metrics:
        for cited in metric.cites:
            try:
                entries = [publications()[cited]] if cited in publications() else read_bibtex(cited)
            except ValueError as error:
                raise UsageError(
                    f"{metric.name}: cites must hold BibTeX entries, or keys of those of sacrecap: {error}"
                ) from None
            for entry in entries:
                works.setdefault(entry.key, entry)
    return list(works.values())
