"""The sheets, scripts and pictures of the pages: read once, answered without a look at who asks.

A page links to `/static/site.css?v=HASH`, which browsers keep for good; a changed file has another address.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fastapi import Response
from jinja2.ext import Extension
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

FOLDER = Path(__file__).parents[1] / "static"
PREFIX = "/static/"
_FOR_GOOD = "public, max-age=31536000, immutable"
_ASK_AGAIN = "public, no-cache"


class _File:
    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        self.packed = gzip.compress(self.data, mtime=0)
        self.version = hashlib.sha256(self.data).hexdigest()[:12]
        self.etag = f'"{self.version}"'
        self.media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"

    def response(self, query: bytes, headers: Headers) -> Response:
        kept = _FOR_GOOD if query == b"v=" + self.version.encode() else _ASK_AGAIN
        common = {"Cache-Control": kept, "ETag": self.etag, "Vary": "Accept-Encoding"}
        if self.etag in headers.get("if-none-match", ""):
            return Response(status_code=304, headers=common)
        if "gzip" not in headers.get("accept-encoding", ""):
            return Response(self.data, media_type=self.media_type, headers=common)
        return Response(self.packed, media_type=self.media_type, headers={**common, "Content-Encoding": "gzip"})


@cache
def _files() -> Mapping[str, _File]:
    return {path.name: _File(path) for path in FOLDER.iterdir() if path.is_file()}


class StaticMiddleware:
    """Answers for the files; what is not one of them is the application's to refuse."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self.app
        if scope["type"] == "http" and scope["path"].startswith(PREFIX) and scope["method"] == "GET":
            file = _files().get(scope["path"][len(PREFIX) :])
            if file is not None:
                app = file.response(scope["query_string"], Headers(scope=scope))
        await app(scope, receive, send)


class VersionedLinks(Extension):
    """Gives the links to these files in templates their version."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002
        return re.sub(rf'"({PREFIX}([\w.-]+))"', lambda link: f'"{link[1]}?v={_files()[link[2]].version}"', source)
