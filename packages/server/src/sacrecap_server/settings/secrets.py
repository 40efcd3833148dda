"""Secrets of the operator: environment variables, or files that they name, as containers get them."""

from __future__ import annotations

import os
from pathlib import Path

from sacrecap.errors import UsageError


def secret(name: str) -> str | None:
    """The value of SACRECAP_NAME, or what the file SACRECAP_NAME_FILE holds, without the white space around it.

    Raises `UsageError` if both are given, and for a file that cannot be read.
    """
    value, path = os.environ.get(f"SACRECAP_{name}"), os.environ.get(f"SACRECAP_{name}_FILE")
    if not path:
        return value or None
    if value:
        raise UsageError(f"SACRECAP_{name} and SACRECAP_{name}_FILE are both set; keep one of them")
    try:
        return Path(path).read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"SACRECAP_{name}_FILE: {path} cannot be read: {reason}") from None
