"""The scripts of a page as one script: ECMAScript modules one after the other, each in its own scope.

The files in `templates/` are modules that browsers, editors and type checkers understand unchanged. A page may load
nothing, so a module that others import from becomes a block that fills a constant:

    const $dom = {};
    {
    function element() { … }
    Object.assign($dom, {element});
    }

Two modules may define the same name. Comments in `/** … */`, which declare types, are left out. The supported part of
the
language: `import {a, b} from "./file.js";`, and `export` before a declaration, both at the start of a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) \*?(\w+))", re.MULTILINE)
_NOTE = re.compile(r"^ */\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundle(main: str, read: Callable[[str], str]) -> str:
    """The module called `main` and all that it imports, in the order in which they need one another.

    Args:
        main: name of the module's file, without its suffix.
        read: returns the text of the module with a name.

    Raises:
        ValueError: modules import one another in a circle, a name is not exported, or a line is not understood.
    """
    finished: dict[str, str] = {}
    exported: dict[str, list[str]] = {}

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"modules import one another in a circle: {' → '.join((*above, name))}")
        if name in finished:
            return
        text = read(name)
        heads = []
        for names, other in _IMPORT.findall(text):
            add(other, (*above, name))
            wanted = [one.strip() for one in names.split(",") if one.strip()]
            unknown = sorted(set(wanted) - set(exported[other]))
            if unknown:
                raise ValueError(f"{name}.js imports {', '.join(unknown)}, which {other}.js does not export")
            heads.append(f"const {{{', '.join(wanted)}}} = {_constant(other)};\n")
        exported[name] = _EXPORT.findall(text)
        body = _NOTE.sub("", _EXPORT.sub("", _IMPORT.sub("", text)))
        if odd := _OTHER.search(body):
            raise ValueError(f"{name}.js: this line is not understood: {odd[0]}")
        gives = f"Object.assign({_constant(name)}, {{{', '.join(exported[name])}}});\n" if exported[name] else ""
        finished[name] = f"const {_constant(name)} = {{}};\n{{\n{''.join(heads)}{body}{gives}}}\n"

    add(main, ())
    return "".join(finished.values())


def _constant(name: str) -> str:
    """Name of the object that holds a module's exports; no module defines a name with `$`."""
    return "$" + name.replace("-", "_")
