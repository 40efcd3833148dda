"""Mail: queued with what it is about, sent outside the request, tried again; and what no log may hold."""

from __future__ import annotations

import datetime as dt
import json
import re
import smtplib
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes, policy

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult
from people import EMAIL, code_of, link_in, register
from sqlalchemy import select, update

from sacrecap.errors import UsageError
from sacrecap_server.mail import post
from sacrecap_server.observability import JsonLines
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.settings.ways import Console, Folder, Smtp, way
from sacrecap_server.store.models import Letter, OneTimeCode, now
from sacrecap_server_testing.ports import free_port
from sacrecap_server_testing.world import World

SENDER = "Evaluation <evaluation@example.org>"


class Inbox:
    """A mail server's handler: keeps what comes, or refuses as told."""

    def __init__(self):
        self.messages, self.refusal = [], ""

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        envelope.rcpt_tos.append(address)
        return self.refusal or "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        message = message_from_bytes(envelope.content, policy=policy.default)
        self.messages.append((envelope.mail_from, envelope.rcpt_tos, message, session.ssl is not None))
        return "250 Message accepted for delivery"


class _Controller(Controller):
    options: dict = {}  # noqa: RUF012

    def factory(self):
        return SMTP(self.handler, **self.options)


@pytest.fixture
def mail_server(certificate, monkeypatch):
    """A real SMTP server that insists on STARTTLS and on a user; its port in `port`."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))

    def check(server, session, envelope, mechanism, data):
        return AuthResult(success=(data.login, data.password) == (b"robot", b"a secret"))

    controller = _Controller(Inbox(), hostname="127.0.0.1", port=free_port())
    controller.options = {
        "tls_context": context,
        "require_starttls": True,
        "authenticator": check,
        "auth_required": True,
        "auth_exclude_mechanism": ["LOGIN"],
        "loop": controller.loop,
    }
    controller.start()
    yield controller
    controller.stop()


@pytest.fixture
def smtp_world(mail_server, tmp_path):
    world = World(
        tmp_path,
        mail=f"smtp://robot@localhost:{mail_server.port}",
        mail_from=SENDER,
        smtp_password="a secret",  # noqa: S106
    )
    yield world
    world.state.close()


def due_again(world):
    """Time passes until the next attempt."""
    with world.database.write() as session:
        session.execute(update(Letter).values(due=now()))


def waiting(world):
    with world.database.read() as session:
        return list(session.execute(select(Letter)).scalars())


def test_mail_leaves_by_smtp_with_starttls_and_a_user(smtp_world, mail_server):
    assert register(smtp_world).status_code == 303
    assert mail_server.handler.messages == []
    assert smtp_world.state.post.run_one()
    [(sender, recipients, message, encrypted)] = mail_server.handler.messages
    assert (sender, recipients, encrypted) == ("evaluation@example.org", [EMAIL], True)
    assert (message["From"], message["To"]) == (SENDER, EMAIL)
    assert message["Subject"] == "Confirm your address for 127.0.0.1:8080"
    assert smtp_world.browser().get(link_in(message)).status_code == 200
    assert waiting(smtp_world) == []
    assert not smtp_world.state.post.run_one()


def test_no_password_leaves_unencrypted(smtp_world, mail_server):
    """A server without STARTTLS, as somebody in between would show it, gets nothing."""
    mail_server.options = {}
    assert register(smtp_world).status_code == 303
    assert smtp_world.state.post.run_one()
    assert mail_server.handler.messages == []
    assert waiting(smtp_world)[0].attempts == 1


def test_a_mail_server_that_is_away_fails_no_request_and_gets_it_later(smtp_world, mail_server):
    mail_server.handler.refusal = "451 Come back later"
    assert register(smtp_world).status_code == 303
    for pause in (30, 60, 120, 240):
        began = now()
        assert smtp_world.state.post.run_one()
        [letter] = waiting(smtp_world)
        assert began <= letter.due - dt.timedelta(seconds=pause) <= now()
        assert not smtp_world.state.post.run_one()
        due_again(smtp_world)
    mail_server.handler.refusal = ""
    assert smtp_world.state.post.run_one()
    assert len(mail_server.handler.messages) == 1


def test_nobody_listens_on_the_mail_servers_port(new_world):
    world = new_world(mail="smtp+plain://127.0.0.1:1", mail_from=SENDER)
    assert register(world).status_code == 303
    assert world.state.post.run_one()
    assert waiting(world)[0].attempts == 1


def test_an_address_that_is_refused_for_good_is_given_up(smtp_world, mail_server):
    mail_server.handler.refusal = "550 No such person"
    register(smtp_world)
    assert smtp_world.state.post.run_one()
    assert waiting(smtp_world) == []


def test_it_is_given_up_after_two_days(mail_world, monkeypatch):
    register(mail_world)
    monkeypatch.setattr(Folder, "send", lambda *_: (_ for _ in ()).throw(smtplib.SMTPServerDisconnected("gone")))
    pause = dt.timedelta()
    for _ in range(post.ATTEMPTS):
        assert mail_world.state.post.run_one()
        pause += max((letter.due - now() for letter in waiting(mail_world)), default=dt.timedelta())
        due_again(mail_world)
    assert waiting(mail_world) == []
    assert dt.timedelta(days=1) < pause < dt.timedelta(days=3)


def test_a_letter_that_a_killed_server_was_sending_is_sent_after_the_lease(mail_world):
    register(mail_world)
    assert mail_world.state.post._take() is not None
    assert mail_world.mail() == []
    due_again(mail_world)
    assert len(mail_world.mail()) == 1


def test_the_thread_of_a_running_server_sends(mail_world, monkeypatch):
    sent = threading.Event()
    monkeypatch.setattr(Folder, "send", lambda *_: sent.set())
    mail_world.state.post.start()
    register(mail_world)
    assert sent.wait(30)
    # It ends after the letter that it is sending.
    mail_world.state.post.stop()
    assert waiting(mail_world) == []


def test_two_servers_send_each_letter_once(migrated_url, tmp_path, new_world):
    mail = f"file:{tmp_path / 'mail'}"
    first = new_world(migrated_url, mail=mail)
    second = new_world(first.database.url, mail=mail)
    people = [f"{number}@example.org" for number in range(6)]
    for number, email in enumerate(people):
        register(first, email, f"Team {number}")

    def send(world):
        return sum(iter(world.state.post.run_one, False))

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(send, [first, second])) == len(people)
    assert sorted(message["To"] for message in first.mail()) == people


def test_a_letter_is_there_with_what_it_is_about_or_not_at_all(mail_world, monkeypatch):
    monkeypatch.setattr("sacrecap_server.web.context.RequestContext.audit", lambda *_: 1 / 0)
    assert register(mail_world).status_code == 500
    assert waiting(mail_world) == []


def test_no_code_is_stored_before_a_letter_is_sent_and_then_only_its_hash(mail_world):
    register(mail_world)
    with mail_world.database.read() as session:
        assert session.execute(select(OneTimeCode)).all() == []
    assert "{link}" in waiting(mail_world)[0].text
    [message] = mail_world.mail()
    with mail_world.database.read() as session:
        stored = session.execute(select(OneTimeCode.code_hash)).scalar_one()
    assert stored != code_of(link_in(message))


def test_no_log_holds_an_address_or_a_link(smtp_world, mail_server, caplog):
    """This holds whatever comes of the mail, even though the mail server's own words repeat the address."""
    mail_server.handler.refusal = f"550 {EMAIL} is unknown"
    with caplog.at_level("DEBUG"):
        register(smtp_world)
        smtp_world.state.post.run_one()
        mail_server.handler.refusal = ""
        smtp_world.browser().post("/forgot", email=EMAIL)
        smtp_world.state.post.run_one()
        path = link_in(mail_server.handler.messages[-1][2])
        browser = smtp_world.browser()
        browser.get(path)
        browser.post("/reset", code=code_of(path), new="another password")
        browser.post("/sign-in", email=EMAIL, password="no password")  # noqa: S106
    lines = [JsonLines().format(record) for record in caplog.records if record.name.startswith(("sacrecap", "uvicorn"))]
    text = "\n".join(lines)
    mail = [json.loads(line) for line in lines if '"event": "mail"' in line]
    assert [(line["outcome"], line.get("code")) for line in mail] == [("given up", 550), ("sent", None)]
    for secret in (EMAIL, "new%40example", code_of(path), "another password", "no password", "code=", "?"):
        assert secret not in text


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        ("none", None),
        ("console", Console()),
        ("smtp://mail.example.org", Smtp("mail.example.org", 587, "starttls")),
        ("smtps://mail.example.org", Smtp("mail.example.org", 465, "tls")),
        ("smtp+plain://mail:2525", Smtp("mail", 2525, "none")),
    ],
)
def test_ways_of_mail(setting, wanted):
    assert way(setting) == wanted


