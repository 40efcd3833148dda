"""Keeps the replacement in the processes that a program starts by `multiprocessing`.

A process that was not forked imports the program again, before our code could run there. But the data that Python
sends to it are unpickled even earlier, so a function call among them runs in time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import spawn
from typing import Any

from sacrecap.compat import be_quiet, install


@dataclass(frozen=True)
class _Installation:
    """The replaced packages, None for all. They are installed when this is unpickled."""

    only: tuple[str, ...] | None

    def __reduce__(self) -> tuple[Callable[..., _Installation], tuple[tuple[str, ...] | None]]:
        return _installed, (self.only,)


def _installed(only: tuple[str, ...] | None) -> _Installation:
    install(only)
    be_quiet()  # the program's first process said what is kept
    return _Installation(only)


def send(only: tuple[str, ...] | None) -> None:
    """Installs these packages in every process that is started from here on."""
    prepare = spawn.get_preparation_data

    def prepared(name: str) -> dict[str, Any]:
        data = {**prepare(name), "sacrecap_compat": _Installation(only)}
        if name == "ignore":  # the server of `forkserver`, which takes the program's path alone
            data.pop("init_main_from_path", None)
        return data

    spawn.get_preparation_data = prepared
