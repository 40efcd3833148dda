"""`sacrecap spice setup`: downloads that break off, wrong files, folders instead of the network, and no Java."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError

import pytest

from command_line import run
from fake_java import FakeJava
from runner import Runner
from sacrecap.data import download
from sacrecap.errors import DataError
from sacrecap.resources.stanford import StanfordSpice, jars, setup
from sacrecap.resources.stanford.jars import ProgramPart

__all__ = ["run"]

CONTENT = {"a.jar": b"first jar, " * 50_000, "b.jar": os.urandom(300_000), "newer.jar": b"for newer Javas"}
PACKED = {name: zlib.compress(content, wbits=-15) for name, content in CONTENT.items()}
WHEEL = b"head" + PACKED["b.jar"] + b"tail" * 1000


class Server(ThreadingHTTPServer):
    """Serves the files. `behaviours` are taken in turn, one for each request; then all is well."""

    def __init__(self) -> None:
        self.files = {"/a.jar": CONTENT["a.jar"], "/wheel.whl": WHEEL, "/newer.jar": CONTENT["newer.jar"]}
        self.behaviours: list[str] = []
        self.requests: list[tuple[str, str]] = []
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, *_: object) -> None:
        """A connection that was broken on purpose is nothing to print."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        server, asked = self.server, self.headers["Range"]
        server.requests.append((self.path, asked))
        behaviour = server.behaviours.pop(0) if server.behaviours else "well"
        if behaviour.isdigit():
            self.send_error(int(behaviour))
            return
        content = server.files[self.path]
        first, last = map(int, asked.removeprefix("bytes=").split("-"))
        piece = content[first : last + 1]
        if behaviour == "no ranges":
            piece = content
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
    """A server for the parts, and these parts instead of the real ones."""
    monkeypatch.setattr(download, "_PAUSE", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"

        def part(name: str, path: str, **inside: object) -> ProgramPart:
            content = CONTENT[name]
            return ProgramPart(name, len(content), hashlib.sha256(content).hexdigest(), url + path, **inside)  # type: ignore[arg-type]

        monkeypatch.setattr(
            jars,
            "PARTS",
            (
                part("a.jar", "/a.jar"),
                part("b.jar", "/wheel.whl", start=4, packed=len(PACKED["b.jar"])),
                part("newer.jar", "/newer.jar", newer_java=True),
            ),
        )
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeJava:
    """The only Java there is."""
    java = FakeJava(tmp_path / "java")
    monkeypatch.setenv("PATH", str(java.folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return java


@pytest.fixture
def folder(run: Runner) -> Path:
    return run.folder / "user-data" / "sacrecap" / "spice"


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


ALL = {*CONTENT, "settings.json"}


def test_everything_is_fetched_once(run: Runner, server: Server, java: FakeJava, folder: Path) -> None:
    said = run.ok("spice", "setup")
    assert said.splitlines() == [
        f"Java 17: {java.path}",
        f"Folder: {folder}",
        setup.LICENCES,
        "a.jar: fetched, 550,000 bytes, checksum right",
        "b.jar: fetched, 300,000 bytes, checksum right",
        "newer.jar: fetched, 15 bytes, checksum right",
        "1 MB fetched.",
        "It works: an example has the right graph.",
    ]
    assert "AGPL" in said
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT
    assert files(folder) == ALL
    server.requests.clear()
    assert "All 3 files are there, with the right checksums." in run.ok("spice", "setup")
    assert server.requests == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(run.folder / "user-data"))
        assert StanfordSpice.find().runner.folder == str(folder)


@pytest.mark.parametrize("trouble", ["breaks off", "503", "no ranges"])
def test_a_download_goes_on_where_it_stopped(
    run: Runner, server: Server, java: FakeJava, folder: Path, trouble: str
) -> None:
    server.behaviours = [trouble, "well", trouble, trouble]
    run.ok("spice", "setup")
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT
    if trouble == "breaks off":
        assert server.requests[:2] == [("/a.jar", "bytes=0-549999"), ("/a.jar", "bytes=275000-549999")]


def test_the_next_call_goes_on_where_the_last_one_stopped(
    run: Runner, server: Server, java: FakeJava, folder: Path
) -> None:
    server.behaviours = ["breaks off", *["503"] * 4]
    said = run.here("spice", "setup")
    assert said.status == 2
    assert "/a.jar: cannot be fetched (Service Unavailable); run the command again" in said.stderr
    assert (folder / "a.jar.part").stat().st_size == 275_000
    server.requests.clear()
    run.ok("spice", "setup")
    assert server.requests[0] == ("/a.jar", "bytes=275000-549999")
    assert files(folder) == ALL


def test_a_server_without_ranges_serves_the_rest_too(server: Server, tmp_path: Path) -> None:
    part = jars.PARTS[1]
    (tmp_path / "b.jar.part").write_bytes(PACKED["b.jar"][:1000])
    server.behaviours = ["no ranges"]
    download.download(part, str(tmp_path), lambda _: None)
    assert (tmp_path / "b.jar").read_bytes() == CONTENT["b.jar"]


def test_progress_never_goes_back(server: Server, tmp_path: Path) -> None:
    seen: list[int] = []
    server.behaviours = ["breaks off"]
    download.download(jars.PARTS[0], str(tmp_path), seen.append)
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 550_000)


@pytest.mark.parametrize("number", [0, 1])
def test_another_file_is_not_taken(run: Runner, server: Server, java: FakeJava, folder: Path, number: int) -> None:
    """Nor is it kept, so that the next call does not build on it. Inside the wheel it is no deflate stream either."""
    server.behaviours = ["well"] * number + ["other content"]
    said = run.here("spice", "setup")
    assert said.status == 2
    assert "is not the published file" in said.stderr
    assert "Traceback" not in said.stderr
    assert files(folder) == ({"a.jar"} if number else set())
    run.ok("spice", "setup")
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT


def test_a_refusal_leaves_no_connection_open(server: Server, tmp_path: Path) -> None:
    server.behaviours = ["404"]
    with pytest.raises(DataError, match="Not Found") as caught:
        download.download(jars.PARTS[0], str(tmp_path), lambda _: None)
    refusal = caught.value.__context__
    assert isinstance(refusal, HTTPError)
    assert refusal.fp.closed


def test_404_and_no_server(run: Runner, server: Server, java: FakeJava, monkeypatch: pytest.MonkeyPatch) -> None:
    server.behaviours = ["404"]
    said = run.here("spice", "setup")
    assert said.status == 2
    assert "/a.jar: HTTP Error 404: Not Found; " in said.stderr
    assert "give its folder by --from DIR" in said.stderr
    assert len(server.requests) == 1, "what is not there is not asked for again"
    monkeypatch.setattr(jars, "PARTS", (ProgramPart("a.jar", 1, "", "http://127.0.0.1:1/a.jar"),))
    assert "cannot be fetched ([Errno 111]" in run.here("spice", "setup").stderr


def test_a_file_that_was_damaged_is_fetched_again(run: Runner, server: Server, java: FakeJava, folder: Path) -> None:
    run.ok("spice", "setup")
    (folder / "a.jar").write_bytes(b"?" + CONTENT["a.jar"][1:])
    server.requests.clear()
    said = run.ok("spice", "setup")
    assert [path for path, _ in server.requests] == ["/a.jar"]
    assert "a.jar: fetched" in said
    assert (folder / "a.jar").read_bytes() == CONTENT["a.jar"]


def test_a_part_that_is_too_long_is_fetched_anew(server: Server, tmp_path: Path) -> None:
    (tmp_path / "newer.jar.part").write_bytes(b"x" * 100)
    download.download(jars.PARTS[2], str(tmp_path), lambda _: None)
    assert (tmp_path / "newer.jar").read_bytes() == CONTENT["newer.jar"]


def test_two_at_once(server: Server, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path / "a.jar.part").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(DataError, match="another sacrecap is fetching it there"):
            download.download(jars.PARTS[0], str(tmp_path), lambda _: None)
    assert server.requests == []


FILLING = """
import resource, sys
from sacrecap.errors import DataError
from sacrecap.data.download import download
from sacrecap.resources.stanford.jars import ProgramPart
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    download(ProgramPart("a.jar", 550_000, sys.argv[1], sys.argv[2]), sys.argv[3], lambda _: None)
except DataError as error:
    print(error)
"""


def test_a_full_disk(server: Server, tmp_path: Path) -> None:
    """A process that may write no more than 100 kB into a file."""
    part = jars.PARTS[0]
    done = subprocess.run(
        [sys.executable, "-c", FILLING, part.sha256, part.url, tmp_path], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{tmp_path}: cannot be written (")
    assert "the bytes fetched so far are kept" in done.stdout
    assert files(tmp_path) == {"a.jar.part"}
    download.download(part, str(tmp_path), lambda _: None)
    assert (tmp_path / "a.jar").read_bytes() == CONTENT["a.jar"]
    assert server.requests[1] == ("/a.jar", "bytes=100000-549999")


# Without internet


def test_from_a_folder(run: Runner, server: Server, java: FakeJava, folder: Path) -> None:
    (run.folder / "stick" / "lib").mkdir(parents=True)
    for name, content in CONTENT.items():
        (run.folder / "stick" / ("lib" if name == "b.jar" else "") / name).write_bytes(content)
    said = run.ok("spice", "setup", "--from", "stick")
    assert "b.jar: copied, checksum right" in said
    assert files(folder) == ALL
    assert server.requests == []


def test_from_a_folder_that_lacks_files(run: Runner, server: Server, java: FakeJava, folder: Path) -> None:
    (run.folder / "stick").mkdir()
    (run.folder / "stick" / "a.jar").write_bytes(CONTENT["a.jar"])
    said = run.here("spice", "setup", "--from", "stick")
    assert said.status == 2
    assert "--from stick: 2 of 3 files are not there: b.jar, newer.jar; copy the folder" in said.stderr
    assert "/wheel.whl" in said.stderr
    assert "--from nowhere: is not a folder" in run.here("spice", "setup", "--from", "nowhere").stderr
    assert files(folder) == set()
    assert server.requests == []


def test_from_a_folder_with_a_broken_jar(run: Runner, server: Server, java: FakeJava, folder: Path) -> None:
    (run.folder / "stick").mkdir()
    for name, content in CONTENT.items():
        (run.folder / "stick" / name).write_bytes(content[:-1] if name == "a.jar" else content)
    said = run.here("spice", "setup", "--from", "stick")
    assert said.status == 2
    assert said.stderr.startswith(f"sacrecap: {Path('stick') / 'a.jar'}: is not the published a.jar (its SHA-256 is ")
    assert files(folder) == set()


def test_an_installed_pycocoevalcap_saves_downloads(
    run: Runner, server: Server, java: FakeJava, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But only what is the published file."""
    installed = run.folder / "site" / "pycocoevalcap" / "spice" / "lib"
    installed.mkdir(parents=True)
    (installed.parents[1] / "__init__.py").touch()
    (installed / "b.jar").write_bytes(CONTENT["b.jar"])
    (installed.parent / "a.jar").write_bytes(b"of another version")
    monkeypatch.syspath_prepend(str(run.folder / "site"))
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)
    said = run.ok("spice", "setup")
    assert "b.jar: from the installed pycocoevalcap" in said
    assert [path for path, _ in server.requests] == ["/a.jar", "/newer.jar"]
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT


# Java


def test_without_java_nothing_is_fetched(run: Runner, server: Server, java: FakeJava, folder: Path) -> None:
    java.say_version('java version "1.7.0_80"')
    assert "of PATH is Java 7; install one" in run.refused("spice", "setup")
    java.path.unlink()
    assert "there is none in JAVA_HOME or PATH; install one" in run.refused("spice", "setup")
    assert "--java nowhere: is not a program" in run.refused("spice", "setup", "--java", "nowhere")
    assert "memory is a number with G or M" in run.refused("spice", "setup", "--memory", "much")
    assert server.requests == []


def test_what_was_chosen_is_kept(run: Runner, server: Server, java: FakeJava, folder: Path) -> None:
    other = FakeJava(run.folder / "other", "11.0.1")
    assert f"Java 11: {other.path}" in run.ok("spice", "setup", "--java", other.path, "--memory", "2G")
    assert f"Java 11: {other.path}" in run.ok("spice", "setup")
    assert "-Xmx2G" in other.arguments
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(run.folder / "user-data"))
        found = StanfordSpice.find()
    assert (found.runner.java.path, found.runner.memory) == (str(other.path), "2G")
    other.path.unlink()
    assert f"Java 17: {java.path}" in run.ok("spice", "setup")


Break = Callable[[FakeJava], object]


@pytest.mark.parametrize(
    ("breaking", "message"),
    [
        (lambda java: java.edit("run along", "run"), "parses an example wrongly; remove"),
        (
            lambda java: java.edit(
                "items = json", "sys.exit('Error: Could not find or load main class')\nitems = json"
            ),
            "does not work with .* ended with status 1: Error: Could not find or load main class",
        ),
    ],
)
def test_a_program_that_does_not_work(
    run: Runner, server: Server, java: FakeJava, breaking: Break, message: str
) -> None:
    breaking(java)
    said = run.here("spice", "setup")
    assert said.status == 2
    assert re.search(message, said.stderr), said.stderr
    assert len(said.stderr.splitlines()) == 1


# The published files


def test_the_real_parts_are_whole() -> None:
    assert len({part.name for part in jars.PARTS}) == len(jars.PARTS) == 16
    for part in jars.PARTS:
        assert part.url.startswith("https://")
        assert len(part.sha256) == 64
        assert part.name.endswith(".jar")
    assert sum(part.download for part in jars.PARTS) == pytest.approx(416.8e6, rel=0.001)


def test_the_installed_pycocoevalcap_has_the_published_files(tmp_path: Path) -> None:
    pytest.importorskip("pycocoevalcap")
    own = [part for part in jars.PARTS if part.packed is not None]
    assert [part.name for part in own if setup._installed(part, str(tmp_path))] == [
        "spice-1.0.jar",
        "Meteor-1.5.jar",
        "SceneGraphParser-1.0.jar",
    ]
