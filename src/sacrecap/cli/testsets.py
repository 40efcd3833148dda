"""`sacrecap testsets`: named test sets, which can be given as references."""

from __future__ import annotations

import json

import click

from sacrecap.cli import options
from sacrecap.data import testsets


@click.command(name="testsets")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.table_or_json
@options.quiet
def command(names: tuple[str, ...], format_: str) -> None:
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
