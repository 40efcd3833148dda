"""The log: one JSON line per request and event on standard error."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import threading
import traceback
import warnings
from pathlib import Path

import sacrecap
import sacrecap_studies

log = logging.getLogger("sacrecap_server")
_OURS = {Path(package).parent for package in (__file__, sacrecap.__file__, sacrecap_studies.__file__)}
"""The folders of our packages."""


class JsonLines(logging.Formatter):
    """One object per line: time, level, event, and what the event carries in `extra={"fields": …}`.

    Text that others wrote (of exceptions, or filled into a library's message) may hold what people sent: it is left
    out, and the type and the place of an exception stand for it.
    """

    def format(self, record: logging.LogRecord) -> str:
        ours, message = record.name == log.name, record.msg
        # What a library's message says each time: the first line of its template, or the type of an exception.
        fixed = next(iter(message.splitlines()), "") if isinstance(message, str) else type(message).__name__
        entry: dict[str, object] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage() if ours else fixed,
            **getattr(record, "fields", {}),
        }
        if not ours:
            entry["logger"] = record.name
        if record.exc_info and record.exc_info[1] is not None:
            entry |= error_fields(record.exc_info[1])
        return json.dumps(entry, ensure_ascii=False, default=str)


def error_fields(error: BaseException) -> dict[str, object]:
    """What the log says of an exception: its type, and where it was raised, without the values there.

    These are our own last frames, and the last two of all.
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames[:-2] if not _OURS.isdisjoint(Path(frame.filename).parents)][-6:]
    at = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in (*ours, *frames[-2:])]
    return {"error": type(error).__name__, "at": at}


def log_to_stderr() -> None:
    """Our own lines, and the warnings and errors of every library, as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    log.setLevel(logging.INFO)
    # Both would print the text of what went wrong.
    warnings.showwarning = _log_warning  # type: ignore[assignment]
    threading.excepthook = _log_thread


def _log_warning(_: object, category: type[Warning], filename: str, line: int, *__: object) -> None:
    log.warning("warning", extra={"fields": {"warning": category.__name__, "at": [f"{filename}:{line}"]}})


def _log_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        log.error("thread ended", extra={"fields": error_fields(ended.exc_value)})


def event(name: str, **fields: object) -> None:
    """Logs an event.

    Never captions, names, addresses, tokens or query strings: more people read logs than the database.
    """
    log.info(name, extra={"fields": fields})
