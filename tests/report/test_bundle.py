"""Modules become one script that loads nothing, and stay apart in it."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files

import pytest

from sacrecap.report.bundle import bundle

NODE = shutil.which("node")


def of(**modules: str) -> str:
    return bundle("main", modules.__getitem__)


def test_modules_stand_after_those_that_they_need_and_once() -> None:
    script = of(
        main='import {b} from "./b.js";\nimport {c} from "./c.js";\nrun(b, c);\n',
        b='import {a} from "./a.js";\nexport const b = a;\n',
        c='import {a} from "./a.js";\nexport const c = a;\n',
        a="export const a = 1;\n",
    )
    assert [script.index(f"const ${name} = {{}};") for name in ("a", "b", "c", "main")] == sorted(
        script.index(f"const ${name} = {{}};") for name in ("a", "b", "c", "main")
    )
    assert script.count("const $a = {};") == 1
    assert "import" not in script
    assert "export" not in script


@pytest.mark.skipif(NODE is None, reason="needs Node to run the script")
def test_two_modules_may_define_the_same_name() -> None:
    script = of(
        main='import {left} from "./left.js";\nimport {right} from "./right.js";\nconst MARGIN = 3;\n'
        "const late = await Promise.resolve(4);\nconsole.log(JSON.stringify([left(), right(), MARGIN, late]));\n",
        left="const MARGIN = 1;\nexport function left() { return MARGIN; }\n",
        right="const MARGIN = 2;\n/**\n * import {nothing} from here\n * @returns {number}\n */\n"
        "export const right = () => MARGIN;\n",
    )
    assert NODE is not None
    done = subprocess.run([NODE, "--input-type=module", "-"], input=script, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [1, 2, 3, 4]
    assert "nothing" not in script


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        (
            {"main": 'import {a} from "./a.js";\n', "a": 'import {b} from "./main.js";\n'},
            "in a circle: main → a → main",
        ),
        (
            {"main": 'import {a, b} from "./a.js";\n', "a": "export const a = 1;\n"},
            "main.js imports b, which a.js does",
        ),
        ({"main": 'import a from "./a.js";\n', "a": ""}, 'not understood: import a from "./a.js";'),
        ({"main": "export default 1;\n"}, "not understood: export default 1;"),
        ({"main": "export let a = 1;\n"}, "not understood: export let a = 1;"),
    ],
)
def test_what_is_not_understood_is_refused(modules: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        of(**modules)


def test_every_module_is_used_by_a_page() -> None:
    folder = files("sacrecap.report") / "templates"
    read: set[str] = set()

    def reading(name: str) -> str:
        read.add(f"{name}.js")
        return (folder / f"{name}.js").read_text(encoding="utf-8")

    for main in ("score", "comparison", "diversity", "agreement"):
        bundle(main, reading)
    assert read == {file.name for file in folder.iterdir() if file.name.endswith(".js")}
