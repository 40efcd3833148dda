"""The options that say on which engine a command runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from sacrecap.choices import ENGINES, ON_BAD_ROW
from sacrecap.errors import UsageError

if TYPE_CHECKING:
    from sacrecap.engines import EngineOptions

F = TypeVar("F", bound=Callable[..., Any])
_NAMES = ("address", "workers", "work", "resume", "on_bad_row", "skipped", "memory")
_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Size(click.ParamType[int] if TYPE_CHECKING else click.ParamType):  # type: ignore[misc]
    """A number of bytes, with or without a unit: 1G, 500M."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        if isinstance(value, int):
            return value
        text = str(value).strip().upper().removesuffix("B").removesuffix("I")
        unit = _SIZES.get(text[-1:], 1)
        digits = text[:-1] if unit > 1 else text
        if not digits.isdecimal() or not int(digits):
            self.fail(f"{value!r} is not a size such as 500M or 2G", param, ctx)
        return int(digits) * unit


def engine(function: F) -> F:
    """--engine, --address, --workers, --resume, --on-bad-row, --skipped, --memory: one `engine` for the command."""

    @wraps(function)
    def with_engine(*arguments: Any, engine: str, **values: Any) -> Any:
        from sacrecap.engines import EngineOptions

        given = {name: values.pop(name) for name in _NAMES}
        resume = given.pop("resume")
        if engine == "local":
            _refuse({**given, "resume": resume or None})
        elif engine == "stream" and (given["address"] or given["workers"]):
            raise UsageError("--address and --workers are for --engine ray")
        per_image = values.get("per_image") if engine != "local" else None
        if per_image == "-":
            raise UsageError(f"--per-image is a folder with --engine {engine}, got -; name a folder")
        own = {name: value for name, value in given.items() if value is not None}
        options = EngineOptions(engine, per_image=per_image, resume=resume, **own)  # type: ignore[arg-type]
        return function(*arguments, engine=options, **values)

    for option in reversed(_OPTIONS):
        with_engine = option(with_engine)
    return cast("F", with_engine)


def _refuse(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            engines = "ray" if name in ("address", "workers") else "stream and ray"
            raise UsageError(f"--{name.replace('_', '-')} is for --engine {engines}; name the engine too")


_OPTIONS = (
    click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default="local",
        show_default=True,
        help="local: all in memory; stream: part by part, in bounded memory; ray: on a cluster. Same numbers.",
    ),
    click.option("--address", metavar="HOST:PORT", help="Ray cluster; by default the running one, else a local one."),
    click.option("--workers", type=click.IntRange(1), metavar="N", help="Parts at once on a cluster: all its cores."),
    click.option(
        "--work",
        metavar="DIR",
        help="Folder that all machines reach, for what an engine puts aside: by default in --per-image or temporary.",
    ),
    click.option("--resume", is_flag=True, help="Go on where a call with the same --per-image DIR was cut off."),
    click.option(
        "--on-bad-row",
        type=click.Choice(ON_BAD_ROW),
        help="What a row of an engine's input means that cannot be used: an error, the default, or leave it out.",
    ),
    click.option("--skipped", metavar="FILE.jsonl", help="Write the rows that were left out there, with reasons."),
    click.option(
        "--memory",
        type=Size(),
        metavar="SIZE",
        help="Memory for an engine's counts of n-grams, such as 2G, 512M by default; what is more goes to disk, except "
        "for the language model of Fluency.",
    ),
)


def refuse_on(engine: EngineOptions, **given: object) -> None:
    """Raises `UsageError` for options that need all images in memory."""
    for name, value in given.items():
        if value:
            raise UsageError(
                f"--{name.replace('_', '-')} needs all images in memory, which --engine {engine.name} never has; take "
                "--engine local"
            )
