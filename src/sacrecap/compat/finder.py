"""The import system asks this finder first. It replaces only what computes the same numbers, under whatever name.

Projects copy pycocoevalcap to change it. So a module is known by its source, without comments, layout and the form of
its imports, and not by its name.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import warnings
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

SUITES = ("pycocoevalcap", "pyciderevalcap")
"""The packages that can be replaced. A program that lacks one of them is given it, even inside another package, as in
`from cider.pyciderevalcap.ciderD.ciderD import CiderD`.
"""

_HERE = __name__.rpartition(".")[0]
_SOURCES = {
    "pycocoevalcap.bleu.bleu": (
        "0bc5da6801ca c22380101f8f 18f609e38966 91cc2fa35801 38d710cbd11b f677c44532ff 1b1aeb046387"
    ),
    "pycocoevalcap.bleu.bleu_scorer": (
        "44f16cb4b7d5 0eb53dc471b7 779bd9ce0aeb 856d561becad 799776bc38b8 493b3d7ffb18 16328cc5cdda 325303f1cff9 "
        "beacfe97ea50 5ac6673e2ce9 9f4bae5709ef 420940da5c95"
    ),
    "pycocoevalcap.cider.cider": "2ed83cbffe64 41410d5395ab e3165b8fa5b3 ba9685218799 4c17ab5eb49f",
    "pycocoevalcap.cider.cider_scorer": "aa7198f52078 4c3845292a54 fd3367aa080f de6534dd5f56 4770ecfd5724",
    "pycocoevalcap.rouge.rouge": "f3a078a819b7 77b7a41f70c8 770651eec057 1da5ef5fdd61 0eeafdf3d2d4 041a913a1029",
    "pycocoevalcap.meteor.meteor": "6e29b85af113 39a600698348 29e431b11093 cc92409a2c0c 29a9b4c7ed70 e389e721c183",
    "pycocoevalcap.meteor.by_id": "2a453ed82454 e14619dba01b",
    "pycocoevalcap.spice.spice": (
        "be9638704039 182e5b6fa4a0 2007bc838f56 a8a814f201df 91fadcfa5eb5 5723017526a1 119f65fa4a30 6657bdfc5f47 "
        "c0dd439e0c1c 5e7111e1623a 109d05798932"
    ),
    "pycocoevalcap.tokenizer.ptbtokenizer": (
        "ddf2ac2a60c2 88da7571a9a0 df773a0ca84d ebc5b866a913 f5767a3da933 66327d927eed 5a6432b4f784 6caa77d9bb7f "
        "a6aa33a7f39f 1f0280796945 f97c9d175e61 0c82dbc4156b"
    ),
    "pycocoevalcap.eval": "8df918b6e04c c82e3d8a956a",
    "pycocoevalcap.eval_spice": "0a146d265f34",
    "pyciderevalcap.cider.cider": "5557025c9e74",
    "pyciderevalcap.cider.cider_scorer": "066fdb1f8afd",
    "pyciderevalcap.ciderD.ciderD": "9c06ee8c5d6b",
    "pyciderevalcap.ciderD.ciderD_scorer": "8474f735cc42",
    "pyciderevalcap.tokenizer.ptbtokenizer": "4e7f52c75363",
    "pyciderevalcap.eval": "bc82735ea87e",
}

KNOWN = {source: module for module, sources in _SOURCES.items() for source in sources.split()}
"""The module of `sacrecap.compat` by the fingerprint of a source: of pycocoevalcap 1.2, tylin's and ruotianluo's
coco-caption, ports of these to Python 3 and to captions of sound, and ruotianluo's cider. Each was compared with the
first of its line, statement by statement: only what changes no number differs, such as the form of a loop.
"""
STEMS = frozenset(module.rpartition(".")[2] for module in KNOWN.values())
"""Names of files that may be the original's."""
FOLDERS = frozenset(module.split(".")[1] for module in KNOWN.values() if module.count(".") > 1)
"""Names of the folders in which the original keeps them."""


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
        folders = None if spec is None or spec.origin is not None else spec.submodule_search_locations
        modules = (file for folder in folders or () for file in Path(folder).rglob("*.py"))
        # A folder without any module is a submodule of Git that was not fetched yet.
        if is_suite and (spec is None or (folders is not None and not any(modules))):
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


