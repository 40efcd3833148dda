"""The options that say on which engine a command runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from sacrecap.choices import ENGINES, ON_BAD_ROW, EngineName
from sacrecap.cli.group import Value
from sacrecap.errors import UsageError

if TYPE_CHECKING:
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.cli.output import Output
    from sacrecap.engines import EngineOptions

_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def byte_size(text: str) -> int:
    """A number of bytes, with or without a unit: 1G, 500M."""
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = _SIZES.get(number[-1:], 1)
    digits = number[:-1] if unit > 1 else number
    if not digits.isdecimal() or not int(digits):
        raise click.BadParameter(f"{text!r} is not a size such as 500M or 2G")
    return int(digits) * unit


class EngineChoice:
    """What the options say about the engine; each value is that of its option."""

    def __init__(self, *, engine: EngineName, resume: bool, skipped: str | None, **given: Any) -> None:
        self.name = engine
        self.skipped = skipped
        self.is_local = engine == "local"
        self._given = {"resume": resume or None, "skipped": skipped, **given}
        of_others = {"local": (*self._given,), "stream": ("address", "workers"), "ray": ()}[engine]
        for name in of_others:
            if self._given[name] is not None:
                engines = "ray" if name in ("address", "workers") else "stream and ray"
                remedy = "name the engine too" if self.is_local else f"leave it out with --engine {engine}"
                raise UsageError(f"--{name.replace('_', '-')} is for --engine {engines}; {remedy}")

    def made(self, files: CaptionFiles, output: Output | None, **refused: object) -> EngineOptions | Literal["local"]:
        """The engine, for files that are read this way.

        Raises `UsageError` for options that other engines than `local` do not heed; `refused` are those that need all
        images in memory.
        """
        if self.is_local:
            return "local"
        from sacrecap.engines import EngineOptions

        for name, value in refused.items():
            if value:
                raise UsageError(
                    f"--{name.replace('_', '-')} needs all images in memory, which --engine {self.name} never has; "
                    "take --engine local"
                )
        per_image = None if output is None else output.per_image
        if per_image == "-":
            raise UsageError(f"--per-image is a folder with --engine {self.name}, got -; name a folder")
        own = {name: value for name, value in self._given.items() if value is not None}
        return EngineOptions(self.name, per_image=per_image, **own, **files.of_engine())


_OPTIONS = (
    click.Option(
        ["--engine"],
        type=click.Choice(ENGINES),
        default="local",
        help="local: all in memory; stream: part by part, in bounded memory; ray: on a cluster. Same numbers.",
    ),
    click.Option(["--address"], metavar="HOST:PORT", help="Ray cluster; by default the running one, else a local one."),
    click.Option(["--workers"], type=click.IntRange(1), metavar="N", help="Parts at once on a cluster: all its cores."),
    click.Option(
        ["--work"],
        metavar="DIR",
        help="Folder that all machines reach, for what an engine puts aside: by default in --per-image or temporary.",
    ),
    click.Option(
        ["--keep"],
        metavar="CONDITION",
        help="Write to an engine's --per-image only images for which it holds, such as 'rouge-l > 0.3', with all "
        "columns of the input; all for every image.",
    ),
    click.Option(["--resume"], is_flag=True, help="Go on where a call with the same --per-image DIR was cut off."),
    click.Option(
        ["--on-bad-row"],
        type=click.Choice(ON_BAD_ROW),
        help="What a row of an engine's input means that cannot be used: an error, the default, or leave it out.",
    ),
    click.Option(
        ["--on-bad-file"],
        type=click.Choice(ON_BAD_ROW),
        help="What a file of an engine's input means that cannot be read: an error, the default, or leave it out.",
    ),
    click.Option(
        ["--skipped"], metavar="FILE.jsonl", help="Write the rows and files that were left out there, with reasons."
    ),
    click.Option(
        ["--memory"],
        type=byte_size,
        metavar="SIZE",
        help="Memory for an engine's counts of n-grams, such as 2G, 512M by default; what is more goes to disk, except "
        "for the language model of Fluency.",
    ),
)


ENGINE = Value("engine", "Engine", EngineChoice, _OPTIONS)
"""--engine, --address, --workers, --work, --resume, --on-bad-row and -file, --skipped, --memory: one `EngineChoice`."""
