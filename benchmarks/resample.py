"""Time and memory of intervals and paired tests: 40,000 images, 8 metrics.

usage: resample.py [--images 40000] [--samples 1000 10000]

Fails where the intervals of one system, of 1,000 samples, take more than `MOST_SECONDS`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measure import machine, write_corpus
from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.data import read_candidates, read_references
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.score import score_corpus

METRICS = "bleu-1,bleu-2,bleu-3,bleu-4,meteor,rouge-2,rouge-l,cider-d"
MOST_SECONDS = 2.0
CLEAR = Path("/proc/self/clear_refs")
RESET_PEAK = "5"


def statistics(images: int) -> list[list[_core.Statistics]]:
    """Of two systems: generated captions, and the same with every fifth word left out."""
    with tempfile.TemporaryDirectory() as folder:
        references, candidates = write_corpus(Path(folder), images, 5)
        described, first = read_references(references), read_candidates(candidates)
    second = {image: _thinned(first.captions(image)[0]) for image in first.image_ids}
    corpora = Corpus.of_systems(described, {"first": first, "second": second})
    results = [score_corpus(corpus, parse_metrics(METRICS)) for corpus in corpora.values()]
    return [[score.statistics for score in result.values()] for result in results]


def _thinned(caption: str) -> str:
    return " ".join(word for number, word in enumerate(caption.split()) if number % 5 != 4)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--images", type=int, default=40_000)
    options.add_argument("--samples", type=int, nargs="+", default=[1_000, 10_000])
    given = options.parse_args()
    systems = statistics(given.images)
    jobs: dict[str, Callable[[int], object]] = {
        "intervals of one system": lambda samples: _core.bootstrap_intervals(systems[0], samples, 0.95, 0),
        "two systems, bootstrap test and intervals": lambda samples: _core.paired_bootstrap(systems, samples, 0.95, 0),
        "two systems, permutation test": lambda samples: _core.paired_permutation(systems, samples, 0),
    }
    table = Table("what", "samples", "seconds", "MB on top, at most", title=machine())
    slow = ""
    for what, job in jobs.items():
        for samples in given.samples:
            CLEAR.write_text(RESET_PEAK)
            before, started = _megabytes("VmRSS"), time.perf_counter()
            job(samples)
            seconds = time.perf_counter() - started
            table.add_row(what, f"{samples:,}", f"{seconds:.2f}", f"{_megabytes('VmHWM') - before:.1f}")
            if (what, samples) == (next(iter(jobs)), 1_000) and seconds > MOST_SECONDS:
                slow = f"{what}: {seconds:.2f} s for 1,000 samples, more than {MOST_SECONDS:g}"
    Console(width=110).print(table)
    sys.exit(slow or 0)


def _megabytes(name: str) -> float:
    """Resident memory (VmRSS), or its peak since the last reset (VmHWM)."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return float(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