def _root(path: str) -> Path:
    """The folder of a whole copy, by the path of one of its files."""
    folder = Path(path).parent
    return folder.parent if folder.name in FOLDERS else folder


class Decision(NamedTuple):
    """What becomes of a module: its name in the program and its file, if there is one; the module of `sacrecap.compat`
    that takes its place, None if it is kept; and why.
    """

    module: str
    path: str | None
    new: str | None
    reason: str


def decide(module: str, path: str, suites: Collection[str]) -> Decision:
    """Whether a module that is in this file is replaced: if its source, and those of the modules that it works with,
    compute what those of one of these packages do.
    """
    new = original(path)
    if new is None:
        return Decision(module, path, None, "its source is not the original's")
    if new.partition(".")[0] not in suites:
        return Decision(module, path, None, "its package is not to be replaced")
    # A scorer works with the files in its folder; what runs all scorers, with those of the whole copy.
    folder, (package, _, name) = Path(path).parent, new.rpartition(".")
    beside = files(folder, below=name.startswith("eval"))
    works_with = {file: ".".join([package, *file.relative_to(folder).with_suffix("").parts]) for file in beside}
    for file, expected in {**works_with, Path(path): new}.items():
        reason = _hindrance(file, expected)
        if reason is not None:
            return Decision(module, path, None, reason)
    return Decision(module, path, new, "its source is the original's")


@cache
def original(path: str) -> str | None:
    """The module of `sacrecap.compat` that computes what this source does; None for another source, as a fork's."""
    try:
        source = Path(path).read_bytes()
    except OSError:
        return None
    return KNOWN.get(fingerprint(source))


def fingerprint(source: bytes) -> str:
    """Twelve hexadecimal digits, the same for sources that differ in comments, layout or the form of imports alone.
    Source of Python 2 that Python 3 cannot read counts as text without white space.
    """
    words: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the import itself shows them
            _spell(ast.parse(source), words)
        text = " ".join(words).encode()
    except (SyntaxError, ValueError):
        text = b"".join(source.split())
    return hashlib.sha256(text).hexdigest()[:12]


def files(folder: Path, below: bool) -> list[Path]:
    """The files of a folder whose names the original has; with `below`, those of a whole copy."""
    folders = [folder, *(folder / name for name in FOLDERS if below)]
    return sorted(file for place in folders for file in place.glob("*.py") if file.stem in STEMS)


def _hindrance(file: Path, new: str) -> str | None:
    """Why a file with which a module works cannot be replaced by this one; None if it can."""
    if original(str(file)) != new:
        return f"it works with {file.name}, whose source is not the original's"
    for name, size in _DATA.items():
        data = file.parent / name
        if data.is_file() and data.stat().st_size != size:
            return f"{name} beside {file.name} is not the original's"
    if not new.startswith("pycocoevalcap.meteor."):
        return None
    from sacrecap.metrics.meteor.meteor import missing

    reason = missing()
    return None if reason is None else f"METEOR's tables are missing: {reason}"


_DATA = {"meteor-1.5.jar": 6_318_693, "data/paraphrase-en.gz": 61_813_011, "stanford-corenlp-3.4.1.jar": 5_921_410}
"""Programs and tables that the original runs, and their sizes."""


def _spell(node: ast.AST, words: list[str]) -> None:
    """The syntax tree as text, equal in all versions of Python: without what is empty or says nothing."""
    words.append(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name in ("ctx", "kind", "type_comment"):
            continue
        if isinstance(node, ast.ImportFrom) and name in ("module", "level"):
            # `from .cider_scorer`, `from cider_scorer` and `from pycocoevalcap.cider.cider_scorer` are of one file.
            value = None if name == "level" else value.rpartition(".")[2]
        parts = [part for part in value if not _says_nothing(part)] if isinstance(value, list) else [value]
        for part in parts:
            words.append(name)
            if isinstance(part, ast.AST):
                _spell(part, words)
            else:
                words.append(repr(part))
    words.append(")")


def _says_nothing(node: object) -> bool:
    """A text that stands alone, as a docstring does; the author's name; the base class that every class has."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__author__"
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Name) and node.id == "object"
