"""The words that options accept are those that the native code knows."""

from __future__ import annotations

from sacrecap import _core, choices


def test_the_tokenizers_are_those_of_the_native_code() -> None:
    assert tuple(_core.TOKENIZERS) == choices.TOKENIZERS
