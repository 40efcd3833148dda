"""The reference of caption sets has every method and parameter, as they are declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacrecap.metrics.declared import spell
from sacrecap_captioning.cli.caption import generate
from sacrecap_captioning.set_methods import METHODS, SetMethod

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "captioners.md"


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_method_is_on_the_page(method: type[SetMethod]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"| `{method.family}` | " in text
    section = text.partition(f"### `{method.family}`\n")[2].partition("\n##")[0]
    for one in method.parameters():
        assert one.default is not None
        row = f"| `{one.name}` | `{spell(one.default)}` | {one.meaning} |"
        assert row in section, row


def test_the_help_of_the_command_names_every_method() -> None:
    shown = next(parameter.help for parameter in generate.params if parameter.name == "method")
    assert all(name in shown for name in METHODS)
