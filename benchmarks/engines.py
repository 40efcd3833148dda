"""The engines against each other: equal JSON, seconds, memory and speed, each in a process of its own.

    python benchmarks/corpus.py /tmp/rows --images 2000000 --files 64
    python benchmarks/engines.py /tmp/rows local stream ray:1 ray:2

`ray:N` is a cluster on this machine with N parts at once, `ray:N/M` one of M nodes, with processes of their own.
`processor` is the time of the driver alone, which is the serial part; `workers` is that of the processes that Ray works
in at the end, their start and that of the packages included. Engines whose JSON differs from the first one's end it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import time
from typing import Any

import sacrecap
from sacrecap.engines import EngineOptions

METRICS = "bleu-1, bleu-2, bleu-3, bleu-4, rouge-l, cider-d"
STORE = 2 << 30
"""Bytes of a node's object store; what is more goes to disk."""


def scored(folder: str, engine: str, metrics: str, samples: int) -> dict[str, Any]:
    """What one engine needs, and a checksum of its JSON."""
    start, cpu = time.perf_counter(), time.process_time()
    options: dict[str, Any] = {"metrics": metrics, "interval": 0.95 if samples else None, "samples": samples or 1}
    if engine == "local":
        import pyarrow.dataset

        table = pyarrow.dataset.dataset(folder).to_table()
        references = table.select(["image_id", "references"]).rename_columns(["image_id", "captions"])
        candidates = table.select(["image_id", "candidate"]).rename_columns(["image_id", "caption"])
        result = sacrecap.score(references, candidates, bootstrap="poisson", **options)
    else:
        name, _, size = engine.partition(":")
        workers, _, nodes = size.partition("/")
        address = cluster(int(workers), int(nodes or 1)) if workers else None
        start, cpu = time.perf_counter(), time.process_time()
        chosen = EngineOptions(name, address=address, workers=int(workers) if workers else None)  # type: ignore[arg-type]
        result = sacrecap.score(folder, engine=chosen, **options)
    seconds = time.perf_counter() - start
    return {
        "engine": engine,
        "images": result.images,
        "seconds": round(seconds, 1),
        "processor": round(time.process_time() - cpu, 1),
        "workers": round(of_workers(), 1),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "images per second": round(result.images / seconds),
        "json": hashlib.sha256(json.dumps(result.to_dict(), sort_keys=True).encode()).hexdigest()[:16],
    }


def cluster(workers: int, nodes: int) -> str:
    """Starts a cluster of so many nodes on this machine, which share the workers: its address."""
    from ray.cluster_utils import Cluster

    made = Cluster()
    made.add_node(num_cpus=0, include_dashboard=False)
    for _ in range(nodes):
        made.add_node(num_cpus=workers / nodes, object_store_memory=STORE)
    return str(made.address)


def of_workers() -> float:
    """Processor seconds of the processes that Ray works in, which outlive a call on a cluster that is not its own."""
    import psutil

    children = psutil.Process().children(recursive=True)
    return float(sum(sum(child.cpu_times()[:2]) for child in children if child.name().startswith("ray::")))


def main() -> None:
    """Prints a line of JSON per engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("engines", nargs="+")
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--samples", type=int, default=0, help="bootstrap samples; 0 for no intervals")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(scored(given.folder, given.engines[0], given.metrics, given.samples)))
        return
    first = None
    for engine in given.engines:
        arguments = [given.folder, engine, "--metrics", given.metrics, "--samples", str(given.samples), "--here"]
        done = subprocess.run([sys.executable, __file__, *arguments], check=True, stdout=subprocess.PIPE)
        line = done.stdout.decode().splitlines()[-1]
        print(line, flush=True)
        first = first or json.loads(line)["json"]
        if json.loads(line)["json"] != first:
            sys.exit(f"{engine}: its JSON differs from that of {given.engines[0]}")


if __name__ == "__main__":
    main()
