"""The option that says on which engine a command runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from sacrecap.choices import ENGINES, EngineName
from sacrecap.cli.group import Value, declared
from sacrecap.cli.options import number
from sacrecap.errors import UsageError, accepted_name
from sacrecap.parameters import Parameter, read_call, read_parameters

if TYPE_CHECKING:
    from sacrecap.engines import EngineOptions

Command = TypeVar("Command", bound=Callable[..., Any])
_OF_RAY: dict[str, Parameter] = {
    "address": ("HOST:PORT", str),
    "workers": ("a whole number of at least 1", number(int, 1, math.inf)),
}


class EngineChoice:
    """What --engine says."""

    def __init__(self, *, engine: str) -> None:
        before, _, address = engine.partition(":")
        is_address = before == "ray" and address and "(" not in address
        name, parameters = (before, {"address": address}) if is_address else read_call("--engine", engine)
        accepted_name("--engine", name, ENGINES)
        self.name: EngineName = next(engine_name for engine_name in ENGINES if engine_name == name)
        self._parameters = read_parameters(f"--engine {name}", parameters, _OF_RAY if name == "ray" else {})

    def options(self, *, rows: bool = False) -> EngineOptions | Literal["local"]:
        """The engine; `rows`: whether anything is wanted of single images."""
        if self.name == "local":
            return "local"
        from sacrecap.engines import EngineOptions

        return EngineOptions(self.name, rows=rows, **self._parameters)


def local_only(what: str) -> Callable[[Command], Command]:
    """--engine of a command that only the engine `local` carries out, whose help does not have it."""

    def check(_: click.Context, __: click.Parameter, engine: str) -> None:
        if EngineChoice(engine=engine).name != "local":
            raise UsageError(f"{what} are scored with all captions in memory; take --engine local")

    return click.option("--engine", default="local", hidden=True, expose_value=False, callback=check)


ENGINE = Value(
    "engine",
    "Engine",
    EngineChoice,
    declared(
        """
        --engine NAME|NAME(…)  Where it runs: local (all in memory), stream (piece by piece, in little memory), or ray,
            ray:HOST:PORT, ray(workers=N) (on a cluster). Same numbers.
        """,
        engine={"default": "local", "shell_complete": lambda _, __, begun: [e for e in ENGINES if e.startswith(begun)]},
    ),
)
"""--engine: one `EngineChoice`."""
