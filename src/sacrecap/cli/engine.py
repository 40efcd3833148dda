"""The option that says on which engine a command runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from sacrecap.choices import ENGINES, ON_BAD_ROW, EngineName
from sacrecap.cli.group import Value, declared
from sacrecap.cli.options import Parameter, number, one_of, read_call, read_parameters, yes_or_no
from sacrecap.errors import UsageError, accepted_name

if TYPE_CHECKING:
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.cli.output import Output
    from sacrecap.engines import EngineOptions

_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def byte_size(text: str) -> int:
    """A number of bytes, with or without a unit: 1G, 500M. Raises `ValueError` for another text."""
    size = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = _SIZES.get(size[-1:], 1)
    digits = size[:-1] if unit > 1 else size
    if not digits.isdecimal() or not int(digits):
        raise ValueError
    return int(digits) * unit


_OF_BOTH: dict[str, Parameter] = {
    "memory": ("a size such as 500M or 2G", byte_size),
    "work": ("a folder", str),
    "keep": ("a condition", str),
    "resume": ("yes or no", yes_or_no),
    "on-bad-row": ("error or skip", one_of(*ON_BAD_ROW)),
    "on-bad-file": ("error or skip", one_of(*ON_BAD_ROW)),
    "skipped": ("a file", str),
}
_WORKERS = "a whole number of at least 1", number(int, 1, math.inf)
_PARAMETERS: dict[str, dict[str, Parameter]] = {
    "local": {},
    "stream": _OF_BOTH,
    "ray": {"address": ("HOST:PORT", str), "workers": _WORKERS, **_OF_BOTH},
}


class EngineChoice:
    """What --engine says."""

    def __init__(self, *, engine: str) -> None:
        before, _, address = engine.partition(":")
        is_address = before == "ray" and address and "(" not in address
        name, parameters = (before, {"address": address}) if is_address else read_call("--engine", engine)
        accepted_name("--engine", name, ENGINES)
        self.name: EngineName = next(known for known in ENGINES if known == name)
        self._parameters = read_parameters(f"--engine {name}", parameters, _PARAMETERS[name])
        self.skipped: str | None = self._parameters.get("skipped")
        self.is_local = self.name == "local"

    def made(
        self, files: CaptionFiles, output: Output | None, *, is_one: bool, **refused: object
    ) -> EngineOptions | Literal["local"]:
        """The engine, for files that are read this way.

        `is_one`: whether all files are of one kind: rows that hold both, references, or caption sets.

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
        return EngineOptions(self.name, per_image=per_image, **self._parameters, **files.of_engine(is_one=is_one))


ENGINE = Value(
    "engine",
    "Engine",
    EngineChoice,
    declared(
        """
        --engine NAME|NAME(…)  Where it runs: local (all in memory), stream (part by part, in bounded memory), or ray,
            ray:HOST:PORT (on a cluster). Same numbers. Parameters of the last two, as stream(memory=2G, resume=yes):
            memory=512M, work=DIR, keep=CONDITION, resume=yes, on-bad-row=skip, on-bad-file=skip, skipped=FILE; of ray
            alone address and workers.
        """,
        engine={"default": "local", "shell_complete": lambda _, __, begun: [e for e in ENGINES if e.startswith(begun)]},
    ),
)
"""--engine: one `EngineChoice`."""
