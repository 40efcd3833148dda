"""Where the time of an engine goes: reading, tokenising, counting, scoring, resampling, shuffling, writing.

    python benchmarks/corpus.py /tmp/rows --images 1000000 --files 32
    python benchmarks/engine_costs.py /tmp/rows

Works on one part after another, on one thread, through the same functions as a worker of a cluster, with its shuffles
on disk. Prints microseconds per image: on the clock, and of the processor, which other programs on the machine do not
lengthen much. Reading is done beside the other work, in a thread of its own. What is not timed by itself is `other`:
also what threads of Arrow do, which decode Parquet.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import sacrecap
from sacrecap import _core
from sacrecap.data.partitioned import image_scores
from sacrecap.engines import EngineOptions, StreamEngine, calls, driver, passes, stream

WALL: Counter[str] = Counter()
PROCESSOR: Counter[str] = Counter()
INSIDE = threading.local()


class Worker(StreamEngine):
    """Each part by itself, as on a cluster."""

    in_order = False


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose time is added up under the name, without that of timed ones inside it."""

    def run(*given: Any, **named: Any) -> Any:
        inside: list[tuple[float, float]] = getattr(INSIDE, "own", [])
        INSIDE.own, outside = [], inside
        wall, processor = time.perf_counter(), time.thread_time()
        try:
            return function(*given, **named)
        finally:
            wall, processor = time.perf_counter() - wall, time.thread_time() - processor
            WALL[name] += wall - sum(own for own, _ in INSIDE.own)
            PROCESSOR[name] += processor - sum(own for _, own in INSIDE.own)
            INSIDE.own = [*outside, (wall, processor)]

    return run


def watch() -> None:
    """Puts clocks on what is timed."""
    batches = import_module("sacrecap.data.partitioned.batches")
    read = batches._checked

    def checked(*given: Any) -> Iterator[Any]:
        rows = read(*given)
        step = timed("read", lambda: next(rows, None))
        while (batch := step()) is not None:
            yield batch

    batches._checked = checked  # type: ignore[attr-defined]
    references, counter = _core.References, _core.FrequencyCounter

    class Core:
        """The native module, with clocks."""

        References = staticmethod(timed("tokenise", references))

        def __getattr__(self, name: str) -> Any:
            return getattr(_core, name)

    class Counting:
        """A counter with clocks."""

        def __init__(self, *given: Any, **named: Any) -> None:
            self._own = counter(*given, **named)
            self.add, self.merge = timed("count", self._own.add), timed("shuffle", self._own.merge)
            self.finish = timed("count", self._own.finish)

    core = Core()
    core.FrequencyCounter = Counting  # type: ignore[attr-defined]
    passes._core = core  # type: ignore[attr-defined]
    passes.captions = timed("tokenise", passes.captions)
    of_part = passes.Corpus.of_part
    passes.Corpus.of_part = staticmethod(timed("tokenise", of_part))  # type: ignore[method-assign]
    passes.count_quietly = timed("score", passes.count_quietly)
    fold_of = passes.Partial.fold

    def folded(self: Any, *given: Any, **named: Any) -> Any:
        own = fold_of(self, *given, **named)
        return type("Timed", (), {"add": staticmethod(timed("resample", own.add))})

    score = passes.score_captions

    def scored(*given: Any) -> None:
        passes.Partial.fold = folded  # type: ignore[method-assign]
        try:
            score(*given)
        finally:
            passes.Partial.fold = fold_of  # type: ignore[method-assign]

    passes.score_captions = scored
    passes.merged = timed("shuffle", passes.merged)
    passes.count_part = timed("other", passes.count_part)
    driver.count_and_split = timed("shuffle", passes.count_and_split)
    passes.split_keys = timed("shuffle", passes.split_keys)
    stream.OnDisk.add = timed("shuffle", stream.OnDisk.add)  # type: ignore[method-assign]
    stream.OnDisk.get = timed("shuffle", stream.OnDisk.get)  # type: ignore[method-assign]
    image_scores.PartScores.add = timed("write", image_scores.PartScores.add)  # type: ignore[method-assign]
    image_scores.PartScores.finish = timed("write", image_scores.PartScores.finish)  # type: ignore[method-assign]


def main() -> None:
    """Prints a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--metrics", default="coco")
    parser.add_argument("--samples", type=int, default=1_000, help="bootstrap samples")
    given = parser.parse_args()
    watch()
    calls.make = lambda options, threads: Worker(1)  # noqa: ARG005
    wall, processor = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        options = EngineOptions("stream", per_image=folder + "/scores")
        result = sacrecap.score(given.folder, metrics=given.metrics, engine=options, samples=given.samples, threads=1)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    PROCESSOR["other"] += processor - sum(PROCESSOR.values())
    WALL["other"] += wall - sum(own for name, own in WALL.items() if name != "read")
    micro = 1e6 / result.images
    each = {name: [round(WALL[name] * micro, 2), round(PROCESSOR[name] * micro, 2)] for name in PROCESSOR}
    print(json.dumps({"images": result.images, "all": [round(wall * micro, 2), round(processor * micro, 2)], **each}))


if __name__ == "__main__":
    main()