def test_a_user_of_a_mail_server_may_be_an_address():
    assert way("smtps://me%40example.org@mail.example.org", "x") == Smtp(
        "mail.example.org", 465, "tls", "me@example.org", "x"
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mail": "sendmail"}, "smtp://.*file:FOLDER|file:FOLDER.*smtp://"),
        ({"mail": "smtp://"}, "--mail must be"),
        ({"mail": "smtp://host:port"}, "--mail must be"),
        ({"mail": "smtp://me:secret@host", "mail_from": SENDER}, "SACRECAP_SMTP_PASSWORD"),
        ({"mail": "smtp://me@host", "mail_from": SENDER}, "belong together"),
        ({"mail": "smtp://host", "mail_from": SENDER, "smtp_password": "x"}, "belong together"),
        ({"mail": "smtp+plain://me@host", "mail_from": SENDER, "smtp_password": "x"}, "unencrypted"),
        ({"smtp_password": "x"}, "names no mail server"),
        ({"mail": "smtp://host"}, "--mail-from"),
        ({"mail": "smtp://host", "mail_from": "a\r\nBcc: b@example.org"}, "--mail-from must be"),
        ({"registration": "closed"}, "registration"),
    ],
)
def test_settings_of_mail_that_cannot_work_are_refused(settings, message):
    with pytest.raises(UsageError, match=message) as refusal:
        ServerSettings(**settings).check()
    assert "secret@" not in str(refusal.value)


PUBLIC = {"public_url": "https://evaluation.example.org", "behind_proxy": "127.0.0.1", "secret_key": "x" * 32}


def test_open_registration_for_the_public_needs_mail():
    """Without mail, nobody can show that an address is theirs."""
    with pytest.raises(UsageError, match=r"--mail.*--registration approval.*--registration invitation"):
        ServerSettings(**PUBLIC).check()
    with pytest.raises(UsageError, match="console"):
        ServerSettings(**PUBLIC, mail="console").check()
    with_mail = {"mail": "smtp://host", "mail_from": SENDER}
    for fine in ({"registration": "approval"}, {"registration": "invitation"}, with_mail):
        ServerSettings(**PUBLIC, **fine).check()


def test_the_console_is_not_the_log(new_world, capsys):
    world = new_world(mail="console")
    register(world)
    world.state.post.run_one()
    printed = capsys.readouterr()
    assert re.search(r"^http://127.0.0.1:8080/confirm\?code=[\w-]{43}$", printed.out, re.MULTILINE)
    assert EMAIL not in printed.err
