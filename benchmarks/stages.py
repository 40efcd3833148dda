"""Where the processor time of an engine goes, in microseconds per image, with each stage's share.

    python benchmarks/corpus.py /tmp/rows --images 300000 --files 8
    python benchmarks/stages.py /tmp/rows
    python benchmarks/stages.py /tmp/rows --part-by-part --samples 1000 --per-image /tmp/scores

One part after another on one thread: as `stream` works, or `--part-by-part`, as a worker of a cluster does, with its
shuffles on disk. `rest` is what no stage has: decoding of Parquet in threads of Arrow, the import of packages, Python.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any

import sacrecap
from sacrecap.engines import EngineOptions, StreamEngine

STAGES = {
    "read and check rows": ("data.partitioned.batches:_check", "engines.passes:captions"),
    "tokenise": ("engines.passes:encode_captions", "engines.passes:Corpus.of_part"),
    "count n-grams": ("engines.passes:Counters.add", "engines.passes:Counters.finish"),
    "look at captions": ("engines.passes:Corpus.tallies", "engines.passes:keep"),
    "score": ("engines.passes:count_quietly",),
    "fold and resample": ("engines.passes:score_captions",),
    "shuffle": (
        "engines.driver:count_and_split",
        "engines.passes:Counters.merge",
        "engines.passes:split_keys",
        "engines.stream:OnDisk.add",
        "engines.stream:OnDisk.all",
    ),
    "write": ("data.partitioned.image_scores:PartScores.add", "data.partitioned.image_scores:PartScores.finish"),
}
"""The functions of each stage; a stage has their time without that of other functions here which they call."""
SPENT: Counter[str] = Counter()
WITHIN = threading.local()


def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a clock."""

    def run(*given: Any, **named: Any) -> Any:
        before, WITHIN.seconds = getattr(WITHIN, "seconds", 0.0), 0.0
        start = time.thread_time()
        try:
            return function(*given, **named)
        finally:
            whole = time.thread_time() - start
            SPENT[stage] += whole - WITHIN.seconds
            WITHIN.seconds = before + whole

    return run


def watch(stage: str, place: str) -> None:
    """Puts a clock on the function at `module:name` or `module:class.name`."""
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner: Any = import_module(f"sacrecap.{module}")
    for one in owners:
        owner = getattr(owner, one)
    own = timed(stage, getattr(owner, name))
    setattr(owner, name, staticmethod(own) if name == "of_part" else own)


class OneByOne(StreamEngine):
    """Each part by itself, as on a cluster."""

    in_order = False


def main() -> None:
    """Prints a line per stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--metrics", default="coco")
    parser.add_argument("--samples", type=int, default=0, help="bootstrap samples; 0 for no intervals")
    parser.add_argument("--per-image", help="folder for each image's scores")
    parser.add_argument("--part-by-part", action="store_true")
    given = parser.parse_args()
    for stage, places in STAGES.items():
        for place in places:
            watch(stage, place)
    if given.part_by_part:
        import_module("sacrecap.engines.calls").make = lambda _, threads: OneByOne(threads)  # type: ignore[attr-defined]
    resampling: dict[str, Any] = {"interval": 0.95, "samples": given.samples} if given.samples else {"interval": None}
    options = EngineOptions("stream", per_image=given.per_image)
    start = time.process_time()
    result = sacrecap.score(given.folder, metrics=given.metrics, engine=options, threads=1, **resampling)
    whole = time.process_time() - start
    SPENT["rest"] = whole - sum(SPENT.values())
    for stage, seconds in [*SPENT.most_common(), ("all", whole)]:
        print(f"{stage:20} {1e6 * seconds / result.images:8.2f} {seconds / whole:6.1%}")


if __name__ == "__main__":
    main()
