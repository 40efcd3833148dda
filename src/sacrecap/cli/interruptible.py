"""Runs a command so that Ctrl-C ends it at once, also in the middle of native code.

Python delivers signals only to the main thread, between two of its own instructions; a long native call would hold
Ctrl-C back until it is done. So the command runs in a second thread, and the main thread waits for either.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

from sacrecap.data.writers import discard_unfinished
from sacrecap.resources.needs import Step

QUIET_SECONDS = 1.0
LINE_SECONDS = 30.0
"""Seconds between lines about progress where there is no terminal: in a log, a pipe, a job of a cluster."""


class Stage:
    """The current step, for the line that a terminal shows after one second, or a log every 30 seconds."""

    text = ""
    quiet = False
    errors: TextIO | None = None
    """Where errors go while the command is quiet."""

    def silence(self) -> None:
        """Leaves standard error to errors alone: no warnings and no progress, whoever writes them."""
        self.quiet = True
        if self.errors is None:
            self.errors = sys.stderr
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - `speak` closes it

    def speak(self) -> None:
        """Ends that."""
        self.quiet = False
        if self.errors is not None:
            sys.stderr.close()
            self.errors, sys.stderr = None, self.errors

    @property
    def line(self) -> str:
        """The step, with the share of it that is done where native code counts that."""
        text = self.text or "working"
        if "%" in text or "sacrecap._core" not in sys.modules:
            return text
        share = sys.modules["sacrecap._core"].share_done()
        return text if share is None else f"{text}: {share:.0%}"


stage = Stage()


def show_share(share: float) -> None:
    """Shows the step that begins, or how far a slow preparation is; the `Share` of `Needs` says what it is."""
    what = getattr(share, "what", "making ready")
    if isinstance(share, Step):
        stage.text = what
    else:
        stage.text = f"{what}: {float(share):.0%}" if share < 1 else "scoring"


def run(command: Callable[[], Any]) -> Any:
    """The command's result, or its exception; on Ctrl-C the process ends with status 130."""
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(command())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work, name="sacrecap", daemon=True)
    thread.start()
    try:
        _wait(thread)
    except KeyboardInterrupt:
        discard_unfinished()
        # A terminal has just shown ^C: the message goes on a line of its own.
        errors = stage.errors or sys.stderr
        start = "\n" if errors.isatty() else ""
        print(f"{start}sacrecap: interrupted", file=errors, flush=True)
        # The command's thread may be inside native code: it ends only with the process.
        os._exit(130)
    stage.speak()
    if failure:
        raise failure[0]
    return outcome[0]


def _wait(thread: threading.Thread) -> None:
    """Waits for its end: with a line that changes on a terminal, else with one now and then, unless it is quiet."""
    started = last_told = time.monotonic()
    thread.join(QUIET_SECONDS)
    if thread.is_alive() and not stage.quiet and sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("") as status:
            while thread.is_alive():
                status.update(f"{stage.line} … {time.monotonic() - started:.0f} s")
                thread.join(0.1)
    while thread.is_alive():
        thread.join(0.1)
        now = time.monotonic()
        if now - last_told >= LINE_SECONDS and thread.is_alive() and not stage.quiet:
            last_told = now
            what = " ".join(stage.line.replace("█", "").replace("░", "").split())
            print(f"sacrecap: {what} … {now - started:.0f} s", file=sys.stderr, flush=True)
