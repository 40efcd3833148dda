"""What is on the page of the command line is compared with the program's help by `tests/test_docs.py`."""

from __future__ import annotations

from capeval import __version__
from runner import Runner


def test_short_help_and_version(run: Runner) -> None:
    assert run.ok("-h") == run.ok("--help")
    assert run.ok("--version") == f"capeval, version {__version__}\n"
