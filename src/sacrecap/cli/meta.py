"""`sacrecap meta`: every metric on every judgment."""

from __future__ import annotations

import click

from sacrecap.choices import DATASETS
from sacrecap.cli import options
from sacrecap.cli.group import Command, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import Output, output
from sacrecap.cli.system_names import named
from sacrecap.errors import DataError
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Resampling


@click.command(
    cls=Command,
    values=(
        options.NEEDS,
        options.resampling("Bootstrap samples.", intervals=options.BOOTSTRAPPED),
        output(report=True, scores=False),
    ),
    common="--metrics --results --scores --interval --report --format --output --threads --quiet".split(),
)
@click.argument("datasets", nargs=-1, metavar="[DATASET]...")
@options.judged_metrics
@takes(
    "--results DIR  Where each metric's scores are kept; a run that was cut off goes on there.",
    results={"default": "meta-results"},
)
def command(
    datasets: tuple[str, ...], metrics: str, results: str, needs: Needs, resampling: Resampling, output: Output
) -> None:
    """Measure every metric on every DATASET: a file or folder of judgments, as for sacrecap agreement.

    A data set is called as it is recognised; NAME=FILE calls it otherwise, such as polaris=test.parquet, and says what
    a file is that is not recognised. Figures of papers stand beside those of the same name. By default the metrics are
    all that can be computed here. Without a DATASET, it lists those that are recognised, and what is measured on each.
    """
    from sacrecap.judgments import meta, read_judgments
    from sacrecap.judgments.meta import PROTOCOLS

    output.check()
    if not datasets:
        options.emit("\n".join(f"{name}: {measured}" for name, measured in PROTOCOLS.items()), output.output)
        return
    stage.text = "reading"
    judged = {}
    for name, path in named(datasets).items():
        is_called = f"{name}={path}" in datasets
        try:
            read = read_judgments(path)
        except DataError:
            if not is_called or name not in DATASETS:
                raise
            read = read_judgments(path, dataset=name)
        is_own = is_called or read.dataset in ("pairs", "ratings")
        judged[name if is_own else read.dataset] = read
    stage.text = "scoring"
    result = meta(judged, metrics or "all", results=results, needs=needs, resampling=resampling, threads=needs.threads)
    output.finish(result)
