"""Entry point of the `capeval` script."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn


def script() -> NoReturn:
    """Runs the command line, then leaves at once: giving memory back piece by piece takes longer."""
    # Imports make thousands of objects that all stay: looking through them for garbage again and again finds none.
    gc.set_threshold(100_000)
    from capeval.cli.main import main

    try:
        main()
    except SystemExit as left:
        sys.stderr.flush()
        os._exit(left.code if isinstance(left.code, int) else 0)
