"""What design.md draws is what there is."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

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
