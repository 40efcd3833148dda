"""A page opened from its file, and text that must not run there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

HOSTILE = [
    "</script><script>window.ran = true</script>",
    "<img src=x onerror='window.ran = true'>",
    "<svg onload=window.ran=true>",
    "javascript:window.ran=true",
]


class Opened:
    """A page, and what it asked for and complained about since it was opened."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.page = browser.new_page(**options)
        self.page.set_default_timeout(300_000)  # against a hang: the machine may be busy
        self.url = path.as_uri()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(self.url)

    def check(self) -> None:
        """It asked for nothing but itself, and nothing went wrong."""
        assert self.complaints == []
        assert self.requests == [self.url]

    def close(self) -> None:
        """Checks, and closes it."""
        self.check()
        self.page.close()
