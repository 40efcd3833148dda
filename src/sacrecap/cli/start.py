"""Entry point of the `sacrecap` script: Ctrl-C is heard before the command line itself is loaded."""

from __future__ import annotations

import sys
from typing import NoReturn


def script() -> NoReturn:
    """Loads and runs the command line."""
    try:
        from sacrecap.cli.main import main

        main()
    except KeyboardInterrupt:
        # After this point, the process waits for the command's thread: see `interruptible`.
        print("sacrecap: interrupted", file=sys.stderr)
        sys.exit(130)
