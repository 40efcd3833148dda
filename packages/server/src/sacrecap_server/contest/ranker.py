"""Behind the door: scores what came in, one file after the other, and makes the board anew, at most once a minute."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sacrecap.boards import Contest
from sacrecap.errors import SacrecapError
from sacrecap_server.child import ChildFailedError, ChildRefusedError, ResourceLimits
from sacrecap_server.contest.ledger import FAILED, SCORED, Ledger
from sacrecap_server.errors import Refused
from sacrecap_server.log import error_fields, event, log

BOARD_SECONDS = 60.0
"""The least time from the beginning of one board to that of the next."""
PAGES = ("index.html", "board.json", "private.json")
"""Files of a board."""
_LOOK_SECONDS = 2.0
"""How often it looks whether the contest has begun or ended, or the host has changed a file."""

Run = Callable[[str, dict[str, Any], list[bytes], ResourceLimits], Any]


class Ranker:
    """One thread; `wake` tells it of a new file."""

    def __init__(self, folder: Path, site: Path, ledger: Ledger, limits: ResourceLimits, run: Run) -> None:
        self.folder = folder
        self.site = site
        self.ledger = ledger
        self.limits = limits
        self.run = run
        self.problem = ""
        """Why the last board could not be made: for the host."""
        self.unscored: dict[tuple[str, int], tuple[float, str]] = {}
        """By team and number of files that cannot be scored as the host's files are now: when the next try is, and
        why."""
        self._made_of: object = None
        self._began = -BOARD_SECONDS
        self._awake = threading.Event()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="ranker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """What is under way is left; another start does it again."""
        self._ends.set()
        self._awake.set()

    def wake(self) -> None:
        self._awake.set()

    def _loop(self) -> None:
        compared = -BOARD_SECONDS
        while not self._ends.is_set():
            self._awake.wait(_LOOK_SECONDS)
            self._awake.clear()
            try:
                if time.monotonic() - compared >= BOARD_SECONDS:  # of 10,000 files it takes most of a second
                    compared = time.monotonic()
                    self.ledger.compare_folder()
                while not self._ends.is_set() and self.score_one():
                    self._board_in_turn()
                self._board_in_turn()
            except Exception as error:  # noqa: BLE001  (a full disk, a busy database: the next look tries again)
                log.warning("outage", extra={"fields": error_fields(error)})
                time.sleep(_LOOK_SECONDS)

    def _board_in_turn(self) -> None:
        if time.monotonic() - self._began >= BOARD_SECONDS:
            self.make_board()

    def score_one(self) -> bool:
        """Scores the next file that waits; whether there was one."""
        try:
            contest = Contest.load(self.folder)
        except SacrecapError:  # which the next board tells the host
            return False
        of = stamps_of(contest)
        for submission in self.ledger.waiting(contest.part(self.ledger.clock()), of):
            key = submission.team, submission.number
            if time.monotonic() < self.unscored.get(key, (0.0,))[0]:
                continue
            try:
                data = self.ledger.read(submission)
                scores = self.run(
                    "sacrecap_server.contest.work:scores_told", {"folder": str(self.folder)}, [data], self.limits
                )
                self.ledger.note(submission, SCORED, {**scores, "of": of})
                self.unscored.pop(key, None)
            except (FileNotFoundError, Refused):  # on its way into the folder; or the host took it away
                continue
            except ChildRefusedError as error:  # what the host has to mend
                self.unscored[key] = time.monotonic() + BOARD_SECONDS, str(error)
                event("scoring refused", number=submission.number)
                continue
            except ChildFailedError as error:
                event("scoring failed", number=submission.number)
                self.ledger.note(submission, FAILED, {"problem": str(error)})
            return True
        return False

    def make_board(self) -> None:
        """Makes the board if anything has changed since the last one, or its page is gone."""
        try:
            # All that a board is made of, as far as times and sizes tell.
            contest = Contest.load(self.folder)
            paths = sorted([self.folder / "contest.toml", *self.folder.glob("submissions/*/[!.]*")])
            files = [(str(path), *stamp(path)) for path in paths]
            state = contest.phase(self.ledger.clock()), stamps_of(contest), files
        except SacrecapError as error:
            self._made_of, self.problem = None, str(error)
            return
        if state == self._made_of and (self.site / PAGES[0]).exists():
            return
        self._began = time.monotonic()
        header = {"folder": str(self.folder), "site": str(self.site)}
        try:
            self.run("sacrecap_server.contest.work:board", header, [], self.limits)
        except ChildFailedError as error:  # a full disk, say: the next minute tries again
            self.problem = str(error)
            event("board failed")
            return
        # What changed meanwhile has another state than this one, and is on the next board.
        self._made_of, self.problem = state, ""
        if os.name == "posix" and self.site.is_dir():  # everybody may see the board, such as the user of a web server
            self.site.chmod(0o755)
            for page in PAGES:
                if (self.site / page).is_file():
                    (self.site / page).chmod(0o644)


def stamps_of(contest: Contest) -> str:
    """What scores hang on beside a file: other references, objects, private images or metrics have another text."""
    files = [*contest.references.values(), *([contest.objects] if contest.objects else [])]
    files += [contest.private_path] if contest.private else []
    made_of = [(file, *stamp(Path(file))) for file in files], contest.metrics, contest.tokenizer, contest.private
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]


def stamp(path: Path) -> tuple[int, int]:
    """When the file was written, and its size; zeros where it is gone."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)
