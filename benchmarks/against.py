"""capeval against pycocoevalcap: the same files, the same scores, time and memory, in one run.

usage: against.py [--images 5000] [--references 5] [--data REFERENCES CANDIDATES]

Scores are compared before anything is timed for print: a fast wrong number is not a result.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from corpus import write_corpus
from measure import best, machine, run
from ours import METRICS

HERE = Path(__file__).parent
TOLERANCE = 1e-9


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--images", type=int, default=5000)
    options.add_argument("--references", type=int, default=5)
    options.add_argument("--data", nargs=2, metavar=("REFERENCES", "CANDIDATES"))
    options.add_argument("--repeat", type=int, default=7, help="runs of capeval, the fastest counts")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = given.data or [str(path) for path in write_corpus(Path(folder), given.images, given.references)]
        compare(files, given.repeat)


def compare(files: list[str], repeat: int) -> None:
    python = sys.executable
    capeval = str(Path(python).with_name("capeval"))
    theirs = run([python, str(HERE / "incumbent.py"), *files])
    command = [capeval, "score", *files, "--metrics", METRICS]
    ours = best([*command, "--interval", "none", "--format", "json"], repeat)
    with_intervals = best([*command, "--format", "json"], 3)
    inside = run([python, str(HERE / "ours.py"), *files])
    their, our = json.loads(theirs.output), json.loads(inside.output)
    check(their["scores"], json.loads(ours.output)["scores"])
    check(their["scores"], our["scores"])

    table = Table("stage", "pycocoevalcap s", "capeval s", "ratio", title=f"{machine()}")
    engine = sum(their["seconds"][stage] for stage in ("tokenise", "bleu", "rouge-l", "cider-d"))
    scoring = engine - their["seconds"]["tokenise"]
    rows = [
        ("files to printed JSON, process start included", theirs.seconds, ours.seconds),
        ("  the same with bootstrap intervals (capeval only)", theirs.seconds, with_intervals.seconds),
        ("engine: tokenise to scores", engine, our["seconds"]["tokenise"] + our["seconds"]["score"]),
        ("  import", their["seconds"]["import"], our["seconds"]["import"]),
        ("  read", their["seconds"]["read"], our["seconds"]["read"]),
        ("  tokenise", their["seconds"]["tokenise"], our["seconds"]["tokenise"]),
        ("  score", scoring, our["seconds"]["score"]),
    ]
    for stage, slow, fast in rows:
        table.add_row(stage, f"{slow:.3f}", f"{fast:.4f}", f"{slow / fast:.0f}×")
    table.add_row("peak memory, MB", f"{theirs.megabytes:.0f}", f"{ours.megabytes:.0f}", "")
    Console(width=110).print(table)
    print(f"scores agree within {TOLERANCE:g}: {', '.join(f'{k} {v:.4f}' for k, v in our['scores'].items())}")


def check(theirs: dict[str, float], ours: dict[str, float]) -> None:
    """Stops unless every score agrees."""
    for metric, score in theirs.items():
        if abs(score - ours[metric]) > TOLERANCE:
            sys.exit(f"{metric}: pycocoevalcap {score!r}, capeval {ours[metric]!r}")


if __name__ == "__main__":
    main()
