"""Runs a program that imports pycocoevalcap, and gives it sacrecap: `python -m sacrecap.compat SCRIPT ARGUMENTS`."""

from __future__ import annotations

import atexit
import builtins
import os
import runpy
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType, TracebackType
from typing import NoReturn

from sacrecap.compat import SUITES, install, report, send
from sacrecap.errors import SacrecapError

USAGE = f"""\
usage: python -m sacrecap.compat [OPTIONS] SCRIPT [ARGUMENTS]
       python -m sacrecap.compat [OPTIONS] -m MODULE [ARGUMENTS]

Runs a Python program that imports {" or ".join(SUITES)}, or a
copy of one of them, and gives it sacrecap's modules in place of those with the original's source. Modules with
another source are kept: their numbers stay what they are. The program's arguments, its exit status and its tracebacks
are its own.

  --report      at the end, list on standard error what was replaced, what was kept, and why
  --only NAMES  packages to replace, separated by commas, out of the two above (default: both)
  -m MODULE     run a module, as python -m does
"""


def main(arguments: list[str]) -> None:
    """Takes the options, and runs the program."""
    names = ""
    rest = [*arguments]
    while rest and rest[0].startswith("-") and rest[0] != "-m":
        option, equals, value = rest.pop(0).partition("=")
        if option in ("-h", "--help"):
            print(USAGE, end="")
            return
        if option == "--report" and not equals:
            atexit.register(lambda: print(report(), file=sys.stderr))
            continue
        if option != "--only":
            _stop(f"there is no option {option}")
        if not equals and not rest:
            _stop(f"{option} needs a value")
        names = value if equals else rest.pop(0)
    is_module = rest[:1] == ["-m"]
    program = rest[is_module:]
    if not program:
        _stop("which program?")
    only = tuple(names.split(",")) if names else None
    try:
        install(only)
    except SacrecapError as error:
        _stop(str(error))
    send(only)
    sys.excepthook = partial(_without_runner, sys.excepthook)
    sys.argv = program
    if is_module:
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
        return
    if os.path.isdir(program[0]):
        runpy.run_path(program[0], run_name="__main__")
        return
    # A file, as Python runs one: as the main module until the end of the process.
    path = os.path.abspath(program[0])
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        _stop(f"{path}: {error.strerror}")
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    sys.modules["__main__"] = module = ModuleType("__main__")
    vars(module).update(__file__=path, __cached__=None, __builtins__=builtins)
    exec(compile(source, path, "exec", dont_inherit=True), vars(module))  # noqa: S102  (what Python would run)


def _stop(message: str) -> NoReturn:
    print(f"sacrecap.compat: {message}\n\n{USAGE}", end="", file=sys.stderr)
    raise SystemExit(2)


def _without_runner(
    show: Callable[..., object], kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Shows an exception as Python does, without the lines of this runner."""
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        trace = trace.tb_next
    # If the program itself did not compile, no line is its own.
    show(kind, error.with_traceback(trace), trace)


if __name__ == "__main__":
    main(sys.argv[1:])
