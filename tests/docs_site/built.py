"""The documentation site: built once, read as files, served as its host does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

ADDRESS = "https://sacrecap.github.io/sacrecap/"
FOLDER = "/sacrecap/"
"""The site stands in a folder of its host, so links from the host's root would fail."""


class Read(HTMLParser):
    """The anchors, the links and the text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {str(given[name]) for name in ("id", "name") if given.get(name)}
        self.links += [str(given[name]) for name in ("href", "src") if given.get(name)]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


class Site:
    """The files of the site."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> dict[Path, Read]:
        """The pages, read; that of errors has no place that its links would be relative to."""
        return {path: Read(path) for path in sorted(self.folder.rglob("*.html")) if path.name != "404.html"}

    def links(self) -> Iterator[tuple[Path, str]]:
        """Each link of each page, absolute."""
        for path, page in self.pages.items():
            here = ADDRESS + path.relative_to(self.folder).as_posix().removesuffix("index.html")
            yield from ((path, urljoin(here, link)) for link in page.links)

    def fault(self, url: str) -> str | None:
        """Why a link into the site leads nowhere; None where it leads somewhere."""
        parts = urlsplit(url)
        if not parts.path.startswith(FOLDER):
            return "outside the site's folder"
        target = self.folder / unquote(parts.path).removeprefix(FOLDER)
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            return "no such page"
        anchor = unquote(parts.fragment)
        found = not anchor or target not in self.pages or anchor in self.pages[target].anchors
        return None if found else "no such anchor"


class _Handler(SimpleHTTPRequestHandler):
    """Gives the files out in the folder."""

    site: Path

    def translate_path(self, path: str) -> str:
        inside = urlsplit(path).path
        if not inside.startswith(FOLDER):
            return str(self.site / "nowhere")
        target = self.site / unquote(inside.removeprefix(FOLDER))
        return str(target / "index.html" if target.is_dir() else target)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the site while a thread serves it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": folder}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{FOLDER}"
    finally:
        server.shutdown()
        server.server_close()
