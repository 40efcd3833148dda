"""Time and memory of `sacrecap score` as the corpus grows: they may grow no faster than the captions do.

usage: scaling.py [--images 1000 10000 100000 1000000]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import machine, run, write_corpus

METRICS = "bleu-1,bleu-2,bleu-3,bleu-4,rouge-l,cider-d"
REFERENCES = 5


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--images", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    given = options.parse_args()
    command = [str(Path(sys.executable).with_name("sacrecap")), "score", "--metrics", METRICS, "--format", "json"]
    print(machine())
    print("| images | seconds | µs per caption | MB | bytes per caption | with intervals | MB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for images in given.images:
        captions = images * (REFERENCES + 1)
        with tempfile.TemporaryDirectory() as folder:
            files = [str(path) for path in write_corpus(Path(folder), images, REFERENCES)]
            plain, intervals = (run([*command, *files, "--interval", level]) for level in ("none", "0.95"))
        print(
            f"| {images:,} | {plain.seconds:.2f} | {1e6 * plain.seconds / captions:.1f} | {plain.megabytes:.0f} "
            f"| {2**20 * plain.megabytes / captions:.0f} | {intervals.seconds:.2f} | {intervals.megabytes:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
