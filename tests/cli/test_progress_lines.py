"""Progress where no terminal shows it: a line now and then, none of a quiet command."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from capeval.cli import interruptible


@pytest.fixture(autouse=True)
def quick_lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(interruptible, "LINE_SECONDS", 0.05)
    monkeypatch.setattr(interruptible, "QUIET_SECONDS", 0.01)
    yield
    interruptible.stage.text, interruptible.stage.quiet = "", False


def test_lines_tell_the_stage_until_the_command_ends(capsys: pytest.CaptureFixture[str]) -> None:
    told, said = threading.Event(), ""

    def command() -> str:
        interruptible.stage.text = "training ███░░ step 3 of 5 · loss 0.5"
        assert told.wait(60)
        return "done"

    def watch() -> None:
        nonlocal said
        while said.count("\n") < 2:
            said += capsys.readouterr().err
            time.sleep(0.01)
        told.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert interruptible.run(command) == "done"
    watcher.join()
    first, second, *_ = said.splitlines()
    assert first.startswith("capeval: training step 3 of 5 · loss 0.5 … 0 s")
    assert second.startswith("capeval: training step 3 of 5")


def test_a_quiet_command_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    interruptible.stage.quiet = True
    interruptible.run(lambda: time.sleep(0.3))
    assert capsys.readouterr().err == ""
