"""A page opened from its file, and text that must not run there."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

HOSTILE = [
    "</script><script>window.ran = true</script>",
    "<img src=x onerror='window.ran = true'>",
    "<svg onload=window.ran=true>",
    "javascript:window.ran=true",
]


def data_of(text: str) -> Any:
    """The data of a page, and with them its drawings, by number, read as a browser would find them."""
    found = re.search(r'<script id="data" type="application/gzip">(.*?)</script', text, re.DOTALL | re.IGNORECASE)
    assert found
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


_tabs: dict[Any, Any] = {}
"""The tab of each browser that is free: a new one takes longer than most tests."""


class Opened:
    """A page, and what it asked for and complained about since it was opened.

    Without options of the tab it may be opened where another page was closed.
    """

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self._browser = None if options else browser
        self.page = _tabs.pop(self._browser, None) or browser.new_page(**options)
        self.page.set_default_timeout(300_000)  # against a hang: the machine may be busy
        self.url = path.as_uri()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._listeners = {
            "request": lambda request: self.requests.append(request.url),
            "console": lambda message: self.complaints.append(message.text),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "dialog": lambda dialog: self.complaints.append(dialog.message),
        }
        for event, listener in self._listeners.items():
            self.page.on(event, listener)
        self.page.goto(self.url)

    def check(self) -> None:
        """It asked for nothing but itself, and nothing went wrong."""
        assert self.complaints == []
        assert self.requests == [self.url]

    def close(self) -> None:
        """Checks, and leaves it."""
        self.check()
        self.leave()

    def leave(self) -> None:
        """The next page may be opened in its place."""
        if self._browser is None:
            self.page.close()
            return
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")
        _tabs[self._browser] = self.page
