"""A call that begins before its result is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """Runs a call in a thread at once. Native code works without the interpreter, which goes on importing meanwhile."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._results: list[T] = []
        self._failure: BaseException | None = None
        # A usage error found meanwhile ends the process, whatever the call is at.
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._call())
        except BaseException as failure:
            self._failure = failure

    def result(self) -> T:
        """What the call returned, as soon as it has; raises what the call raised."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._results[0]
