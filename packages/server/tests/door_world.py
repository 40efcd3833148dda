"""A contest and its door, in this process or in one of its own, and those who come to it."""

from __future__ import annotations

import datetime as dt
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2 as httpx

from sacrecap import example
from sacrecap_server.contest.door import Door, Proxy, create_app
from sacrecap_server.contest.ledger import Team
from sacrecap_server.contest.signatures import HOST
from sacrecap_server.settings import ServerSettings
from sacrecap_server_testing.in_process import run_here
from sacrecap_server_testing.ports import free_port
from sacrecap_server_testing.transport import InProcess

SYSTEMS = example.systems()
URL = "http://127.0.0.1:8080"
START = dt.datetime(2027, 3, 31, 23, 59, 50, tzinfo=dt.timezone.utc)


def file_of(system: str = "careful", **changed: Any) -> bytes:
    """The captions of a system of the example, some of them replaced."""
    return json.dumps({**SYSTEMS[system], **changed}).encode()


def another(number: int) -> bytes:
    """A good file like no other."""
    image = next(iter(SYSTEMS["careful"]))
    return file_of(**{image: f"a dog runs over the beach number {number}"})


def make_contest(folder: Path, *lines: str, **tables: str) -> Path:
    """The folder of a contest whose references are beside it."""
    (folder / "hidden").mkdir(parents=True, exist_ok=True)
    (folder / "hidden" / "c5.json").write_text(json.dumps(example.references()))
    ours = folder / "ours"
    ours.mkdir(exist_ok=True)
    head = ['title = "Our contest"', 'references = ["../hidden/c5.json"]', 'metrics = "cider-d, bleu-4"', *lines]
    text = [f"[{name}]\n{values}" for name, values in tables.items()]
    (ours / "contest.toml").write_text("\n".join([*head, *text]) + "\n")
    return ours


class Contest:
    """A door in this process; its ranker runs where a test says so."""

    def __init__(
        self, folder: Path, *lines: str, url: str = URL, proxy: Proxy | None = None, run: Any = run_here, **tables: str
    ) -> None:
        self.folder = make_contest(folder, *lines, **tables)
        self.state = folder / "ours.door"
        self.state.mkdir(exist_ok=True)
        self.site = self.state / "site"
        self.door = Door(self.folder, self.state, self.site, url, proxy=proxy, run=run)
        self.app = create_app(self.door, ServerSettings(public_url=url if "127.0.0.1" not in url else None))
        self.now = START
        self.door.ledger.clock = lambda: self.now

    def team(self, name: str = "Team A") -> Team:
        return self.door.ledger.make_team(name)

    def token(self, team: Team) -> str:
        return self.door.link(team).partition("#")[2]

    def program(self, team: Team | str = "Team A", **headers: str) -> httpx.Client:
        """A program with the link of a team."""
        team = self.team(team) if isinstance(team, str) else team
        return self.client(Authorization=f"Bearer {self.token(team)}", **headers)

    def client(self, address: str = "testclient", **headers: str) -> httpx.Client:
        """Anybody."""
        base = self.door.url
        return httpx.Client(transport=InProcess(self.app, address), base_url=base, headers=headers)

    def browser(self, team: Team | str = "Team A") -> Browser:
        team = self.team(team) if isinstance(team, str) else team
        browser = Browser(self.client())
        browser.enter(self.token(team))
        return browser

    def host(self) -> Browser:
        team = self.door.ledger.team(HOST)
        assert team is not None
        return self.browser(team)

    def submit(self, data: bytes, team: Team | str = "Team A", **query: str) -> httpx.Response:
        return self.program(team).post("/submit", params={"system": "mine", "file": "a.json", **query}, content=data)

    def rank(self) -> dict[str, Any]:
        """Scores what waits, makes the board, and reads it."""
        while self.door.ranker.score_one():
            pass
        self.door.ranker.make_board()
        return self.board()

    def board(self) -> dict[str, Any]:
        return json.loads((self.site / "board.json").read_text())

    def stored(self) -> list[Path]:
        """Everything in the folders of teams."""
        return sorted(path for path in (self.folder / "submissions").glob("*/*"))


class Browser:
    """Keeps the cookie, and sends the token of a form that it has seen."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def enter(self, token: str, **headers: str) -> httpx.Response:
        return self.client.post("/enter", data={"token": token}, headers=headers)

    def get(self, path: str) -> httpx.Response:
        return self.client.get(path)

    def csrf(self) -> str:
        page = self.client.get("/team").text + self.client.get("/host").text
        return page.partition('name="csrf" value="')[2].partition('"')[0]

    def post(self, path: str, **values: Any) -> httpx.Response:
        return self.client.post(path, data={"csrf": self.csrf(), **values})

    def upload(
        self, data: bytes, name: str = "a.json", system: str = "mine", csrf: str | None = None
    ) -> httpx.Response:
        form = {"csrf": self.csrf() if csrf is None else csrf, "system": system}
        return self.client.post("/submit", data=form, files={"file": (name, data, "application/json")})


class LiveDoor:
    """`sacrecap contest serve` in a process of its own, which can be killed and started again."""

    def __init__(self, contest: Path, *options: str, environment: dict[str, str] | None = None) -> None:
        self.contest = contest
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.options = options
        self.environment = {**os.environ, **(environment or {})}
        self.log = contest.with_name("log")
        self.process: subprocess.Popen[bytes] | None = None
        self.clients: list[httpx.Client] = []

    def command(self, *words: str) -> list[str]:
        program = (
            "import sys; from sacrecap_server.cli.contest import command; "
            "result = command(sys.argv[1:], standalone_mode=False); sys.exit(result() if callable(result) else 0)"
        )
        return [sys.executable, "-c", program, *words]

    def start(self) -> None:
        with open(self.log, "ab") as log:
            began = log.tell()
            words = ("serve", str(self.contest), "--port", str(self.port), *self.options)
            self.process = subprocess.Popen(self.command(*words), stderr=log, env=self.environment)
        while b"sacrecap: serving " not in self.log.read_bytes()[began:]:
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.02)

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        assert self.process is not None
        for client in self.clients:
            client.close()
        self.process.terminate()
        return self.process.wait()

    def link(self, name: str) -> str:
        words = ("team", name, str(self.contest), "--public-url", self.url)
        return subprocess.run(self.command(*words), check=True, capture_output=True, text=True).stdout.strip()

    def command_link(self, name: str) -> str:
        """The link that a command without a team prints."""
        words = (name, str(self.contest), "--public-url", self.url)
        return subprocess.run(self.command(*words), check=True, capture_output=True, text=True).stdout.strip()

    def program(self, name: str) -> httpx.Client:
        token = self.link(name).partition("#")[2]
        self.clients.append(httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=600))
        return self.clients[-1]
