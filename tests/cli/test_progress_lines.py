"""Progress where no terminal shows it: a line now and then, none of a quiet command."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

import sacrecap
from sacrecap import _core
from sacrecap.cli import interruptible


class Clock:
    """Each look at it is half a minute after the one before."""

    def __init__(self) -> None:
        self.looks, self.looked_often = 0, threading.Event()

    def monotonic(self) -> float:
        self.looks += 1
        if self.looks == 5:
            self.looked_often.set()
        return 30.0 * self.looks


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(interruptible, "time", clock)
    monkeypatch.setattr(interruptible, "QUIET_SECONDS", 0.01)
    yield clock
    interruptible.stage.text, interruptible.stage.quiet = "", False


def test_lines_tell_the_stage_until_the_command_ends(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> str:
        interruptible.stage.text = "training ███░░ step 3 of 5 · loss 0.5"
        said = ""
        while said.count("\n") < 2:
            said += capsys.readouterr().err
            time.sleep(0.01)
        return said

    first, second, *_ = interruptible.run(command).splitlines()
    assert first == "sacrecap: training step 3 of 5 · loss 0.5 … 30 s"
    assert second == "sacrecap: training step 3 of 5 · loss 0.5 … 60 s"


def test_the_share_that_native_code_counts_stands_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "share_done", lambda: 0.456)
    interruptible.stage.text = "scoring"
    assert interruptible.stage.line == "scoring: 46%"
    interruptible.stage.text = "asking a judge: 3%"
    assert interruptible.stage.line == "asking a judge: 3%"
    monkeypatch.setattr(_core, "share_done", lambda: None)
    interruptible.stage.text = "scoring"
    assert interruptible.stage.line == "scoring"


def test_native_code_counts_how_far_it_is() -> None:
    """While it works, and not before or after."""
    references = {str(image): [f"a dog number {image} runs"] for image in range(200)}
    result = sacrecap.score(references, {image: texts[0][:9] for image, texts in references.items()}, "rouge-l")
    table = result["rouge-l"].rows
    ended, shares = threading.Event(), list[float]()

    def resample() -> None:
        _core.bootstrap_intervals([table], 100_000, 0.95, 0, 1)
        ended.set()

    assert _core.share_done() is None
    threading.Thread(target=resample).start()
    while not ended.is_set():
        share = _core.share_done()
        shares += [] if share is None else [share]
    assert _core.share_done() is None
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1


def test_a_quiet_command_tells_nothing(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    interruptible.stage.quiet = True
    interruptible.run(clock.looked_often.wait)
    assert capsys.readouterr().err == ""
