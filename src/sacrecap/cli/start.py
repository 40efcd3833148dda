"""Entry point of the `sacrecap` script: Ctrl-C is heard before the command line itself is loaded."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def script() -> NoReturn:
    """Loads and runs the command line; garbage is collected from when the command is loaded."""
    gc.disable()  # what loads stays: to search it for garbage is a twentieth of a short command
    try:
        from sacrecap.cli.main import main

        main()
    except KeyboardInterrupt:
        # After this point, the process waits for the command's thread: see `interruptible`.
        print("sacrecap: interrupted", file=sys.stderr)
        sys.exit(130)
