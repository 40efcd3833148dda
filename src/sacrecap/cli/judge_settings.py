"""`--judge-settings`: how a judge is asked, as KEY=VALUE or in a file."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from typing import Any

from sacrecap.cli.options import number, yes_or_no
from sacrecap.data.fields import toml_document
from sacrecap.data.source import reading
from sacrecap.errors import DataError, UsageError
from sacrecap.parameters import Parameter, read_parameters


def read_settings(texts: Iterable[str]) -> dict[str, Any]:
    """What the options say, by key, with _ for -; of a key, the last one counts.

    In KEY=VALUE,… a part without an equals sign goes on with the value before it, as in ``price=0.15,0.6``.

    Raises:
        UsageError: an unknown key, or a value that it does not take; the message names the file, if it is in one.
        DataError: a file that cannot be read.

    Examples:
        >>> read_settings(["price=0.15,0.6,requests=4", "requests=16"])
        {'price': (0.15, 0.6), 'requests': 16}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        is_file = bool(text) and ("=" not in text or os.path.exists(text))
        place = text if is_file else "--judge-settings"
        values = _of_file(text) if is_file else _of_text(text)
        for key in ("url", "model", "key-env"):
            if key in values:
                raise UsageError(f"{place}: {key} is not a setting; give --judge-{key}")
        settings |= read_parameters(place, values, _SETTINGS)
    return settings


def _of_text(text: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    key = ""
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if equals:
            key = name.strip()
            settings[key] = value
        elif key:
            settings[key] += f",{part}"
        else:
            raise UsageError(f"--judge-settings takes FILE or KEY=VALUE,…, got {text!r}")
    return settings


def _of_file(path: str) -> dict[str, str]:
    """The settings of a file of TOML or JSON, each as the option has it."""
    with reading(path), open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        document = json.loads(text) if text.lstrip().startswith("{") else toml_document(text)
    except ValueError as error:
        raise DataError(f"{path}: neither JSON nor TOML: {error}") from None

    def written(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, dict):
            return json.dumps(value)
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)

    return {key: written(value) for key, value in document.items()}


def _price(text: str) -> tuple[float, float]:
    tokens_in, tokens_out = map(float, text.split(","))
    if not (0 <= tokens_in < math.inf and 0 <= tokens_out < math.inf):
        raise ValueError
    return tokens_in, tokens_out


def _extra(text: str) -> dict[str, object]:
    extra = json.loads(text)
    if not isinstance(extra, dict):
        raise ValueError
    return extra


def _text(text: str) -> str:
    if not text:
        raise ValueError
    return text


_SETTINGS: dict[str, Parameter] = {
    "price": ("the prices of a million tokens in and of a million out, such as 0.15,0.6", _price),
    "budget": ("money, such as 5, or tokens, such as '200000 tokens'", _text),
    "requests": ("a number of requests at the same time, 1 to 1024", number(int, 1, 1024)),
    "per-minute": ("a number of requests in a minute", number(float, 1e-3, 1e6)),
    "extra": ('parameters of the server as an object of JSON, such as {"reasoning_effort": "low"}', _extra),
    "image-size": ("the longest side of an image in pixels, 16 to 65535", number(int, 16, 65535)),
    "unanswered": ("the largest share of captions without an answer, 0 to 1", number(float, 0, 1)),
    "dry-run": ("yes or no", yes_or_no),
    "prompt": ("the file of the text that asks", _text),
    "rubric": ("the file of each image's items", _text),
}
