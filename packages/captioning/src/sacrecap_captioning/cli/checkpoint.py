"""The options for loading a checkpoint of transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_OPTIONS = (
    click.option(
        "--quantise",
        type=click.Choice(["4bit", "8bit"]),
        help="Load a checkpoint's weights with this number of bits; needs a CUDA GPU and the package bitsandbytes.",
    ),
    click.option(
        "--dtype",
        type=click.Choice(["auto", "float32", "bfloat16", "float16"]),
        default="auto",
        show_default=True,
        help="Number format of a checkpoint's weights; auto: as saved.",
    ),
    click.option(
        "--prompt", metavar="TEXT", help="What to ask a vision-language checkpoint; one sentence, by default."
    ),
)


def checkpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """--prompt, --dtype, --quantise."""
    for option in _OPTIONS:
        function = option(function)
    return function
