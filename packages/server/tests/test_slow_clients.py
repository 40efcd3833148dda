"""M6: clients that are slow on purpose, or many, are cut off, and others are served meanwhile."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import httpx2 as httpx
import pytest
import uvicorn
from uvicorn.server import ServerState

from capeval_server.store.database import Database
from capeval_server.web.connections import limited
from capeval_server_testing.live import Live

MOST = 30


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that gives its clients one second, and takes thirty of them."""
    folder = tmp_path_factory.mktemp("slow")
    database = Database(f"sqlite:///{folder / 'capeval.db'}")
    database.migrate()
    database.close()
    live = Live(folder, database.url, "--workers", "0", "--request-seconds", "1", "--connections", str(MOST))
    live.start()
    yield live
    live.stop()


@pytest.fixture
def connect(live: Live) -> Iterator[object]:
    with contextlib.ExitStack() as opened:

        def connect(sent: bytes = b"") -> socket.socket:
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", live.port), timeout=20))
            connection.sendall(sent)
            return connection

        yield connect


def everything(connection: socket.socket) -> bytes:
    """What comes until the server closes the connection."""
    received = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            received += piece
    return bytes(received)


HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: "
HALF_BODY = (
    b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nemail="
)


def test_many_half_requests_stop_nobody(live, connect):
    half = [connect(HALF) for _ in range(3 * MOST)]
    assert httpx.get(live.url + "/healthz", timeout=5).text == "ok\n"
    closed = [everything(connection) for connection in half]
    # Those for whom there was no room, oldest first; then those whose time was over.
    assert closed[:MOST] == [b""] * MOST
    assert closed[-1].startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b"HTTP/1.1 408 "),
        (HALF, b"HTTP/1.1 408 "),
        (HALF_BODY, b""),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + HALF, b"HTTP/1.1 200 "),
    ],
    ids=["nothing", "half a head", "half a body", "half a second request"],
)  # fmt: skip
def test_whoever_does_not_go_on_is_cut_off(connect, sent, answer):
    assert everything(connect(sent))[:13] == answer


def test_a_head_without_end_is_refused(connect):
    connection = connect(HALF)
    with contextlib.suppress(OSError):
        connection.sendall(b"a" * 200_000)
    assert everything(connection)[:13] in (b"", b"HTTP/1.1 431 ")


class Hand:
    """A loop whose time passes by hand, and a connection whose client has `unsent` bytes left to take."""

    def __init__(self) -> None:
        self.now, self.unsent, self.aborted = 0.0, 300_000, False
        self.transport = self

    def time(self) -> float:
        return self.now

    def call_later(self, _: float, call: object) -> Hand:
        self.due = call
        return self

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        self.due()

    def cancel(self) -> None: ...

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted

    def get_extra_info(self, _: str) -> None: ...

    def get_write_buffer_size(self) -> int:
        return self.unsent


def test_whoever_does_not_read_the_answer_is_cut_off():
    hand = Hand()
    config = uvicorn.Config(lambda: None, log_config=None, http=limited(1, 10))
    config.load()
    protocol = config.http_protocol_class(config, ServerState(), {}, _loop=hand)
    protocol.connection_made(hand)
    protocol._enter(3)
    protocol.pause_writing()
    for _ in range(3):  # slow, but a piece each time
        hand.unsent -= 64 * 1024
        hand.pass_by(1.1)
        assert not hand.aborted
    hand.unsent -= 1000
    hand.pass_by(1.1)
    assert hand.aborted


def test_a_client_that_goes_on_slowly_is_served(connect):
    """Slower than the limit in all, but never for so long without a piece."""
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' + b"a" * 163_840
    head = "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    connection = connect(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode())
    for start in range(0, len(body), 40_000):
        time.sleep(0.4)
        connection.sendall(body[start : start + 40_000])
    assert everything(connection).startswith(b"HTTP/1.1 4")
