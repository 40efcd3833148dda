"""The Java program METEOR 1.5, as packaged in pycocoevalcap: run, never opened."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pycocoevalcap.meteor import meteor as packaged
from pycocoevalcap.meteor.meteor import METEOR_JAR

INSTALLED = Path(packaged.__file__).parent
# It runs for seconds: thorough compilation and several collectors cost more than they save.
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
PROGRAM = ("java", "-Xmx2G", *_QUICK, "-Dfile.encoding=UTF-8", "-jar", INSTALLED / METEOR_JAR)
SUITE = ("-l", "en", "-norm")
"""The options that the COCO suite runs it with."""


class Original:
    """One process, a line in, a line out."""

    def __init__(self, *options: str) -> None:
        command = [*PROGRAM, "-", "-", "-stdio", *(options or SUITE)]
        self.process = subprocess.Popen(
            command, cwd=INSTALLED, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Original:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def statistics(self, candidate: str, references: Sequence[str]) -> str:
        return self.ask(" ||| ".join(["SCORE", *references, candidate]))

    def scores(self, statistics: Sequence[str]) -> tuple[list[float], float]:
        """The score of each, and that of all together."""
        first = self.ask(" ||| ".join(["EVAL", *statistics]))
        *segments, corpus = map(float, [first, *(self._answer() for _ in statistics)])
        return segments, corpus


def alignments(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[list[str], list[str], list[list[int]]]]:
    """For each candidate and reference: tokens of either, and the matches as the program prints them.

    A match is the reference's start and length, the candidate's start and length, and the number of its module.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in zip(("candidates", "references"), zip(*pairs, strict=True), strict=True):
            Path(folder, name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        command = [*PROGRAM, "candidates", "references", *SUITE, "-q", "-writeAlignments", "-f", "found"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        blocks = Path(folder, "found-align.out").read_text(encoding="utf-8").strip("\n").split("\n\n")
    assert len(blocks) == len(pairs)
    for block in blocks:
        _, candidate, reference, _, *matches = block.split("\n")
        fields = (match.replace(":", "\t").split() for match in matches)
        yield candidate.split(" "), reference.split(" "), [list(map(int, numbers[:5])) for numbers in fields]
