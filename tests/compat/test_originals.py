"""Which sources count as the original's."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from sacrecap.compat import SUITES
from sacrecap.compat.finder import KNOWN, decide, fingerprint, original

SPEC = importlib.util.find_spec("pycocoevalcap")
INSTALLED = Path(next(iter(SPEC.submodule_search_locations)))  # type: ignore[union-attr,arg-type]

SOURCE = '''
from .cider_scorer import CiderScorer
class Cider:
    """Text."""
    def compute_score(self, gts, res):
        return [len(gts), 'a' + "b", -1.5, None, ...]
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('    """Text."""\n', "    # other text\n\n"),
        ("class Cider:", '"""A file."""\nfrom __future__ import annotations\n__author__ = "me"\nclass Cider(object):'),
        ("from .cider_scorer", "from package.cider.cider_scorer"),
        ("from .cider_scorer", "from cider_scorer"),
        ("'a'", '("a")'),
        ("\n", "\r\n"),
        ("    ", "\t"),
    ],
)
def test_what_does_not_count(old: str, new: str) -> None:
    assert old in SOURCE
    assert fingerprint(SOURCE.replace(old, new).encode()) == fingerprint(SOURCE.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [("-1.5", "1.5"), ("-1.5", "-1"), ("gts, res", "res, gts"), ("cider_scorer", "other"), ("...", "Ellipsis")],
)
def test_what_counts(old: str, new: str) -> None:
    assert old in SOURCE
    assert fingerprint(SOURCE.replace(old, new).encode()) != fingerprint(SOURCE.encode())


def test_the_fingerprint_is_the_same_in_every_version_of_python() -> None:
    assert fingerprint(SOURCE.encode()) == "af857e742307"


def test_source_of_python_2_counts_without_white_space() -> None:
    text = b"def f(a, (b, c)):\n    print a, b\n"
    assert fingerprint(text) == fingerprint(text.replace(b"    ", b"\t"))
    assert fingerprint(text) != fingerprint(text.replace(b"a, b", b"a"))


def test_every_module_of_the_installed_original_is_known() -> None:
    for name in ("eval", "bleu.bleu", "cider.cider", "meteor.meteor", "spice.spice", "tokenizer.ptbtokenizer"):
        path = INSTALLED.joinpath(*name.split(".")).with_suffix(".py")
        assert original(str(path)) == f"pycocoevalcap.{name}"


def test_each_known_source_has_a_module_here() -> None:
    for module in set(KNOWN.values()):
        assert importlib.util.find_spec(f"sacrecap.compat.{module}") is not None


def test_a_package_that_is_not_asked_for_is_kept() -> None:
    decision = decide("rouge", str(INSTALLED / "rouge/rouge.py"), {"pyciderevalcap"})
    assert decision.new is None
    assert decision.reason == "its package is not to be replaced"


def test_meteor_is_kept_where_its_tables_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy's own runs Java, as before."""
    monkeypatch.setattr("sacrecap.metrics.meteor.meteor.missing", lambda: "no tables")
    for name in ("meteor/meteor.py", "eval.py"):
        decision = decide("m", str(INSTALLED / name), SUITES)
        assert (decision.new, decision.reason) == (None, "METEOR's tables are missing: no tables")
    assert decide("m", str(INSTALLED / "rouge/rouge.py"), SUITES).new == "pycocoevalcap.rouge.rouge"
