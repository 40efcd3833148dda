"""Secrets of the operator: from the environment, or from a file that the environment names."""

from __future__ import annotations

import os

from capeval.errors import UsageError


def secret(name: str) -> str | None:
    """The value of `CAPEVAL_NAME`, or the content of the file that `CAPEVAL_NAME_FILE` names; None without either.

    Raises `UsageError` where both are set, and where the file cannot be read.
    """
    value, path = os.environ.get(f"CAPEVAL_{name}"), os.environ.get(f"CAPEVAL_{name}_FILE")
    if path is None:
        return value
    if value is not None:
        raise UsageError(f"CAPEVAL_{name} and CAPEVAL_{name}_FILE are both set; set one of them")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"CAPEVAL_{name}_FILE: {path}: cannot be read: {error}") from None
