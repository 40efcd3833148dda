"""Time and memory of `sacrecap score` as the corpus grows: they may grow no faster than the captions do.

usage: scaling.py [--images 1000 10000 100000 1000000]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measure import machine, run, write_corpus

METRICS = "bleu-1,bleu-2,bleu-3,bleu-4,rouge-l,cider-d"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--images", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    options.add_argument("--references", type=int, default=5)
    given = options.parse_args()
    sacrecap = str(Path(sys.executable).with_name("sacrecap"))
    table = Table("images", "captions", "seconds", "µs per caption", "peak MB", "bytes per caption", title=machine())
    for images in given.images:
        captions = images * (given.references + 1)
        with tempfile.TemporaryDirectory() as folder:
            files = [str(path) for path in write_corpus(Path(folder), images, given.references)]
            one = run([sacrecap, "score", *files, "--metrics", METRICS, "--interval", "none", "--format", "json"])
        table.add_row(
            f"{images:,}",
            f"{captions:,}",
            f"{one.seconds:.2f}",
            f"{1e6 * one.seconds / captions:.1f}",
            f"{one.megabytes:.0f}",
            f"{2**20 * one.megabytes / captions:.0f}",
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
