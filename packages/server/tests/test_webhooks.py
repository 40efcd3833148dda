"""Webhooks: signed messages to a real local server, tried again where they fail, and never into private networks."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from sqlalchemy import select, update

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import sender
from sacrecap_server.boards.webhooks import MOST_HOOKS, PAUSES
from sacrecap_server.jobs import jobs
from sacrecap_server.store.models import Benchmark, Job, Webhook, WebhookDelivery, now
from sacrecap_server_testing.benchmark import make, submitted
from sacrecap_server_testing.world import World


class Receiver(HTTPServer):
    """Keeps what it is sent, and answers with `status`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/hook?a=b"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        thread = threading.Thread(target=receiver.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield receiver
        receiver.shutdown()
        thread.join()


@pytest.fixture
def hosted(new_world) -> World:
    """A server that may send to this machine."""
    world = new_world(private_webhooks=True)
    make(world, metrics="cider-d")
    return world


def deliveries(world: World) -> list[WebhookDelivery]:
    with world.database.read() as session:
        return list(session.execute(select(WebhookDelivery).order_by(WebhookDelivery.id)).scalars())


def test_a_scored_submission_is_announced_signed(hosted, receiver):
    owner = hosted.browser(Role.ORGANISER)
    assert owner.post("/benchmarks/ours/webhooks", url=receiver.url).status_code == 303
    number = submitted(hosted, "careful")
    hosted.run_jobs()
    ((path, headers, body),) = receiver.got
    assert path == "/hook?a=b"
    secret = re.search(r'<code class="secret">(\w{64})', owner.get("/benchmarks/ours/webhooks").text)[1]
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Sacrecap-Signature-256"] == f"sha256={expected}"
    assert headers["Content-Type"] == "application/json"
    scores = hosted.api(Role.MEMBER).get(f"/api/v1/submissions/{number}").json()["scores"]
    message = json.loads(body)
    assert message.pop("submitted")
    assert message == {
        "event": "submission.scored",
        "delivery": 1,
        "benchmark": "ours",
        "title": "Our benchmark",
        "submission": number,
        "team": "Team MEMBER",
        "system": "careful",
        "baseline": False,
        "scores": {metric: round(value, 4) for metric, value in scores.items()},
        "url": f"{hosted.state.settings.url}/submissions/{number}",
    }
    page = owner.get("/benchmarks/ours/webhooks").text
    assert "delivered" in page
    assert "Answered 200." in page


def test_what_fails_is_tried_again_after_growing_pauses_and_then_given_up(hosted, receiver, monkeypatch):
    # In this process: six children take as many seconds.
    monkeypatch.setattr(jobs, "run_child", lambda _, header, files, *__: sender.deliver(header, files, print))
    owner = hosted.browser(Role.ORGANISER)
    owner.post("/benchmarks/ours/webhooks", url=receiver.url)
    receiver.status = 300  # the first of the redirections
    owner.post("/benchmarks/ours/webhooks/1/test")
    for attempt in range(1, len(PAUSES) + 2):
        began = now()
        hosted.run_jobs()
        (delivery,) = deliveries(hosted)
        assert delivery.attempts == attempt == len(receiver.got)
        assert "redirections are not followed" in delivery.answer
        if attempt <= len(PAUSES):
            assert began <= delivery.due - PAUSES[attempt - 1] <= now()
        with hosted.database.write() as session:
            session.execute(update(Job).where(Job.state == "queued").values(due=now()))
    assert delivery.due is None
    assert "given up" in owner.get("/benchmarks/ours/webhooks").text
    assert {json.loads(body)["event"] for _, _, body in receiver.got} == {"test"}


def test_one_that_failed_is_delivered_later(hosted, receiver):
    owner = hosted.browser(Role.ORGANISER)
    owner.post("/benchmarks/ours/webhooks", url=receiver.url)
    owner.post("/benchmarks/ours/webhooks/1/test")
    receiver.status = 500
    hosted.run_jobs()
    assert "next attempt" in owner.get("/benchmarks/ours/webhooks").text
    receiver.status = 204
    with hosted.database.write() as session:
        session.execute(update(Job).where(Job.state == "queued").values(due=now()))
    hosted.run_jobs()
    (delivery,) = deliveries(hosted)
    assert (delivery.attempts, delivery.answer, delivery.due) == (2, "Answered 204.", None)
    assert delivery.delivered is not None


