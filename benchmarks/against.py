"""sacrecap against pycocoevalcap: the same files, the default metrics, whole processes, processor time.

usage: against.py [NAME REFERENCES CANDIDATES]...     without files, 80 copies of the example's 60 images

Processor seconds are those of the process and of all that it starts, Java among them, from its start to its end: files
in, scores printed as JSON. Scores are compared before a time is printed: a fast wrong number is not a result. They are
those of `--tokenizer ptb-stream`, since pycocoevalcap tokenises a file as one text; the times are of the defaults. The
programs take turns, ours four times in each, and of each the run with the least processor time counts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

EXAMPLE = Path(__file__).parents[1] / "src" / "sacrecap" / "example"
TOLERANCE = 1e-9


class Run(NamedTuple):
    """One run of a program."""

    processor: float
    """Processor seconds of the process and of those that it started and waited for."""
    megabytes: float
    """Peak resident memory of the process itself (a Java child is counted apart, by its parent)."""
    output: str


def run(command: list[str]) -> Run:
    """Runs the command to its end. Fails loudly when it fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)  # `wait` would reap the process, and its usage with it
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            sys.exit(f"{' '.join(command)} exited {process.returncode}: {errors.read()[-2000:]}")
        return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output.read())


def machine() -> str:
    """The machine of the measurements."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{(models or [platform.processor()])[0]}, {os.cpu_count()} cores, Python {platform.python_version()}"


def copies(folder: Path, name: str, number: int = 80) -> str:
    """The path of a file of the example, with so many copies of each image."""
    captions, path = _read(str(EXAMPLE / name)), folder / Path(name).name
    path.write_text(json.dumps({f"{image}-{k}": captions[image] for k in range(number) for image in captions}))
    return str(path)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", nargs="*", metavar="NAME REFERENCES CANDIDATES")
    options.add_argument("--repeat", type=int, default=3, help="runs of each program")
    options.add_argument("--theirs", nargs=2, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.theirs:
        with contextlib.redirect_stdout(sys.stderr):  # the suite prints progress
            scores = incumbent(*arguments.theirs)
        print(json.dumps(scores))
        return
    if len(arguments.data) % 3:
        options.error("data is named by three words: NAME REFERENCES CANDIDATES")
    print(machine())
    print("| data | images | pycocoevalcap | sacrecap | ratio | with intervals | ratio | memory |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        files = [copies(Path(folder), name) for name in ("references.json", "systems/careful.json")]
        data = arguments.data or ["copies of the example", *files]
        for place in range(0, len(data), 3):
            print(row(data[place], data[place + 1 : place + 3], arguments.repeat), flush=True)


def row(name: str, files: list[str], repeat: int) -> str:
    """One line of the table of `docs/howto/migrate-from-pycocoevalcap.md`."""
    sacrecap = str(Path(sys.executable).with_name("sacrecap"))
    command = [sacrecap, "score", *files, "--format", "json"]
    runs: dict[str, list[Run]] = {}
    for _ in range(repeat):
        for program, arguments, times in (
            ("theirs", [sys.executable, __file__, "--theirs", *files], 1),
            ("ours", [*command, "--interval", "none"], 4),
            ("intervals", command, 4),
        ):
            runs.setdefault(program, []).extend(run(arguments) for _ in range(times))
    theirs, ours, intervals = (min(runs_of_tool, key=lambda run: run.processor) for runs_of_tool in runs.values())
    as_one_text = run([*command, "--interval", "none", "--tokenizer", "ptb-stream"])
    images = check(json.loads(theirs.output), json.loads(as_one_text.output))
    return (
        f"| {name} | {images:,} | {theirs.processor:.2f} s | {ours.processor:.3f} s "
        f"| {theirs.processor / ours.processor:.0f}× | {intervals.processor:.3f} s "
        f"| {theirs.processor / intervals.processor:.0f}× | {ours.megabytes:.0f} MB |"
    )


def check(theirs: dict[str, float], ours: dict[str, object]) -> object:
    """The number of images. Stops unless every default metric agrees."""
    scores = ours["scores"]
    assert isinstance(scores, dict)
    if scores.keys() != theirs.keys():
        sys.exit(f"pycocoevalcap scored {', '.join(theirs)}; sacrecap {', '.join(scores)}")
    for metric, score in theirs.items():
        if abs(score - scores[metric]) > TOLERANCE:
            sys.exit(f"{metric}: pycocoevalcap {score!r}, sacrecap {scores[metric]!r}")
    return ours["images"]


def _read(path: str) -> dict[str, list[str]]:
    with open(path, encoding="utf8") as file:
        data = json.load(file)
    grouped: dict[str, list[str]] = defaultdict(list)
    if isinstance(data, dict) and "annotations" in data:
        for image in data["images"]:
            grouped[str(image["id"])] = []
        data = data["annotations"]
    if isinstance(data, dict):
        return {image: [captions] if isinstance(captions, str) else captions for image, captions in data.items()}
    for row in data:
        grouped[str(row["image_id"])].append(row["caption"])
    return grouped


def incumbent(references_path: str, candidates_path: str) -> dict[str, float]:
    """The incumbent's job, as its users run it: pycocoevalcap from two JSON files to scores."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    references, candidates = _read(references_path), _read(candidates_path)
    candidates = {image: candidates[image] for image in references}
    tokenizer = PTBTokenizer()
    gts = tokenizer.tokenize({i: [{"caption": c} for c in captions] for i, captions in references.items()})
    res = tokenizer.tokenize({i: [{"caption": c} for c in captions] for i, captions in candidates.items()})
    bleu, _ = Bleu(4).compute_score(gts, res)
    program = Meteor()
    meteor, _ = program.compute_score(gts, res)
    program.meteor_p.stdin.close()  # it ends then, and its processor time is counted
    program.meteor_p.wait()
    rouge, _ = Rouge().compute_score(gts, res)
    cider, _ = Cider().compute_score(gts, res)
    return {
        **{f"bleu-{n + 1}": score for n, score in enumerate(bleu)},
        "meteor": float(meteor),
        "rouge-l": float(rouge),
        "cider-d": float(cider),
    }


if __name__ == "__main__":
    main()
