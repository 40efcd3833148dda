"""What was found of submitted files before, so that a board of thousands of them scores only those that are new."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sacrecap import __version__
from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError

if TYPE_CHECKING:
    from sacrecap.boards.contest import Contest


class Examined(NamedTuple):
    """A file that can be scored."""

    value: float | None
    """Of the metric that ranks, as the team may know it while the contest is open; None for no score."""


class Memory:
    """The scores that choose a team's best, and the problems of files, by the files' checksums.

    They are in a file beside the references, which is begun anew where anything that they depend on has changed.
    """

    def __init__(self, contest: Contest, metrics: Sequence[str]) -> None:
        self._path = f"{contest.private_path.removesuffix('.private.json')}.scores.json"
        hidden = [contest.first, *([contest.objects] if contest.objects else [])]
        of = [
            *(__version__, metrics, contest.rank_by, contest.tokenizer, dataclasses.asdict(contest.limits)),
            *(_checksum(read_bytes(path)) for path in hidden),
            contest.private_part.checksum if contest.private else "",
        ]
        self._of = _checksum(json.dumps(of).encode())
        self._found: dict[str, object] = {}
        try:
            with open(self._path, encoding="utf-8") as file:
                document = json.load(file)
            if document["of"] == self._of:
                self._found = dict(document["files"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        self._now: dict[str, object] = {}

    def get(self, data: bytes) -> Examined | list[str] | None:
        """What is known of a file; None if nothing is."""
        key = _checksum(data)
        if key not in self._found:
            return None
        value = self._now[key] = self._found[key]
        return value if isinstance(value, list) else Examined(value)  # type: ignore[arg-type]

    def add(self, data: bytes, examined: Examined | list[str]) -> None:
        """Remembers what was found of a file."""
        self._now[_checksum(data)] = examined.value if isinstance(examined, Examined) else examined

    def write(self) -> None:
        """Writes what is known of the files that are there; a folder that cannot be written costs time alone."""
        if self._now != self._found and os.access(os.path.dirname(self._path), os.W_OK):
            try:
                with atomic_write(self._path) as file:
                    json.dump({"of": self._of, "files": self._now}, file)
            except DataError:
                pass


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
