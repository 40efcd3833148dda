"""sacrecap in place of pycocoevalcap and related packages, for programs that import those and are not changed.

`install` makes the old names importable; `python -m sacrecap.compat SCRIPT …` runs a program this way. The modules of
each old package are here under its name: `sacrecap.compat.pycocoevalcap.bleu.bleu` replaces `pycocoevalcap.bleu.bleu`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from sacrecap.errors import UsageError, accepted_name

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object

__all__ = ["ANYWHERE", "SUITES", "install", "uninstall"]
__dir__ = __all__.copy

ANYWHERE = ("pycocoevalcap", "pyciderevalcap")
"""Packages whose names are unique: they are replaced wherever a program keeps them, as in
`from cider.pyciderevalcap.ciderD.ciderD import CiderD`.
"""

SUITES = (*ANYWHERE, "evaluation")
"""All packages that can be replaced. `evaluation` is a common name: it is replaced only on request, and only if it
is not inside another package.
"""


def install(only: Iterable[str] = ANYWHERE) -> None:
    """Replaces these packages: programs that import them get sacrecap.

    Call it before anything imports one of them. Earlier replacements stay; calling it again does nothing.

    Args:
        only: names out of `SUITES`.

    Raises:
        UsageError: an unknown name, or the real package was imported already.
    """
    names = [only] if isinstance(only, str) else list(only)
    for name in names:
        accepted_name("a package to replace", name, SUITES)
    for old, module in list(sys.modules.items()):
        if _suite(old, names) and not getattr(module, "__name__", old).startswith(_HERE):
            raise UsageError(
                f"{old} is imported already ({getattr(module, '__file__', 'no file')}), so the program keeps the "
                "original; call sacrecap.compat.install() before the first import of it, or run the program by "
                "python -m sacrecap.compat SCRIPT"
            )
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.names.update(names)


def uninstall() -> None:
    """Ends the replacement: the next import finds the real packages. Modules imported before stay sacrecap's."""
    for name in [name for name in sys.modules if _suite(name, _finder.names)]:
        del sys.modules[name]
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    _finder.names.clear()


_HERE = f"{__name__}."


def _suite(module: str, names: Iterable[str]) -> str | None:
    """The part of a module's name from the package on that is replaced; None if none of the names is in it."""
    parts = module.split(".")
    for name in names:
        if parts[0] == name:
            return module
        if name in ANYWHERE and name in parts and parts[0] != "sacrecap":
            return ".".join(parts[parts.index(name) :])
    return None


class _Finder(Loader):
    """The first of the finders; it finds the modules of the replaced packages."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if _suite(fullname, self.names) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """None: the import system makes the module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        new = f"{_HERE}{_suite(old, self.names)}"
        try:
            # The import system takes what is in sys.modules after this call.
            sys.modules[old] = import_module(new)
        except ModuleNotFoundError as error:
            if error.name is None or not new.startswith(error.name):
                raise
            raise ModuleNotFoundError(
                f"No module named {old!r} in sacrecap.compat, which replaces the original; "
                "sacrecap.compat.uninstall() restores the original",
                name=old,
            ) from None


_finder = _Finder()
