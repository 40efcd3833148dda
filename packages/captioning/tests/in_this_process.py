"""Work of a sweep in this process: one of its own reads PyTorch for longer than a small sweep takes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class Here(Executor):
    def __init__(self, *_: object, **__: object) -> None:
        pass

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(work(*arguments, **options))
        except BaseException as error:  # noqa: BLE001  (whatever it is, it is the future's)
            done.set_exception(error)
        return done
