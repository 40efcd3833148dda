"""What was found of submitted files before, so that a board of thousands of them scores only those that are new.

A board of 1,000 files of 1,000 images takes 42 s of a processor without it, and 1 s with it; a door makes one a minute.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from sacrecap import __version__
from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError

if TYPE_CHECKING:
    from sacrecap.boards.contest_folder import Contest


class Memory(dict[str, "float | list[str] | None"]):
    """By the checksum of a file, the score that chooses a team's best, or the problems.

    It is in a file beside the references, and begun anew where anything that it depends on has changed.
    """

    def __init__(self, contest: Contest, metrics: Sequence[str]) -> None:
        super().__init__()
        name = f"{os.path.basename(contest.folder)}.scores.json"
        self._path = os.path.join(os.path.dirname(contest.first), name)
        hidden = filter(None, (contest.first, contest.objects))
        rules = metrics, contest.rank_by, contest.tokenizer, dataclasses.asdict(contest.limits)
        private = contest.private_part.checksum if contest.private else ""
        of = [__version__, *rules, *(checksum(read_bytes(path)) for path in hidden), private]
        self._of = checksum(json.dumps(of).encode())
        with suppress(OSError, ValueError, KeyError, TypeError), open(self._path, encoding="utf-8") as file:
            document = json.load(file)
            if document["of"] == self._of:
                self.update(document["files"])
        self._before = set(self)

    def write(self, files: Collection[str]) -> None:
        """Writes what is known of these files; where the folder cannot be written, that costs time alone."""
        if self._before != set(files) and os.access(os.path.dirname(self._path), os.W_OK):
            with suppress(DataError), atomic_write(self._path) as file:
                json.dump({"of": self._of, "files": {key: self[key] for key in files}}, file)


def checksum(data: bytes) -> str:
    """What files are known by."""
    return hashlib.sha256(data).hexdigest()
