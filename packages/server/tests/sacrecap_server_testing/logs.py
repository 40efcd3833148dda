"""Everything that servers log while tests run, and what must never be in it."""

from __future__ import annotations

import contextlib
import io
import logging
import re
from collections.abc import Iterator

from sacrecap_server.log import JsonLines, log
from sacrecap_server_testing.live import Live

PLANTED = ("correct horse battery", "Which is closer?", "the person with a name")
"""The owner's token, and what owners and people of the tests write."""

_FORBIDDEN = {
    "an e-mail address": re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+"),
    "a hash of a token or a file": re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])"),
    "a statement with its parameters": re.compile(r"\[parameters: |DETAIL: |\bINSERT INTO\b|\bUPDATE \w+ SET\b"),
    "a client's address": re.compile(r"\"client\"|testclient"),
    "the text of an exception": re.compile(r"Traceback|\w+Error: "),
    "what a test planted": re.compile("|".join(map(re.escape, PLANTED))),
}


def leaks(text: str) -> list[str]:
    """The lines of a log with forbidden content, each with the kind of content."""
    return [
        f"{kind}: {line[:500]}"
        for line in text.splitlines()
        for kind, pattern in _FORBIDDEN.items()
        if pattern.search(line)
    ]


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    """What every logger of this process says, as the server would write it."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    handler.addFilter(lambda record: record.name == log.name or record.levelno >= logging.WARNING)
    root = logging.getLogger()
    root.addHandler(handler)
    before = log.level
    log.setLevel(logging.INFO)
    try:
        yield written
    finally:
        root.removeHandler(handler)
        log.setLevel(before)


def of_live_servers() -> str:
    """What the servers in processes of their own have written on standard error."""
    return "\n".join(Live.logs.values())
