"""Which source is the original's: only what computes the same numbers is replaced, under whatever name it is imported.

Projects copy pycocoevalcap to change it. So a module is known by its source, without comments, layout and the form of
its imports, and not by its name.
"""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sacrecap.compat.known import KNOWN

STEMS = frozenset(module.rpartition(".")[2] for module in KNOWN.values())
"""Names of files that may be the original's."""

FOLDERS = frozenset(module.split(".")[1] for module in KNOWN.values() if module.count(".") > 1)
"""Names of the folders in which the original keeps them."""


class Decision(NamedTuple):
    """What becomes of a module.

    Attributes:
        module: its name in the program.
        path: its file; None if there is none.
        new: the module of `sacrecap.compat` that takes its place; None if it is kept.
        reason: why.
    """

    module: str
    path: str | None
    new: str | None
    reason: str


def decide(module: str, path: str, suites: Collection[str]) -> Decision:
    """Whether a module that is in this file is replaced.

    It is, if its source computes what that of one of these packages does, and the modules that it works with do so too.
    """
    new = original(path)
    if new is None:
        return Decision(module, path, None, "its source is not the original's")
    if new.partition(".")[0] not in suites:
        return Decision(module, path, None, "its package is not to be replaced")
    for file, expected in _works_with(Path(path), new).items():
        if original(str(file)) != expected:
            return Decision(module, path, None, f"it works with {file.name}, whose source is not the original's")
        hindrance = _hindrance(file, expected)
        if hindrance is not None:
            return Decision(module, path, None, hindrance)
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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the import itself shows them
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return _digest(b"".join(source.split()))
    messages: list[str] = []
    _tell(tree, messages)
    return _digest(" ".join(messages).encode())


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:12]


def files(folder: Path, below: bool) -> list[Path]:
    """The files of a folder whose names the original has; with `below`, those of a whole copy."""
    folders = [folder, *(folder / name for name in FOLDERS if below)]
    return sorted(file for place in folders for file in place.glob("*.py") if file.stem in STEMS)


def _works_with(path: Path, new: str) -> dict[Path, str]:
    """The module's file, and those that it works with, with the modules here that must compute the same.

    A scorer works with the files in its folder; what runs all scorers, with those of the whole copy.
    """
    package, _, name = new.rpartition(".")
    beside = files(path.parent, below=name.startswith("eval"))
    names = {file: ".".join(file.relative_to(path.parent).with_suffix("").parts) for file in beside}
    return {file: f"{package}.{inner}" for file, inner in names.items()} | {path: new}


def _hindrance(file: Path, new: str) -> str | None:
    """Why a file of the original's source cannot be replaced by this module; None if it can."""
    for name, size in _DATA.items():
        data = file.parent / name
        if data.is_file() and data.stat().st_size != size:
            return f"{name} beside {file.name} is not the original's"
    if not new.startswith("pycocoevalcap.meteor."):
        return None
    from sacrecap.metrics.meteor.installed_tables import missing

    messages = missing()
    return None if messages is None else f"METEOR's tables are missing: {messages}"


_DATA = {"meteor-1.5.jar": 6_318_693, "data/paraphrase-en.gz": 61_813_011, "stanford-corenlp-3.4.1.jar": 5_921_410}
"""Programs and tables that the original runs, and their sizes."""


def _tell(node: ast.AST, messages: list[str]) -> None:
    """The syntax tree as text, equal in all versions of Python: without what is empty or says nothing."""
    messages.append(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name in ("ctx", "kind", "type_comment"):
            continue
        if isinstance(node, ast.ImportFrom) and name in ("module", "level"):
            # `from .cider_scorer`, `from cider_scorer` and `from pycocoevalcap.cider.cider_scorer` are of one file.
            value = None if name == "level" else value.rpartition(".")[2]
        parts = [part for part in value if not _says_nothing(part)] if isinstance(value, list) else [value]
        for part in parts:
            messages.append(name)
            if isinstance(part, ast.AST):
                _tell(part, messages)
            else:
                messages.append(repr(part))
    messages.append(")")


def _says_nothing(node: object) -> bool:
    """A text that stands alone, as a docstring does; the author's name; the base class that every class has."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__author__"
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Name) and node.id == "object"
