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
class Installation:
    """The replaced packages and settings. They are applied when this is unpickled."""

    only: tuple[str, ...] | None
    spice_parser: str

    def apply(self) -> None:
        """Installs the names. Raises `UsageError` for an unknown name or parser."""
        install(self.only)
        from sacrecap.compat.pycocoevalcap.spice.spice import Spice
        from sacrecap.metrics import Spice as Metric

        Spice.parser = Metric(parser=self.spice_parser).parser  # checked there

    def __reduce__(self) -> tuple[Callable[..., Installation], tuple[tuple[str, ...] | None, str]]:
        return _applied, (self.only, self.spice_parser)


def _applied(only: tuple[str, ...] | None, spice_parser: str) -> Installation:
    chosen = Installation(only, spice_parser)
    chosen.apply()
    be_quiet()  # the program's first process said what is kept
    return chosen


def send(chosen: Installation) -> None:
    """Sends the choice to every process that is started from here on."""
    prepare = spawn.get_preparation_data

    def prepared(name: str) -> dict[str, Any]:
        data = {**prepare(name), "sacrecap_compat": chosen}
        if name == "ignore":  # the server of `forkserver`, which takes the program's path alone
            data.pop("init_main_from_path", None)
        return data

    spawn.get_preparation_data = prepared
