"""The pages of this member are run, and the help of each of its commands is on one."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import Path

import pytest

import pages
from pages import check_help, every_page, run_page
from runner import Runner
from sacrecap.cli import interruptible

in_a_shell = pages.run


def in_this_process(command: str) -> tuple[int, str]:
    """As `pages.run`; but what asks nothing of the shell runs here, as each process would import PyTorch anew."""
    if not re.fullmatch(r"sacrecap [^|;<>&$`*~]*", command) or command.endswith(("--help", "--help-all")):
        return in_a_shell(command)
    ended = Runner(Path.cwd()).here(*shlex.split(command.replace("\\\n", ""))[1:])
    return ended.status, ended.stderr + ended.stdout


@every_page("captioning")
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "run", in_this_process)
    monkeypatch.setattr(interruptible, "LINE_SECONDS", math.inf)  # a busy machine makes no page wrong
    run_page(page, tmp_path, monkeypatch)


def test_every_command_is_on_the_page_and_no_other() -> None:
    check_help("caption")
