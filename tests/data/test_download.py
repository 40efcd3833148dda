"""Downloads that break off, wrong files, full disks, and two at once."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError

import pytest

from sacrecap.data import download
from sacrecap.data.places import PublishedFile
from sacrecap.errors import DataError

CONTENT = os.urandom(550_000)


class Server(ThreadingHTTPServer):
    """Serves the file. `behaviours` are taken in turn, one for each request; then all is well."""

    def __init__(self) -> None:
        self.behaviours: list[str] = []
        self.requests: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, *_: object) -> None:
        """A connection that was broken on purpose is nothing to print."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        server, asked = self.server, self.headers["Range"]
        server.requests.append(asked)
        behaviour = server.behaviours.pop(0) if server.behaviours else "well"
        if behaviour.isdigit():
            self.send_error(int(behaviour))
            return
        first, last = map(int, asked.removeprefix("bytes=").split("-"))
        piece = CONTENT[first : last + 1]
        if behaviour == "no ranges":
            piece = CONTENT
        if behaviour == "other content":
            piece = b"?" * len(piece)
        self.send_response(200 if behaviour == "no ranges" else 206)
        self.send_header("Content-Length", str(len(piece)))
        self.end_headers()
        self.wfile.write(piece[: len(piece) // 2] if behaviour == "breaks off" else piece)
        if behaviour == "breaks off":
            self.wfile.flush()
            self.connection.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(download, "_PAUSE", 0.0)
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
    digest = hashlib.sha256(CONTENT).hexdigest()
    return PublishedFile(url, len(CONTENT), digest)


def fetch(file: PublishedFile, folder: Path) -> list[int]:
    """Fetches it; the numbers of bytes that were told."""
    told: list[int] = []
    download.download(file, str(folder), lambda _, fetched, size: told.append(min(fetched, size)))
    assert (folder / "file").read_bytes() == CONTENT
    assert os.listdir(folder) == ["file"]
    return told


@pytest.mark.parametrize("trouble", ["breaks off", "503", "no ranges"])
def test_a_download_goes_on_where_it_stopped(server: Server, file: PublishedFile, tmp_path: Path, trouble: str) -> None:
    server.behaviours = [trouble, trouble, trouble]
    fetch(file, tmp_path)
    if trouble == "breaks off":
        assert server.requests[:2] == ["bytes=0-549999", "bytes=275000-549999"]


def test_the_next_call_goes_on_where_the_last_one_stopped(server: Server, file: PublishedFile, tmp_path: Path) -> None:
    server.behaviours = ["breaks off", *["503"] * 4]
    with pytest.raises(DataError, match=r"/file: cannot be fetched \(Service Unavailable\); run the command again"):
        fetch(file, tmp_path)
    assert (tmp_path / "file.part").stat().st_size == 275_000
    server.requests.clear()
    fetch(file, tmp_path)
    assert server.requests == ["bytes=275000-549999"]


def test_a_server_without_ranges_serves_the_rest_too(server: Server, file: PublishedFile, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT[:1000])
    server.behaviours = ["no ranges"]
    fetch(file, tmp_path)


def test_progress_never_goes_back(server: Server, file: PublishedFile, tmp_path: Path) -> None:
    server.behaviours = ["breaks off"]
    told = fetch(file, tmp_path)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 550_000)


def test_another_file_is_not_taken(server: Server, file: PublishedFile, tmp_path: Path) -> None:
    """Nor is it kept, so that the next call does not build on it."""
    server.behaviours = ["other content"]
    with pytest.raises(DataError, match=r"is not the published file \(its SHA-256 is .*file by SACRECAP_TEST_SETS=DIR"):
        fetch(file, tmp_path)
    assert os.listdir(tmp_path) == []
    fetch(file, tmp_path)


def test_a_refusal_is_not_asked_again_and_leaves_no_connection_open(
    server: Server, file: PublishedFile, tmp_path: Path
) -> None:
    server.behaviours = ["404"]
    with pytest.raises(DataError, match=r"HTTP Error 404: Not Found; .* folder by SACRECAP_TEST_SETS=DIR") as caught:
        fetch(file, tmp_path)
    refusal = caught.value.__context__
    assert isinstance(refusal, HTTPError)
    assert refusal.fp.closed
    assert len(server.requests) == 1


def test_no_server(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be fetched \(\[Errno 111\]"):
        fetch(published("http://127.0.0.1:1/file"), tmp_path)


@pytest.mark.parametrize("size", [len(CONTENT) + 1, 600_000])
def test_a_part_that_is_too_long_is_fetched_anew(file: PublishedFile, tmp_path: Path, size: int) -> None:
    (tmp_path / "file.part").write_bytes(b"x" * size)
    fetch(file, tmp_path)


def test_two_at_once(server: Server, file: PublishedFile, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path / "file.part").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(DataError, match="another sacrecap is fetching it there"):
            fetch(file, tmp_path)
    assert server.requests == []


FILLING = """
import resource, sys
from sacrecap.errors import DataError
from sacrecap.data.download import download
from sacrecap.data.places import PublishedFile
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    download(PublishedFile(sys.argv[2], 550_000, sys.argv[1]), sys.argv[3])
except DataError as error:
    print(error)
"""


def test_a_full_disk(server: Server, file: PublishedFile, tmp_path: Path) -> None:
    """A process that may write no more than 100 kB into a file."""
    arguments = [str(file.sha256), file.url, str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", FILLING, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{tmp_path}: cannot be written (")
    assert (
        "the bytes fetched so far are kept: free some space or choose another place by SACRECAP_TEST_SETS"
        in done.stdout
    )
    assert os.listdir(tmp_path) == ["file.part"]
    fetch(file, tmp_path)
    assert server.requests[1] == "bytes=100000-549999"