def test_a_removed_webhook_gets_nothing_more(hosted, receiver):
    owner = hosted.browser(Role.ORGANISER)
    owner.post("/benchmarks/ours/webhooks", url=receiver.url)
    owner.post("/benchmarks/ours/webhooks/1/test")
    assert owner.post("/benchmarks/ours/webhooks/1/remove").status_code == 303
    hosted.run_jobs()
    assert receiver.got == []
    assert deliveries(hosted) == []


def test_only_the_owner_has_to_do_with_webhooks(hosted, receiver):
    hosted.browser(Role.ORGANISER).post("/benchmarks/ours/webhooks", url=receiver.url)
    make(hosted, slug="other")
    with hosted.database.read() as session:
        hook = session.execute(select(Webhook)).scalar_one()
    other = hosted.browser(Role.ORGANISER)
    assert other.post(f"/benchmarks/other/webhooks/{hook.id}/remove").status_code == 404
    for number in range(MOST_HOOKS):
        added = other.post("/benchmarks/ours/webhooks", url=f"{receiver.url}&n={number}")
    assert added.status_code == 422
    assert "at most 5 webhooks" in added.text
    somebody = hosted.account(Role.ADMIN)
    with hosted.database.write() as session:
        session.execute(update(Benchmark).values(owner_id=somebody))
    for path in ("", f"/{hook.id}/test", f"/{hook.id}/remove"):
        assert other.post(f"/benchmarks/ours/webhooks{path}", url="https://x.org").status_code == 403
    assert other.get("/benchmarks/ours/webhooks").status_code == 403


def test_addresses_that_nothing_is_sent_to_are_refused(world):
    make(world)
    owner = world.browser(Role.ORGANISER)
    for url in (
        "http://example.org/",
        "https://127.0.0.1/",
        "https://10.1.2.3/x",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest",
        "https://[64:ff9b::a00:1]/",
        "https://user:pw@example.org/",
        "ftp://x.org",
        "https://",
        "https://x.org/#a",
        "https://x.org:99999/",
        "https://[x/",
        "https://x.org/ü",
        "https://x.org/a b",
        f"https://x.org/{'a' * 500}",
        "",
    ):
        assert owner.post("/benchmarks/ours/webhooks", url=url).status_code == 422, url


@pytest.mark.parametrize("address", ["127.0.0.1", "192.168.1.1", "::1", "fe80::1", "100.64.0.1", "::"])
def test_names_that_lead_into_a_private_network_are_refused_when_sending(monkeypatch, address):
    """Whatever the name led to when the webhook was made."""
    found = [(0, 0, 0, "", (each, 1)) for each in ("8.8.8.8", address)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))
    header = {"url": "https://rebinding.example/", "secret": "s", "message": {}, "server": {"private_webhooks": False}}
    answer = sender.deliver(header, [], print)
    assert answer == {
        "delivered": False,
        "answer": "rebinding.example leads to a private network, and nothing is sent there.",
    }


def test_certificates_are_checked(receiver, certificate, monkeypatch):
    """A certificate that nobody trusts is refused; a trusted one is not."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
    url = f"https://localhost:{receiver.server_port}/"
    assert sender._attempt(url, "s", b"{}", private=True) == (False, "Not delivered: SSLCertVerificationError.")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    assert sender._attempt(url, "s", b"{}", private=True) == (True, "Answered 200.")


def test_an_answer_that_never_comes_ends(monkeypatch):
    monkeypatch.setattr(sender, "_SECONDS_IN_ALL", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        header = {"url": url, "secret": "s", "message": {}, "server": {"private_webhooks": True}}
        answer = sender.deliver(header, [], print)
    assert answer["delivered"] is False
    assert "No answer within" in answer["answer"]
