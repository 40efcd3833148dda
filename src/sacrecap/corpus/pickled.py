"""Document frequencies from a Python pickle, such as the published ones of COCO, read in a separate process.

Nothing in the pickle is executed, and a crash while it is read (see `unpickle`) ends only that process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from sacrecap import _core
from sacrecap.corpus import unpickle
from sacrecap.data.source import PathLike, display_name, reading
from sacrecap.errors import DataError

SECONDS = 120
"""Limit of processor time, in seconds. A million n-grams take about a second."""

WAIT = 3600
"""Limit from start to end, in seconds, for systems that do not count processor time."""

MEMORY = 512 << 20
MEMORY_PER_BYTE = 64
"""Limits of memory, in bytes: for any file, and for each byte of it. Counts take about 25 bytes per byte of file."""

_ELSEWHERE = "`sacrecap df build REFERENCES -o FILE` makes document frequencies from the references"


def read_pickle(path: PathLike) -> _core.DocumentFrequency:
    """The counts of the pickle. Raises `DataError` if it has none, or if reading it takes too much time or memory."""
    with reading(path):
        file = open(path, "rb")  # noqa: SIM115  (closed below; other errors must not be taken for those of the file)
    limits = map(str, (SECONDS, MEMORY, MEMORY_PER_BYTE))
    # Isolated: neither the environment nor the current folder can replace Python's modules.
    command = [sys.executable, "-I", "-S", unpickle.__file__, *limits]
    with file:
        try:
            done = subprocess.run(command, stdin=file, capture_output=True, timeout=WAIT, check=False)
        except subprocess.TimeoutExpired:
            raise _refusal(path, f"reading the pickle took more than {WAIT} seconds") from None
        except OSError as error:
            raise DataError(
                f"{display_name(path)}: a pickle is read in a separate Python process, and {sys.executable!r} cannot "
                f"be started: {error}"
            ) from error
    if done.returncode == unpickle.REFUSED:
        raise _refusal(path, done.stdout.decode())
    if done.returncode == -getattr(signal, "SIGXCPU", 0):
        raise _refusal(path, f"reading the pickle took more than {SECONDS} seconds of processor time")
    if done.returncode:
        raise _refusal(
            path, "reading the pickle ended its process; the values in it are nested too deeply or too large"
        )
    return _built(done.stdout)


def _built(answer: bytes) -> _core.DocumentFrequency:
    line, _, arrays = answer.partition(b"\n")
    header = json.loads(line)
    count = header["ngrams"]
    counts, lengths, ids = arrays[: 4 * count], arrays[4 * count : 5 * count], arrays[5 * count :]
    return _core.DocumentFrequency.from_counts(header["words"], ids, lengths, counts, header["documents"])


def _refusal(path: PathLike, why: str) -> DataError:
    return DataError(f"{os.fspath(path)}: {why}. {_ELSEWHERE}")
