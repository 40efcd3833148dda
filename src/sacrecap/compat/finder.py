"""The import system asks this finder first. It finds the modules that are replaced."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from sacrecap.compat.originals import FOLDERS, STEMS, Decision, decide, files, original

SUITES = ("pycocoevalcap", "pyciderevalcap")
"""The packages that can be replaced. A program that lacks one of them is given it, even inside another package, as in
`from cider.pyciderevalcap.ciderD.ciderD import CiderD`.
"""

_HERE = __name__.rpartition(".")[0]


class Finder(Loader):
    """Finds what is replaced, and loads the packages that a program lacks: those of `suites`. `decisions` are on the
    modules that were imported, by name; if `quiet`, it does not say what is kept.
    """

    def __init__(self) -> None:
        self.suites: set[str] = set()
        self.decisions: dict[str, Decision] = {}
        self.quiet = False
        self.warned_of: set[Path] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        parent, _, name = fullname.rpartition(".")
        if parent.startswith(_HERE):
            return None
        if getattr(sys.modules.get(parent), "__name__", "").startswith(f"{_HERE}."):
            return ModuleSpec(fullname, self, is_package=True)
        is_suite = name in self.suites
        if not is_suite and name not in STEMS:
            return None
        specs = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((spec for spec in specs if spec is not None), None)
        if is_suite and (spec is None or _is_empty(spec)):
            self.decisions[fullname] = Decision(fullname, None, f"{_HERE}.{name}", "the program has none")
            return ModuleSpec(fullname, self, is_package=True)
        file = None if spec is None or spec.submodule_search_locations is not None else spec.origin
        if spec is None or file is None or not file.endswith(".py"):
            return spec
        decision = decide(fullname, file, self.suites)
        is_copy = is_in(fullname, SUITES) or any(original(str(beside)) for beside in files(_root(file), below=True))
        if is_copy:
            self.decisions[fullname] = decision
        if decision.new is not None and spec.loader is not None:
            spec.loader = _Replacement(fullname, f"{_HERE}.{decision.new}", spec.loader)
        elif is_copy:
            self._tell(_root(file))
        return spec

    def _tell(self, root: Path) -> None:
        """One line on a copy that is not replaced as a whole."""
        if self.quiet or root in self.warned_of:
            return
        self.warned_of.add(root)
        unchanged: dict[str, list[str]] = {}
        replaced = []
        for file in files(root, below=True):
            name = file.relative_to(root).as_posix()
            decision = decide(name, str(file), self.suites)
            if decision.new is None:
                unchanged.setdefault(decision.reason, []).append(name)
            else:
                replaced.append(name)
        parts = [f"{', '.join(names)} kept, because {reason}" for reason, names in unchanged.items()]
        parts.append(f"{', '.join(replaced) or 'nothing'} replaced")
        print(f"sacrecap.compat: {root}: {'; '.join(parts)}", file=sys.stderr, flush=True)

    def exec_module(self, module: ModuleType) -> None:
        """Puts a module of a package that the program lacks in the place of this one."""
        old = module.__name__
        parts = old.split(".")
        first = next(number for number, part in enumerate(parts) if part in SUITES)
        new = ".".join([_HERE, *parts[first:]])
        try:
            # The import system takes what is in sys.modules after this call.
            sys.modules[old] = import_module(new)
        except ModuleNotFoundError as error:
            if error.name is None or not new.startswith(error.name):
                raise
            raise ModuleNotFoundError(
                f"No module named {old!r} in sacrecap.compat, which stands for the original; "
                "sacrecap.compat.uninstall() ends that",
                name=old,
            ) from None


class _Replacement(Loader):
    """Puts the module here in the place of a program's; what only the original has, such as a constant, is its own."""

    def __init__(self, old: str, new: str, loader: Any) -> None:
        self.old = old
        self.new = new
        self.loader = loader
        self.original: ModuleType | None = None

    def exec_module(self, module: ModuleType) -> None:
        # The import system takes what is in sys.modules after this call.
        sys.modules[self.old] = new = import_module(self.new)
        vars(new)["__getattr__"] = self._of_original

    def _of_original(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.old!r} has no attribute {name!r}")
        if self.original is None:
            self.original = ModuleType(self.old)
            vars(self.original).update(__file__=self.loader.path, __package__=self.old.rpartition(".")[0])
            self.loader.exec_module(self.original)
        return getattr(self.original, name)


def is_in(module: str, names: Iterable[str]) -> bool:
    """Whether the module is one of these packages, or in one."""
    parts = module.split(".")
    return parts[0] != "sacrecap" and any(name in parts for name in names)


def _is_empty(spec: ModuleSpec) -> bool:
    """Whether it is a folder without any module, as a submodule of Git is before it is fetched."""
    folders = spec.submodule_search_locations
    return (
        spec.origin is None and folders is not None and not any(any(Path(folder).rglob("*.py")) for folder in folders)
    )


def _root(path: str) -> Path:
    """The folder of a whole copy, by the path of one of its files."""
    folder = Path(path).parent
    return folder.parent if folder.name in FOLDERS else folder
