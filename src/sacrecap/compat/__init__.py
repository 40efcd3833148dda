"""sacrecap in place of pycocoevalcap and related packages, for programs that import those and are not changed.

`install` puts sacrecap behind the old names; `python -m sacrecap.compat SCRIPT …` runs a program this way. What a
program imports is looked at first: modules with the original's source are replaced, under whatever name they are
imported; those of a changed copy are kept. The modules of each old package are here under its name:
`sacrecap.compat.pycocoevalcap.bleu.bleu` replaces `pycocoevalcap.bleu.bleu`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from sacrecap.compat.finder import SUITES, Finder, is_in
from sacrecap.errors import UsageError, accepted_name

__all__ = ["SUITES", "install", "report", "uninstall"]
__dir__ = __all__.copy


def install(only: Iterable[str] | None = None) -> None:
    """Replaces these packages: programs that import their modules get sacrecap, if they have the originals or none.

    Call it before anything imports one of them. Earlier replacements stay; calling it again does nothing.

    Args:
        only: names out of `SUITES`; by default all.

    Raises:
        UsageError: an unknown name, or the real package was imported already.
    """
    packages = SUITES if only is None else [only] if isinstance(only, str) else list(only)
    for name in packages:
        accepted_name("a package to replace", name, SUITES)
    new = [name for name in packages if name not in _finder.suites]
    for old, module in list(sys.modules.items()):
        if is_in(old, new):
            raise UsageError(
                f"{old} is imported already ({getattr(module, '__file__', 'no file')}), so the program keeps the "
                "original; call sacrecap.compat.install() before the first import of it, or run the program by "
                "python -m sacrecap.compat SCRIPT"
            )
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.suites.update(packages)


def uninstall() -> None:
    """Ends the replacement: the next import finds the real packages. Objects imported before stay sacrecap's."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if name in _finder.decisions or is_in(name, _finder.suites)]:
        del sys.modules[name]
    for known in (_finder.suites, _finder.decisions, _finder.warned_of):
        known.clear()


def report() -> str:
    """Of the modules that were imported until now: which were replaced, which were kept, and why."""
    lines = []
    for module, path, new, reason in _finder.decisions.values():
        place = "" if path is None else f" ({path})"
        lines.append(f"  {'kept' if new is None else 'replaced':8}  {module}: {reason}{place}")
    return "\n".join(["sacrecap.compat:", *(lines or ["  nothing was imported that it replaces"])])


_finder = Finder()


class _Installation:
    """Installs the replaced packages, None for all, when it is unpickled."""

    def __init__(self, only: tuple[str, ...] | None) -> None:
        self.only = only

    def __setstate__(self, state: dict[str, Any]) -> None:
        install(**state)
        _finder.quiet = True  # the program's first process said what is kept


def send(only: tuple[str, ...] | None) -> None:
    """Installs these packages in every process that `multiprocessing` starts from here on. One that was not forked
    imports the program again before our code could run there; what Python sends to it is unpickled even earlier.
    """
    from multiprocessing import spawn

    prepare = spawn.get_preparation_data

    def prepared(name: str) -> dict[str, Any]:
        data = {**prepare(name), "sacrecap_compat": _Installation(only)}
        if name == "ignore":  # the server of `forkserver`, which takes the program's path alone
            data.pop("init_main_from_path", None)
        return data

    spawn.get_preparation_data = prepared
