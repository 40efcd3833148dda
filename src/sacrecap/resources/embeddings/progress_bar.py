"""A progress bar for long work: only on a terminal, and only after a second."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

from sacrecap.resources.embeddings.vector_table import Progress

_PATIENCE = 1.0


@contextlib.contextmanager
def shown(task: str) -> Iterator[Progress]:
    """Yields a function to call with the finished share; the bar is on standard error, and disappears with the
    block.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    begun = time.monotonic()
    with Bar(console=Console(stderr=True), transient=True) as bar:
        number = bar.add_task(task, total=1.0, visible=False)
        yield lambda share: bar.update(number, completed=share, visible=time.monotonic() - begun > _PATIENCE)
