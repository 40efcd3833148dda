"""Entry point of the `capeval` script: what is done before the command line itself is loaded."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from capeval.data.captions import read_ahead


def script() -> NoReturn:
    """Runs the command line, then leaves at once: giving memory back piece by piece takes longer."""
    # Imports make thousands of objects that all stay: looking through them for garbage again and again finds none.
    gc.set_threshold(100_000)
    _begin_reading(sys.argv[1:])
    try:
        from capeval.cli.main import main

        main()
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 0
    except KeyboardInterrupt:
        # Later than here, a thread of the command is waited for: see `interruptible`.
        print("capeval: interrupted", file=sys.stderr)
        status = 130
    sys.stderr.flush()
    os._exit(status)


def _begin_reading(arguments: list[str]) -> None:
    """`capeval score REFERENCES CANDIDATES …`: both are read, on another core, while click is imported.

    A guess by place alone. Where it is wrong the file is not used, and whatever is the matter with it is not heard of.
    """
    if arguments[:1] == ["score"]:
        read_ahead(path for path in arguments[1:3] if os.path.isfile(path))
