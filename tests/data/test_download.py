"""Downloads that break off, wrong files, full disks."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sacrecap.data.testsets import PublishedFile, download
from sacrecap.errors import DataError

CONTENT = os.urandom(550_000)


class Server(ThreadingHTTPServer):
    """Serves the file. `behaviours` are taken in turn, one for each request; then all is well."""

    def __init__(self) -> None:
        self.behaviours: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, *_: object) -> None:
        """A connection that was broken on purpose is nothing to print."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        behaviour = self.server.behaviours.pop(0) if self.server.behaviours else "well"
        if behaviour.isdigit():
            self.send_error(int(behaviour))
            return
        self.send_response(200)
        if behaviour != "no length":
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        content = b"?" * len(CONTENT) if behaviour == "other content" else CONTENT
        self.wfile.write(content[: len(content) // 2] if behaviour == "breaks off" else content)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def file(server: Server) -> PublishedFile:
    return published(f"http://127.0.0.1:{server.server_port}/file")


def published(url: str) -> PublishedFile:
    return PublishedFile(url, hashlib.sha256(CONTENT).hexdigest())


def fetch(file: PublishedFile, folder: Path) -> list[tuple[int, int]]:
    """Fetches it; the numbers of bytes that were told."""
    told: list[tuple[int, int]] = []
    download(file, str(folder), lambda _, fetched, size: told.append((fetched, size)))
    assert (folder / "file").read_bytes() == CONTENT
    assert os.listdir(folder) == ["file"]
    return told


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        ("breaks off", "it ends after 275,000 of 550,000 bytes"),
        ("503", "HTTP Error 503: Service Unavailable"),
        ("404", "HTTP Error 404: Not Found"),
        ("other content", "it is not the published file: its SHA-256 is .*, not "),
    ],
)
def test_nothing_is_there_after_a_failure(
    server: Server, file: PublishedFile, tmp_path: Path, trouble: str, message: str
) -> None:
    server.behaviours = [trouble]
    with pytest.raises(DataError, match=rf"/file: cannot be fetched \({message}.* folder by SACRECAP_TEST_SETS=DIR"):
        fetch(file, tmp_path)
    assert os.listdir(tmp_path) == []
    fetch(file, tmp_path)


@pytest.mark.parametrize("behaviour", ["well", "no length"])
def test_progress_is_told(server: Server, file: PublishedFile, tmp_path: Path, behaviour: str) -> None:
    server.behaviours = [behaviour]
    told = fetch(file, tmp_path)
    assert told == sorted(told)
    assert told[-1] == (550_000, 550_000)
    assert (told[0][1] == 550_000) == (behaviour == "well")


def test_no_server(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be fetched \(.*\[Errno 111\]"):
        fetch(published("http://127.0.0.1:1/file"), tmp_path)


FILLING = """
import resource, sys
from sacrecap.errors import DataError
from sacrecap.data.testsets import PublishedFile, download
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    download(PublishedFile(sys.argv[2], sys.argv[1]), sys.argv[3])
except DataError as error:
    print(error)
"""


def test_a_full_disk(server: Server, file: PublishedFile, tmp_path: Path) -> None:
    """A process that may write no more than 100 kB into a file."""
    arguments = [str(file.sha256), file.url, str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", FILLING, *arguments], capture_output=True, text=True, check=True)
    assert f"{tmp_path}/file: cannot be written: " in done.stdout
    assert "folder by SACRECAP_TEST_SETS=DIR" in done.stdout
    assert os.listdir(tmp_path) == []
