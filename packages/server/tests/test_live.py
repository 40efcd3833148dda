"""A real server: killed and started again, ended politely, refused a dangerous address, and `sacrecap submit`."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import json
import os
import re
import shutil
import socket
import sqlite3
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message

import click
import httpx2 as httpx
import pytest
from sqlalchemy import update

import sacrecap
from command_line import run
from runner import Ended, Runner
from sacrecap import example
from sacrecap.errors import DataError
from sacrecap_server.accounts.access import Role, new_token
from sacrecap_server.cli.serve import command
from sacrecap_server.cli.submit import RemoteServer
from sacrecap_server.store.backup import back_up
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Job, now
from sacrecap_server_testing.benchmark import REFERENCES_PATH, SYSTEMS, make
from sacrecap_server_testing.live import Live

__all__ = ["run"]


@pytest.fixture
def live(world, tmp_path) -> Iterator[Live]:
    """A server with a benchmark, and a team's token in `live.token`; not started.

    On SQLite, whose data are this process's to lose; `make soak` kills one on PostgreSQL too.
    """
    make(world, quota_day=1000, quota_total=1000)
    account = world.account(Role.MEMBER)
    with world.database.write() as session:
        token = new_token(session, account, "test")
    world.state.close()
    live = Live(tmp_path, world.database.url)
    live.token = token
    yield live
    if live.process is not None and live.process.poll() is None:
        live.process.kill()
        live.process.wait()


def variant(number: int) -> bytes:
    """A file of its own for each number."""
    captions = json.loads(SYSTEMS["careful"])
    first = next(iter(captions))
    return json.dumps({**captions, first: f"a picture number {number}"}).encode()


def client(live: Live) -> httpx.Client:
    return httpx.Client(base_url=live.url + "/api/v1", headers={"Authorization": f"Bearer {live.token}"}, timeout=None)


def keep_sending(live: Live, number: int, acknowledged: dict[int, str], wanted: threading.Semaphore) -> None:
    """Sends every second number, each when one more is wanted, and again where nothing answers."""
    with client(live) as api:
        while wanted.acquire():
            try:
                answer = api.post(f"/benchmarks/ours/submissions?system=s{number}", content=variant(number))
            except httpx.HTTPError:
                time.sleep(0.05)
                wanted.release()
                continue
            if answer.status_code in (200, 201):
                acknowledged[answer.json()["id"]] = f"s{number}"
                number += 2
            else:
                time.sleep(0.1)
                wanted.release()


def test_what_was_acknowledged_survives_being_killed_and_being_stopped(live):
    """Killed and started again, then ended politely, which puts jobs back and finishes requests, and started again."""
    acknowledged: dict[int, str] = {}
    wanted = threading.Semaphore(0)
    live.start()
    for start in (0, 1):
        threading.Thread(target=keep_sending, args=(live, start, acknowledged, wanted), daemon=True).start()
    for sent, end in ((3, live.kill), (6, live.stop)):
        wanted.release(3)
        while len(acknowledged) < sent - 2:  # two are on their way, or waiting
            time.sleep(0.01)
        assert not end()
        live.start()
        while len(acknowledged) < sent:
            time.sleep(0.01)
    with client(live) as api:
        found = api.get("/submissions").json()["submissions"]
        while any(each["state"] in ("queued", "running") for each in found):
            time.sleep(0.2)
            found = api.get("/submissions").json()["submissions"]
        assert {each["state"] for each in found} == {"done"}
        assert acknowledged.items() <= {each["id"]: each["system"] for each in found}.items()
        assert len({each["sha256"] for each in found}) == len(found)
    assert live.stop() == 0
    assert "Traceback" not in live.log()
    for line in live.log().splitlines():
        if not line.startswith("sacrecap: "):
            assert {"time", "level", "event"} <= json.loads(line).keys()


def test_submit_prints_the_scores_and_the_same_exit_statuses_as_elsewhere(site, run, monkeypatch):
    make(site.world, slug="by-command", title="By command")
    account = site.world.account(Role.MEMBER)
    with site.world.database.write() as session:
        token = new_token(session, account, "test")
    monkeypatch.setenv("SACRECAP_TOKEN", token)
    (run.folder / "careful.json").write_bytes(SYSTEMS["careful"])
    done = run("submit", site.url, "by-command", "careful.json", "--format", "json")
    assert done.status == 0, done.stderr
    body = json.loads(done.stdout)
    expected = sacrecap.score(REFERENCES_PATH, example.system_path("careful"), "cider-d, bleu-4, rouge-l").to_dict()
    assert body["scores"] == {metric: round(value, 4) for metric, value in expected["scores"].items()}
    assert body["system"] == "careful"
    assert re.search(r"submission \d+: http", done.stderr)
    again = run.here("submit", site.url, "by-command", "careful.json")
    assert (again.status, again.stdout.split()[:2]) == (0, ["cider-d", f"{expected['scores']['cider-d']:.4f}"])
    (run.folder / "wrong.json").write_text('{"x": "A dog."}')
    wrong = run.here("submit", site.url, "by-command", "wrong.json")
    assert (wrong.status, wrong.stdout) == (2, "")
    assert "sacrecap: Image 'x' is not part of this benchmark." in wrong.stderr.splitlines()
    assert f"sacrecap: {len(json.loads(SYSTEMS['careful']))} images have no caption: " in wrong.stderr
    number = str(body["id"])
    shown = run.here("submit", site.url, "by-command", "--status", number, "--wait", "--format", "json")
    assert (shown.status, json.loads(shown.stdout)) == (0, body)
    listed = run.here("submit", site.url, "by-command", "--list")
    assert listed.status == 0
    assert listed.stdout.splitlines()[0].split() == ["number", "system", "submitted", "state", *expected["scores"]]
    assert listed.stdout.splitlines()[-1].split()[:2] == [number, "careful"]
    assert listed.stdout.split()[-1] == f"{expected['scores']['rouge-l']:.4f}"
    organiser = site.world.account(Role.ORGANISER)
    with site.world.database.write() as session:
        monkeypatch.setenv("SACRECAP_TOKEN", new_token(session, organiser, "test"))
    sent = run.here("submit", site.url, "by-command", "careful.json", "--baseline", "--no-wait", "--system", "Ours")
    assert sent.status == 0, sent.stderr
    everybodys = run.here("submit", site.url, "by-command", "--list")
    assert everybodys.stdout.splitlines()[0].split()[:3] == ["number", "team", "system"]
    assert "baseline" in everybodys.stdout
    monkeypatch.setenv("SACRECAP_TOKEN", token)
    listed = run.here("submit", site.url, "by-command", "--list", "--format", "json")
    assert json.loads(listed.stdout) == {"submissions": [body]}
    job = update(Job).where(Job.subject_id == body["id"], Job.kind == "score")
    with site.world.database.write() as session:
        # Held by a runner that does not exist, for as long as this test.
        session.execute(job.values(state="running", lease=now() + dt.timedelta(days=1)))
    waits = run.here("submit", site.url, "by-command", "--status", number)
    assert (waits.status, waits.stdout.strip()) == (3, f"submission {number}: running")
    with site.world.database.write() as session:
        session.execute(job.values(state="failed"))
    failed = run.here("submit", site.url, "by-command", "--status", number, "--wait")
    assert (failed.status, failed.stdout) == (2, "")
    assert f"submission {number} failed: It could not be scored." in failed.stderr
    for arguments, message in (
        (("by-command",), "give one of FILE, --list and --status NUMBER"),
        (("by-command", "careful.json", "--list"), "give one of FILE"),
        (("by-command", "--list", "--wait"), "--wait goes with --status"),
        (("by-command", "--list", "--no-wait"), "--no-wait goes with FILE"),
        (("by-command", "--status", "99999"), "There is no such submission."),
        (("other", "--status", number), "is one to by-command, not to other"),
        (("nothing", "--list"), "There is no such benchmark."),
    ):
        refused = run.here("submit", site.url, *arguments)
        assert (refused.status, refused.stdout) == (2, "")
        assert message in refused.stderr
    for arguments, shown, message in (
        (("nothing", "careful.json"), token, "There is no such benchmark."),
        (("by-command", "missing.json"), token, "no such file"),
        (("by-command", "careful.json"), "sacrecap_wrong", "This needs an API token"),
        (("by-command", "careful.json"), " ", "an API token is needed"),
    ):
        monkeypatch.setenv("SACRECAP_TOKEN", shown)
        refused = run.here("submit", site.url, *arguments)
        assert (refused.status, refused.stdout) == (2, "")
        assert message in refused.stderr
    monkeypatch.setenv("SACRECAP_TOKEN", token)
    gone = run.here("submit", "http://127.0.0.1:1", "by-command", "careful.json")
    assert gone.status == 2
    assert "no answer of a sacrecap server" in gone.stderr


def test_submit_asks_a_busy_server_again_when_it_said(monkeypatch, capsys):
    """It waits as long as the server says, unless that is very long, and gives up after three more attempts."""
    answers: list[tuple[int, dict[str, str]]] = []
    slept: list[float] = []

    def answer(request: urllib.request.Request, timeout: float) -> io.BytesIO:
        status, headers = answers.pop(0)
        if status == 200:
            return io.BytesIO(b'{"id": 1}')
        message = Message()
        for name, value in headers.items():
            message[name] = value
        body = io.BytesIO(b'{"error": {"message": "Busy.", "problems": ["First."]}}')
        raise urllib.error.HTTPError(request.full_url, status, "", message, body)

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    monkeypatch.setattr(time, "sleep", slept.append)
    server = RemoteServer("http://localhost:1", "t")
    answers[:] = [(503, {"Retry-After": "20"}), (429, {"Retry-After": "3"}), (200, {})]
    assert server.call("/x") == {"id": 1}
    assert slept == [20, 3]
    assert "Busy.; trying again in 20 s" in capsys.readouterr().err
    for busy in ((503, {"Retry-After": "3600"}), (503, {}), (429, {}), (403, {"Retry-After": "3"})):
        answers[:] = [busy]
        with pytest.raises(DataError, match="Busy"):
            server.call("/x")
    answers[:] = [(503, {"Retry-After": "1"})] * 4
    with pytest.raises(DataError, match="Busy"):
        server.call("/x")
    assert len(slept) == 5


def test_backup_and_restore_of_a_running_server(live, serve, tmp_path):
    live.start()
    with client(live) as api:
        api.post("/benchmarks/ours/submissions?system=s", content=variant(0)).raise_for_status()
        database = Database(live.database)
        assert back_up(database, tmp_path / "backup.gz") > 5
        database.close()
        assert api.get("/submissions").status_code == 200
        api.post("/benchmarks/ours/submissions?system=later", content=variant(1)).raise_for_status()
        restore = ("--database", live.database, "restore", "--replace", tmp_path / "backup.gz")
        restored = serve(*restore)
        assert restored.status == 0, restored.stderr
        # Otherwise a token that was revoked since then would be good again.
        assert api.get("/submissions").status_code == 401
        assert serve(*restore, "--keep-sign-ins").status == 0
        assert [each["system"] for each in api.get("/submissions").json()["submissions"]] == ["s"]
        api.post("/benchmarks/ours/submissions?system=after", content=variant(2)).raise_for_status()
        assert len(api.get("/submissions").json()["submissions"]) == 2


@pytest.fixture
def serve(run: Runner, monkeypatch):
    """`sacrecap serve` in this process, whose umask and log stay as they are."""
    monkeypatch.setattr("sacrecap_server.run.log_to_stderr", lambda: None)
    umask = os.umask(0o022)

    def serve(*arguments: object, stdin: str = "") -> Ended:
        return run.here("serve", *arguments, stdin=stdin)

    yield serve
    os.umask(umask)


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        (["--host", "192.0.2.7"], {}, "needs a secret key"),
        (["--host", "192.0.2.7", "--public-url", "https://x.org"], {"SACRECAP_SECRET_KEY": "x" * 32}, "needs TLS"),
        (["--host", "192.0.2.1"], {"SACRECAP_SECRET_KEY": "short"}, "needs 32"),
        (["--tls-key", "key.pem"], {}, "belong together"),
        (["--behind-proxy", "127.0.0.1"], {}, "--public-url"),
        (["--behind-proxy", "127.0.0.1", "--public-url", "https://x.org"], {}, "without --mail nobody can show"),
        (["--mail", "smtp://me@mail.example.org"], {}, "SACRECAP_SMTP_PASSWORD"),
        ([], {"SACRECAP_SECRET_KEY_FILE": "/no/such/file"}, "SACRECAP_SECRET_KEY_FILE: /no/such/file cannot be read"),
        ([], {"SACRECAP_SECRET_KEY_FILE": "/dev/null", "SACRECAP_SECRET_KEY": "x" * 32}, "are both set"),
        (["--database", "mysql://x"], {}, "--database must be"),
        (["--database", "sqlite:////no/such/folder/x.db"], {}, "cannot be opened"),
        (["--database", "postgresql://nobody@127.0.0.1:1/x"], {}, "cannot be opened"),
    ],
)
def test_dangerous_or_wrong_settings_are_refused(serve, monkeypatch, arguments, environment, expected):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = serve(*arguments)
    assert (done.status, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


COMMANDS = [
    (),
    ("backup", "backup.gz"),
    ("restore", "backup.gz"),
    ("restore", "--replace", "backup.gz"),
    ("admin", "me@example.org", "--password-file", "-"),
]


@pytest.fixture(scope="module")
def used_before(tmp_path_factory):
    """A folder with a database that holds something, and its backup."""
    folder = tmp_path_factory.mktemp("used")
    with contextlib.closing(Database(f"sqlite:///{folder / 'sacrecap.db'}")) as database:
        database.migrate()
        with database.changing() as connection:
            connection.exec_driver_sql("INSERT INTO kept (name, value) VALUES ('a', 'b')")
        back_up(database, folder / "backup.gz")
    return folder


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda each: each[0] if each else "serve")
@pytest.mark.parametrize("trouble", ["newer", "away", "read-only", "no database", "locked"])
def test_trouble_with_the_database_is_one_line(serve, used_before, tmp_path, monkeypatch, arguments, trouble):
    """The server and each of its subcommands end with status 2 and without a traceback."""
    url, file = "sqlite:///sacrecap.db", tmp_path / "sacrecap.db"
    shutil.copytree(used_before, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if trouble == "newer":
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        elif trouble == "locked":
            monkeypatch.setattr("sacrecap_server.store.database._BUSY_SECONDS", 0.1)
            connection.execute("BEGIN IMMEDIATE")
        elif trouble == "away":
            url = "postgresql://me:secret-word@127.0.0.1:1/sacrecap"
        elif trouble == "read-only":
            url = "sqlite:///file:sacrecap.db?mode=ro&uri=true"
        elif trouble == "no database":
            url, text = "sqlite:///text.db", b"this is no database, but a text " * 100
            (tmp_path / "text.db").write_bytes(text)
        done = serve("--database", url, *arguments, stdin="long enough, this")
    if arguments[:1] == ("backup",) and trouble in ("newer", "read-only", "locked"):
        assert done.status == 0  # it only reads, and knows the tables as they are
        return
    assert (done.status, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("sacrecap: ")
    assert "secret-word" not in done.stderr
    if trouble == "newer" and arguments[:1] != ("restore",):
        assert "a newer version of sacrecap has made its tables (revision 9999" in done.stderr


def test_a_port_that_is_taken_is_one_line(serve):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = serve("--port", port)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == f"sacrecap: --host 127.0.0.1 --port {port}: cannot listen there: Address already in use\n"


def test_every_option_can_come_from_the_environment(serve, monkeypatch, tmp_path):
    """With the secrets in files, as containers have them."""
    from sacrecap_server.cli.serve import command

    variables = {option.opts[0]: option.envvar for option in command.params if option.name != "help"}
    assert variables == {name: f"SACRECAP_{name.removeprefix('--').upper().replace('-', '_')}" for name in variables}
    assert all(option.show_envvar for option in command.params if option.name != "help")
    seen = []
    monkeypatch.setattr("sacrecap_server.run.serve", lambda settings: seen.append(settings) or 0)
    for name, value in (("SECRET_KEY", "k" * 40), ("SMTP_PASSWORD", "m" * 40), ("DATABASE", "sqlite:///other.db")):
        (tmp_path / name).write_text(value + "\n")
        monkeypatch.setenv(f"SACRECAP_{name}_FILE", str(tmp_path / name))
    given = {"host": "0.0.0.0", "port": 81, "public_url": "https://x.org", "behind_proxy": "10.0.0.1", "workers": 3}  # noqa: S104
    given |= {"mail": "smtp://me@mail.example.org", "mail_from": "evaluation@x.org"}
    for name, value in given.items():
        monkeypatch.setenv(f"SACRECAP_{name.upper()}", str(value))
    assert serve().status == 0
    assert {name: getattr(seen[0], name) for name in given} == given
    assert (seen[0].secret_key, seen[0].smtp_password) == ("k" * 40, "m" * 40)
    assert seen[0].database == "sqlite:///other.db"
    monkeypatch.setenv("SACRECAP_SECRET_KEY", "k" * 40)
    assert "SACRECAP_SECRET_KEY and SACRECAP_SECRET_KEY_FILE are both set" in serve().stderr
    monkeypatch.delenv("SACRECAP_SECRET_KEY")
    monkeypatch.setenv("SACRECAP_SECRET_KEY_FILE", str(tmp_path / "none"))
    assert "cannot be read: No such file" in serve().stderr


def test_an_administrator_is_made_on_the_machine(serve):
    def admin(email: str, password: str) -> Ended:
        return serve("admin", email, "--password-file", "-", stdin=password)

    assert admin("me@example.org", "long enough, this").status == 0
    for email, password in (("no address", "long enough, this"), ("me@example.org", "short")):
        refused = admin(email, password)
        assert refused.status == 2
        assert "Traceback" not in refused.stderr


@pytest.mark.usefixtures("serve")
def test_the_password_is_asked_for_when_no_line_of_progress_can_hide_the_question(tmp_path, monkeypatch, capsys):
    """The command returns what asks: `main` runs that when the command's thread, and its line, have ended."""
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(click, "prompt", lambda *_, **__: "long enough, this")
    given = ["--database", f"sqlite:///{tmp_path / 'sacrecap.db'}", "admin", "me@example.org"]
    ask = command.main(given, standalone_mode=False)
    assert not (tmp_path / "sacrecap.db").exists()
    ask()
    assert capsys.readouterr().err.startswith("me@example.org is an administrator of ")


def test_the_database_and_its_backups_are_for_their_owner_alone(serve, tmp_path):
    assert serve("admin", "me@example.org", "--password-file", "-", stdin="long enough, this").status == 0
    assert serve("backup", "backup.gz").status == 0
    for name in ("sacrecap.db", "backup.gz"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_a_missing_extra_says_its_name(serve, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    done = serve()
    assert done.status == 2
    assert done.stderr == "sacrecap: sacrecap serve needs the extra 'server': pip install 'sacrecap[server]'\n"


def test_https_without_a_proxy(tmp_path, certificate):
    key, certificate = certificate / "key.pem", certificate / "cert.pem"
    live = Live(
        tmp_path, f"sqlite:///{tmp_path / 'sacrecap.db'}", "--tls-certificate", str(certificate), "--tls-key", str(key)
    )
    live.start()
    try:
        context = ssl.create_default_context(cafile=str(certificate))
        answer = httpx.get(live.url.replace("http:", "https:") + "/sign-in", verify=context)
        assert answer.headers["set-cookie"].startswith("__Host-sacrecap=")
        assert live.stop() == 0
    finally:
        live.process.kill()
        live.process.wait()
