"""Entry point of the `sacrecap` script: Ctrl-C is heard before the command line itself is loaded."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn


def script() -> NoReturn:
    """Loads and runs the command line; garbage is collected from when the command is loaded."""
    # The numbers of standard streams that the caller closed are taken, so that no file of ours gets one: to read or to
    # write there is an error as before; what is said on a closed standard error is not heard.
    for number, name, mode, flags in (
        (0, "stdin", "r", os.O_WRONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            free = os.open(os.devnull, flags)
            if free != number:
                os.dup2(free, number)
                os.close(free)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    gc.disable()  # what loads stays: to search it for garbage is a twentieth of a short command
    try:
        from sacrecap.cli.main import main

        main()
    except KeyboardInterrupt:
        # After this point, the process waits for the command's thread: see `interruptible`.
        print("sacrecap: interrupted", file=sys.stderr)
        sys.exit(130)
