"""Clients that are slow on purpose, or many, are cut off, and others are served meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from sacrecap_server.web.connections import LimitedConnection, Limits
from sacrecap_server_testing.live import Live

MOST = 30


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that gives its clients one second."""
    yield from serving(tmp_path_factory.mktemp("strict"), "--request-seconds", "1")


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that takes thirty clients, and gives them more time than any test needs."""
    yield from serving(tmp_path_factory.mktemp("patient"), "--request-seconds", "3600", "--connections", str(MOST))


def serving(folder: Path, *options: str) -> Iterator[Live]:
    live = Live(folder, f"sqlite:///{folder / 'sacrecap.db'}", "--workers", "0", *options)
    live.start()
    yield live
    live.stop()


@pytest.fixture
def connect() -> Iterator[Callable[..., socket.socket]]:
    """A function that opens a connection to a server, and sends something."""
    with contextlib.ExitStack() as opened:

        def connect(live: Live, sent: bytes = b"") -> socket.socket:
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", live.port)))
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


def test_many_half_requests_stop_nobody(patient, connect):
    half = [connect(patient, HALF) for _ in range(3 * MOST)]
    assert httpx.get(patient.url + "/healthz", timeout=None).text == "ok\n"
    # There was no room for the others. Which they are hangs on whose bytes the server happened to read first.
    closed: set[socket.socket] = set()
    while len(closed) < 2 * MOST:
        closed.update(select.select([each for each in half if each not in closed], [], [])[0])
    assert {everything(connection) for connection in closed} == {b""}
    served = next(connection for connection in reversed(half) if connection not in closed)
    served.sendall(b"b\r\nConnection: close\r\n\r\n")
    assert everything(served).startswith(b"HTTP/1.1 200 ")


def test_idle_connections_make_room_for_others(patient, connect):
    idle = [connect(patient, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(MOST)]
    for connection in idle:
        received = b""
        while not received.endswith(b"ok\n"):
            received += connection.recv(65536)
    assert httpx.get(patient.url + "/healthz", timeout=None).text == "ok\n"
    ready, _, _ = select.select(idle, [], [], 10)
    assert [everything(connection) for connection in ready] == [b""]


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b"HTTP/1.1 408 "),
        (HALF, b"HTTP/1.1 408 "),
        (HALF_BODY, b""),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + HALF, b"HTTP/1.1 200 "),
    ],
    ids=["nothing", "half a head", "half a body", "half a second request"],
)
def test_whoever_does_not_go_on_is_cut_off(strict, connect, sent, answer):
    assert everything(connect(strict, sent))[:13] == answer


def test_a_head_without_end_is_refused(patient, connect):
    connection = connect(patient, HALF)
    with contextlib.suppress(OSError):
        connection.sendall(b"a" * 200_000)
    assert everything(connection)[:13] in (b"", b"HTTP/1.1 431 ")


class Hand:
    """A loop whose time passes by hand, and a connection whose client has `unsent` bytes left to take."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.now, self.unsent, self.reading, self.aborted = 0.0, 300_000, True, False
        self.connection = LimitedConnection(limits or Limits(1, 10), asyncio.Protocol(), self)
        self.connection.connection_made(self)

    def time(self) -> float:
        return self.now

    def call_later(self, _: float, call: object) -> Hand:
        self.due = call
        return self

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        self.due()

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted

    def is_reading(self) -> bool:
        return self.reading

    def get_write_buffer_size(self) -> int:
        return self.unsent


def test_whoever_waits_longest_makes_room():
    limits = Limits(seconds=1, most=3)
    people = [Hand(limits) for _ in range(3)]
    people[0].connection.data_received(HALF)  # and so has waited for less time than the others
    people += [Hand(limits) for _ in range(2)]
    assert [person.aborted for person in people] == [False, True, True, False, False]


def test_whoever_does_not_read_the_answer_is_cut_off():
    hand = Hand()
    hand.connection.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    hand.pass_by(1.1)
    assert not hand.aborted  # it is the server that takes long
    hand.connection.pause_writing()
    for _ in range(3):  # slow, but a piece each time
        hand.unsent -= 64 * 1024
        hand.pass_by(1.1)
        assert not hand.aborted
    hand.unsent -= 1000
    hand.pass_by(1.1)
    assert hand.aborted


def test_a_client_that_goes_on_slowly_is_served():
    """Slower than the limit in all, but never for so long without a piece of 64 KiB."""
    hand = Hand()
    hand.connection.data_received(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
    for _ in range(10):
        hand.pass_by(0.45)
        hand.connection.data_received(b"a" * 40_000)
        assert not hand.aborted
    hand.reading = False
    hand.pass_by(2)
    assert not hand.aborted  # it is the server that does not read
    hand.reading = True
    for _ in range(2):
        hand.pass_by(0.6)
        hand.connection.data_received(b"a" * 4_000)
    assert hand.aborted
