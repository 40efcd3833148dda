"""The engine of a cluster without Ray: where it is not installed, and beside one that only notes what it is told."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import sacrecap
from sacrecap.engines.ray import SENT, RayEngine
from sacrecap.errors import MissingDependencyError


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    message = r"the engine ray needs the extra 'ray': pip install 'sacrecap\[ray\]'"
    with pytest.raises(MissingDependencyError, match=message):
        sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, engine="ray")


class Noted:
    """A Ray whose even results are ready, and that notes what is cancelled, and what it was asked before."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def wait(
        self, results: list[int], *, num_returns: int, timeout: float | None = None, fetch_local: bool = True
    ) -> Any:
        self.calls.append(("wait", tuple(results), num_returns, timeout, fetch_local))
        return [result for result in results if result % 2 == 0], [result for result in results if result % 2]

    def cancel(self, result: int, *, force: bool) -> None:
        self.calls.append(("cancel", result, force))


def flow(pieces: int) -> tuple[Noted, Any]:
    engine = RayEngine.__new__(RayEngine)
    noted = Noted()
    engine._ray, engine._workers = noted, 3
    numbers: Any = range(pieces)
    return noted, engine._flow(lambda piece: piece, numbers)


def test_what_is_on_its_way_arrives_before_the_rest_is_cancelled() -> None:
    """Ray ends the process where a task is cancelled while it is sent: ray-project/ray, issue 54846."""
    noted, results = flow(9)
    first = next(results)
    noted.calls.clear()
    results.close()
    (name, waited, count, seconds, fetched), *cancelled = noted.calls
    assert (name, count, seconds, fetched) == ("wait", len(waited), SENT, False)
    assert first not in waited
    assert cancelled == [("cancel", result, False) for result in waited if result % 2]
    assert cancelled


def test_nothing_is_cancelled_at_the_end() -> None:
    noted, results = flow(2)
    assert list(results) == [0, 1]
    assert noted.calls == []
