"""What design.md draws is what there is."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/explanation/design.md").read_text(encoding="utf-8")


def drawing(heading: str) -> list[str]:
    """The lines of the drawing below a heading."""
    return PAGE.partition(heading)[2].partition("```text\n")[2].partition("```")[0].splitlines()


def test_every_function_of_the_walk_is_there() -> None:
    named = [line.split("  ")[0] for text in drawing("## The walk of one score") if (line := text.strip())]
    places = [place for names in named for place in re.findall(r"(\w+(?:/\w+)*/\w+|_core)\.(\w+(?:\.\w+)*)", names)]
    assert len(places) > 20
    for module, inside in places:
        found = import_module(f"sacrecap.{module.replace('/', '.')}")
        for name in inside.split("."):
            assert hasattr(found, name), f"{module}.{inside}"
            found = getattr(found, name)


def test_layers_are_those_that_lint_checks() -> None:
    packages = {path.stem for path in (ROOT / "src/sacrecap").iterdir() if not path.name.startswith("_")}
    drawn = "\n".join(drawing("## Layers")).partition("rust/py")[0]
    layers = re.search(
        r'containers = \["sacrecap"\].*?\nlayers = \[(.*?)\n\]', (ROOT / "pyproject.toml").read_text(), re.S
    )
    assert layers is not None
    place = {name: number for number, line in enumerate(layers[1].split(",")) for name in re.findall(r"\w+", line)}
    assert place.keys() == packages - {"py"}
    assert all(re.search(rf"\b{name}\b", drawn) for name in place)
    heads = [name for name in re.findall(r"^  (\w+)", drawn, re.MULTILINE) if name in place]
    assert len(heads) > 8
    assert heads == sorted(heads, key=place.__getitem__)


SOURCES = (
    "src/sacrecap",
    *(
        f"packages/{member}/src/sacrecap_{name}"
        for member, name in (("server", "server"), ("server", "studies"), ("captioning", "captioning"))
    ),
)


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """All of a module, also inside others; walking through their expressions takes ten times as long."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.expr):
            yield from statements(node)


def imports_of(package: Path) -> dict[str, set[str]]:
    """The modules of a package that each of its modules imports, at the top, in functions and for type checkers.

    The public names of the package itself, which load on first use, are left out.
    """
    files = {".".join(path.relative_to(package.parent).with_suffix("").parts): path for path in package.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in files.items()}
    del modules[package.name]

    def imported(tree: ast.Module) -> Iterator[str]:
        for node in statements(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from (name if name in modules else str(node.module) for name in names)

    return {
        name: {other for other in imported(ast.parse(path.read_text("utf-8"))) if other in modules and other != name}
        for name, path in modules.items()
    }


def reached(imports: dict[str, set[str]], start: str) -> set[str]:
    """What a module imports, directly or not."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = imports[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found


@pytest.mark.parametrize("package", SOURCES)
def test_no_circle_of_imports_has_more_than_three_files(package: str) -> None:
    imports = imports_of(ROOT / package)
    assert sum(map(len, imports.values())) > len(imports)
    below = {name: reached(imports, name) for name in imports}
    circles = {name: {other for other in below[name] if name in below[other]} for name in imports}
    assert [sorted(circle) for circle in circles.values() if len(circle) > 3] == []


STAND_INS = [ROOT / "src/sacrecap/compat" / name for name in ("pycocoevalcap", "pyciderevalcap")]
"""They have the files and classes of the packages for which they stand: callers expect these names."""
FILES = {
    **dict.fromkeys("check score".split(), (2, "a command, and what it calls")),
    "settings": (2, "what a server is told, and what a training run is"),
    "errors": (2, "the errors of a distribution"),
}
"""By name: how many files have it, and why."""
CLASSES = {
    "CaptionScores": (2, "the same scores for torchmetrics and for evaluate, which call it by its class"),
    "Rows": (2, "`sacrecap.Rows` that a pipeline collects, and those of a file of captions"),
}


def told_apart(places: Mapping[str, list[str]], permitted: Mapping[str, tuple[int, str]]) -> dict[str, list[str]]:
    """The names of another number of things than one, or than is permitted, with the places of all."""
    numbers = dict.fromkeys(places, 1) | {name: number for name, (number, _) in permitted.items()}
    return {name: places.get(name, []) for name, number in numbers.items() if len(places.get(name, [])) != number}


def test_a_name_stands_for_one_thing() -> None:
    """Give the new one the name that says what it is; examples are left out, as their runners ask for their names."""
    files: dict[str, list[str]] = defaultdict(list)
    classes: dict[str, list[str]] = defaultdict(list)
    for path in sorted({*ROOT.glob("src/**/*.py"), *ROOT.glob("packages/*/src/**/*.py")}):
        if any(folder in path.parents for folder in STAND_INS):
            continue
        place = path.relative_to(ROOT).as_posix()
        if not path.stem.startswith("__"):
            files[path.stem].append(place)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if defined := re.match(r" *class (\w+)[(:]", line):
                classes[defined[1]].append(f"{place}:{number}")
    assert min(len(files), len(classes)) > 200
    assert told_apart(files, FILES) == {}
    assert told_apart(classes, CLASSES) == {}


def documented(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The parameters that a docstring describes."""
    section = (ast.get_docstring(node) or "").partition("Args:\n")[2].partition("\n\n")[0]
    lines = re.findall(r"^    (\*{0,2}\w[\w, *]*):", section, re.MULTILINE)
    return {name.strip(" *") for line in lines for name in line.split(",")}


def test_docstrings_describe_parameters_that_there_are() -> None:
    """A class's docstring describes those of its `__init__`."""
    count = 0
    for path in sorted(path for source in SOURCES for path in (ROOT / source).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            made = node
            if isinstance(node, ast.ClassDef):
                made = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), node)
            if isinstance(made, ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
                arguments = made.args
                named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                named += [name for name in (arguments.vararg, arguments.kwarg) if name]
                described = documented(node)  # type: ignore[arg-type]
                count += len(described)
                assert described <= {name.arg for name in named}, f"{path}: {made.name}"
    assert count > 300
