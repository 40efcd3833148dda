"""One run of the program: one input file, one output file, and an end in every case."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

from sacrecap.errors import DataError
from sacrecap.resources.stanford import jars, keeper
from sacrecap.resources.stanford.graph_cache import Side, Tuples
from sacrecap.resources.stanford.java import Java

_MAIN = "edu.anu.spice.SpiceScorer"
_LINES = 40
"""How many of the program's last lines are kept, for messages."""
_LONGEST_LINE = 4096
"""Most bytes of a line; a longer one counts as several lines."""
_KEEPERS_LINES = 2
_FULL = "No space left on device"
_HALF_ANSWER = re.compile(r"Parsing of sentence (?:ran out of memory|failed)")
"""With this warning, the program leaves a sentence out and continues."""
_NOISE = re.compile(r"^\s*at |^\[main\] INFO|^Loading classifier|^done \[|^Parsing |^Initiating |^Threads\( |^\s*$")


class BatchError(Exception):
    """The run gave no answers; the text says why, and continues a sentence. Fewer captions may succeed."""


@dataclass(frozen=True)
class Runner:
    """How the program is run.

    Attributes:
        java: the runtime.
        folder: where the jars are.
        memory: the most memory for Java's objects, in Java's notation: `4G`.
        threads: number of threads of the program.
    """

    java: Java
    folder: str
    memory: str
    threads: int

    def run(self, sides: Sequence[Side], seconds: float) -> list[Tuples]:
        """The scene graphs, one for each side. The program treats a candidate like a single reference.

        Raises:
            BatchError: the program failed, took longer than that many seconds, or gave unusable answers.
            DataError: there is no room for its files.
        """
        with _temporary() as folder:
            given, answered = os.path.join(folder, "in.json"), os.path.join(folder, "out.json")
            try:
                with open(given, "w", encoding="ascii") as file:
                    json.dump(
                        [{"image_id": number, "test": "", "refs": side} for number, side in enumerate(sides)], file
                    )
            except OSError as error:
                raise _no_room(error) from None
            status, said = self._wait(folder, self._command(folder, given, answered), seconds)
            if any(_FULL in line for line in said):
                raise _no_room(_FULL)
            if status != 0:
                raise BatchError(f"ended with status {status}: {_essence(said)}")
            half = next(filter(_HALF_ANSWER.search, said), None)
            if half is not None:
                raise BatchError(f"left a sentence out with {self.memory} of memory ({half.strip()})")
            return _read(answered, len(sides))

    def _command(self, folder: str, given: str, answered: str) -> list[str]:
        used = [part for part in jars.PARTS if self.java.lacks_javascript or not part.newer_java]
        return [
            self.java.path,
            f"-Xmx{self.memory}",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            # Answers must not depend on the user's language: files are UTF-8, and lower-case I is i (not so in
            # Turkish).
            "-Dfile.encoding=UTF-8",
            "-Duser.language=en",
            "-Duser.country=US",
            f"-Djava.io.tmpdir={folder}",
            "-cp",
            os.pathsep.join(os.path.join(self.folder, part.name) for part in used),
            _MAIN,
            given,
            "-out",
            answered,
            "-detailed",
            "-subset",
            "-silent",
            "-threads",
            str(self.threads),
        ]

    def _wait(self, folder: str, command: list[str], seconds: float) -> tuple[int, list[str]]:
        """The status of the command and its last lines of output; on every exit from here, the command has ended."""
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", keeper.__file__, folder, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C in the terminal goes only to us, and we end the program
        )
        held, answers, errors = (cast("IO[bytes]", s) for s in (process.stdin, process.stdout, process.stderr))
        kept: list[str] = []
        said: deque[str] = deque(maxlen=_LINES)
        keeping = _reading(answers, kept)
        saying = _reading(errors, said)
        try:
            keeping.join(seconds)
            late = keeping.is_alive()
        finally:
            with contextlib.suppress(OSError):
                held.close()  # the keeper kills the program, unless it has ended
            process.wait()
            if len(kept) == 1:
                _kill_group(int(kept[0]))  # the keeper was killed
            keeping.join()
            saying.join()
            answers.close()
            errors.close()
        if late:
            raise BatchError(f"took longer than {seconds:,.0f} seconds")
        return int(kept[1]) if len(kept) > 1 else -9, list(said)


def _reading(stream: IO[bytes], into: deque[str] | list[str]) -> threading.Thread:
    """Reads lines until the keeper has reported everything: the program's number, and its status."""

    def read() -> None:
        while line := stream.readline(_LONGEST_LINE):
            into.append(line.decode("utf-8", "replace").rstrip())
            if isinstance(into, list) and len(into) == _KEEPERS_LINES:
                return

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _kill_group(number: int) -> None:
    if number and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(number, signal.SIGKILL)


@contextlib.contextmanager
def _temporary() -> Iterator[str]:
    """A folder for the files of a run, which is removed with the block."""
    try:
        folder = tempfile.mkdtemp(prefix="sacrecap-spice-")
    except OSError as error:
        raise _no_room(error) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _no_room(error: OSError | str) -> DataError:
    return DataError(
        f"{tempfile.gettempdir()}: SPICE's program cannot write its files there ({error}); free some space, or choose "
        "another place by TMPDIR"
    )


def _essence(said: Sequence[str]) -> str:
    """The most informative line: Java's exception, or else the last line that is not about loading."""
    lines = [line for line in said if not _NOISE.search(line)]
    errors = [line for line in lines if "Error" in line or "Exception" in line]
    return (errors[:1] or lines[-1:] or ["no message"])[0]


def _read(path: str, number: int) -> list[Tuples]:
    """The graphs in the file. Raises `BatchError` unless there is a whole one for each side."""
    try:
        with open(path, encoding="utf-8") as file:
            graphs = {answer["image_id"]: _graph(answer["ref_tuples"]) for answer in json.load(file)}
        return [graphs[side] for side in range(number)]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BatchError(f"wrote no answers that can be read ({type(error).__name__}: {error})") from None


def _graph(tuples: list[dict[str, Any]]) -> Tuples:
    graph = tuple(sorted(tuple(entry["tuple"]) for entry in tuples))
    if not all(isinstance(name, str) for names in graph for name in names):
        raise ValueError("a tuple that does not consist of texts")
    return graph
