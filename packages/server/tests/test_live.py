"""A real server: killed and started again, ended politely, refused a dangerous address, and `capeval submit`."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator

import httpx2 as httpx
import pytest

import capeval
from capeval import example
from capeval_server.accounts.access import Role, new_token
from capeval_server.store.backup import back_up
from capeval_server.store.database import Database
from capeval_server_testing.benchmark import REFERENCES_PATH, SYSTEMS, make
from capeval_server_testing.live import SCRIPT, Live
from capeval_server_testing.world import World


@pytest.fixture
def live(tmp_path, database_url) -> Iterator[Live]:
    """A server with a benchmark, and a team's token in `live.token`; not started."""
    world = World(tmp_path, database_url)
    make(world, quota_day=1000, quota_total=1000)
    account = world.account(Role.MEMBER)
    with world.database.write() as session:
        token = new_token(session, account, "test")
    world.state.close()
    live = Live(tmp_path, database_url, "--workers", "2")
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


def run_submit(live: Live, *arguments: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPT, "submit", live.url, *arguments],
        env={**os.environ, "CAPEVAL_TOKEN": token or live.token}, cwd=live.folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def client(live: Live) -> httpx.Client:
    return httpx.Client(base_url=live.url + "/api/v1", headers={"Authorization": f"Bearer {live.token}"}, timeout=None)


def test_what_was_acknowledged_survives_being_killed(live):
    acknowledged: dict[int, str] = {}
    ended = threading.Event()

    def send(start: int) -> None:
        number = start
        with client(live) as api:
            while not ended.is_set():
                try:
                    answer = api.post(f"/benchmarks/ours/submissions?system=s{number}", content=variant(number))
                except httpx.HTTPError:
                    time.sleep(0.05)
                    continue
                if answer.status_code in (200, 201):
                    acknowledged[answer.json()["id"]] = f"s{number}"
                    number += 2
                    time.sleep(0.2)
                else:
                    time.sleep(0.1)

    live.start()
    senders = [threading.Thread(target=send, args=(start,), daemon=True) for start in (0, 1)]
    for sender in senders:
        sender.start()
    for _ in range(2):
        before = len(acknowledged)
        while len(acknowledged) < before + 2:
            time.sleep(0.01)
        live.kill()
        live.start()
    ended.set()
    for sender in senders:
        sender.join()
    assert acknowledged
    with client(live) as api:
        found = api.get("/submissions").json()["submissions"]
        while any(each["state"] in ("queued", "running") for each in found):
            time.sleep(0.1)
            found = api.get("/submissions").json()["submissions"]
        assert {each["state"] for each in found} == {"done"}
        assert acknowledged.items() <= {each["id"]: each["system"] for each in found}.items()
        assert len({each["sha256"] for each in found}) == len(found)
    assert live.stop() == 0


def test_submit_prints_the_scores_and_the_same_exit_statuses_as_elsewhere(live):
    live.start()
    (live.folder / "careful.json").write_bytes(SYSTEMS["careful"])
    done = run_submit(live, "ours", "careful.json", "--format", "json")
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    expected = capeval.score(REFERENCES_PATH, example.system_path("careful"), "cider-d, bleu-4, rouge-l").to_dict()
    assert body["scores"] == expected["scores"]
    assert body["system"] == "careful"
    assert "submission 1: http" in done.stderr
    again = run_submit(live, "ours", "careful.json")
    assert (again.returncode, again.stdout.split()[:2]) == (0, ["cider-d", f"{expected['scores']['cider-d']:.4f}"])
    (live.folder / "wrong.json").write_text('{"x": "A dog."}')
    wrong = run_submit(live, "ours", "wrong.json")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "capeval: Image 'x' is not part of this benchmark." in wrong.stderr.splitlines()
    assert wrong.stderr.count("has no caption.") == len(json.loads(SYSTEMS["careful"]))
    for arguments, token, expected in (
        (("nothing", "careful.json"), None, "There is no such benchmark."),
        (("ours", "missing.json"), None, "no such file"),
        (("ours", "careful.json"), "capeval_wrong", "This needs an API token"),
        (("ours", "careful.json"), " ", "an API token is needed"),
    ):
        refused = run_submit(live, *arguments, token=token)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert expected in refused.stderr
    live.kill()
    gone = run_submit(live, "ours", "careful.json")
    assert gone.returncode == 2
    assert "no answer of a capeval server" in gone.stderr


