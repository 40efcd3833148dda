"""A site of somebody else, as a crowd platform's: it frames pages of ours, and takes forms."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qsl


class Elsewhere:
    """Its pages are those in `pages`, by path; `received` has the path and fields of every form sent to it."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.received: list[tuple[str, dict[str, str]]] = []
        elsewhere = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(elsewhere.pages.get(self.path.partition("?")[0], ""))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                elsewhere.received.append((self.path, dict(parse_qsl(body))))
                self._answer("<h1>The platform has it</h1>")

            def _answer(self, text: str) -> None:
                self.send_response(200 if text else 404)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(f"<!doctype html><html lang=en><title>Elsewhere</title>{text}".encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self._server.server_port}"

    def __enter__(self) -> Elsewhere:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
