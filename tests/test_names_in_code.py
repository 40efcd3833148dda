"""`scripts/names.py` refuses names that say nothing, in Python and in Rust."""

from __future__ import annotations

import ast
import importlib.util
from types import ModuleType

import pytest

from pages import ROOT

RUST = """\
fn given(kept: &str) -> bool {  // let one = 1;
    let mut found = "let own = 1";
    for (place, own) in rows.iter() { push(own); }
    if let Some(one) = first { return true; }
    rows.map(|others| others.len());
    let counts = Entry { known: 1, found_at: 2 };
    own::new(said)
}
#[cfg(test)]
mod tests {
    fn taken() { let made = 1; }
}
"""


@pytest.fixture(scope="module")
def names() -> ModuleType:
    spec = importlib.util.spec_from_file_location("names_script", ROOT / "scripts" / "names.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rust(names: ModuleType) -> None:
    refused = [(1, "given"), (1, "kept"), (2, "found"), (3, "own"), (4, "one"), (5, "others"), (6, "known")]
    assert list(names.rust_bindings(RUST)) == refused


def test_python(names: ModuleType) -> None:
    code = "def given(kept, *rows):\n    found = [own for own in rows]\n    self.one = found_at = 1\n"
    bound = {(line, name) for line, name in names.bindings(ast.parse(code)) if name in names.REFUSED}
    assert bound == {(1, "given"), (1, "kept"), (2, "found"), (2, "own"), (3, "one")}