def test_a_polite_end_finishes_requests_and_puts_jobs_back(live):
    live.start()
    with client(live) as api:
        numbers = [
            api.post(f"/benchmarks/ours/submissions?system=s{n}", content=variant(n)).json()["id"] for n in range(2)
        ]
        assert live.stop() == 0
    assert "Traceback" not in live.log()
    for line in live.log().splitlines():
        if not line.startswith("capeval: "):
            assert {"time", "level", "event"} <= json.loads(line).keys()
    live.start()
    with client(live) as api:
        for number in numbers:
            while (state := api.get(f"/submissions/{number}").json()["state"]) in ("queued", "running"):
                time.sleep(0.1)
            assert state == "done"


def test_backup_and_restore_of_a_running_server(live, tmp_path):
    live.start()
    with client(live) as api:
        api.post("/benchmarks/ours/submissions?system=s", content=variant(0)).raise_for_status()
        database = Database(live.database)
        assert back_up(database, tmp_path / "backup.gz") > 5
        database.close()
        assert api.get("/submissions").status_code == 200
        api.post("/benchmarks/ours/submissions?system=later", content=variant(1)).raise_for_status()
        restored = subprocess.run(
            [SCRIPT, "serve", "--database", live.database, "restore", "--replace", tmp_path / "backup.gz"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert restored.returncode == 0, restored.stderr
        assert [each["system"] for each in api.get("/submissions").json()["submissions"]] == ["s"]
        api.post("/benchmarks/ours/submissions?system=after", content=variant(2)).raise_for_status()
        assert len(api.get("/submissions").json()["submissions"]) == 2


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        (["--host", "192.0.2.7"], {}, "needs a secret key"),
        (["--host", "192.0.2.7", "--public-url", "https://x.org"], {"CAPEVAL_SECRET_KEY": "x" * 32}, "needs TLS"),
        (["--host", "192.0.2.1"], {"CAPEVAL_SECRET_KEY": "short"}, "needs 32"),
        (["--tls-key", "key.pem"], {}, "belong together"),
        (["--behind-proxy", "127.0.0.1"], {}, "--public-url"),
        (["--database", "mysql://x"], {}, "--database must be"),
        (["--database", "sqlite:////no/such/folder/x.db"], {}, "cannot be opened"),
        (["--database", "postgresql://nobody@127.0.0.1:1/x"], {}, "cannot be opened"),
    ],
)
def test_dangerous_or_wrong_settings_are_refused(tmp_path, arguments, environment, expected):
    done = subprocess.run(
        [SCRIPT, "serve", *arguments], env={**os.environ, **environment}, cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_an_administrator_is_made_on_the_machine(tmp_path):
    def serve(*arguments: str, password: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SCRIPT, "serve", *arguments, "--password-file", "-"], input=password, cwd=tmp_path, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    assert serve("admin", "me@example.org", password="long enough, this").returncode == 0  # noqa: S106
    for email, password in (("no address", "long enough, this"), ("me@example.org", "short")):
        refused = serve("admin", email, password=password)
        assert refused.returncode == 2
        assert "Traceback" not in refused.stderr


def test_the_database_and_its_backups_are_for_their_owner_alone(tmp_path):
    for arguments in (["admin", "me@example.org", "--password-file", "-"], ["backup", "backup.gz"]):
        subprocess.run([SCRIPT, "serve", *arguments], input="long enough, this", text=True, cwd=tmp_path, check=True,
                       capture_output=True)  # fmt: skip
    for name in ("capeval.db", "backup.gz"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_a_missing_extra_says_its_name(tmp_path):
    (tmp_path / "fastapi.py").write_text("raise ImportError")
    done = subprocess.run(
        [SCRIPT, "serve"], env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "capeval: capeval serve needs the extra 'server': pip install 'capeval[server]'\n"


def test_https_without_a_proxy(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    live = Live(
        tmp_path, f"sqlite:///{tmp_path / 'capeval.db'}", "--tls-certificate", str(certificate), "--tls-key", str(key)
    )
    live.url = live.url.replace("http:", "https:")
    live.certificate = certificate
    live.start()
    try:
        context = ssl.create_default_context(cafile=str(certificate))
        answer = httpx.get(live.url + "/sign-in", verify=context)
        assert answer.headers["set-cookie"].startswith("__Host-capeval=")
        assert live.stop() == 0
    finally:
        live.process.kill()
        live.process.wait()
