"""`sacrecap study serve`: from the rows of a board to what people would say, and who may do what."""

from __future__ import annotations

import contextlib
import csv
import html
import json
import random
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx2 import Client
from study_world import triplet_file

from command_line import run
from runner import Runner
from sacrecap import example
from sacrecap_server.store.database import Database
from sacrecap_server.studies.repository import make_once
from sacrecap_server.web.context import Role
from sacrecap_server_testing.live import Live
from sacrecap_server_testing.world import TOKEN, World
from sacrecap_studies.design import read_design

__all__ = ["run"]

QUALITY = {"careful": 5, "plain": 3, "template": 2}


class Visitor:
    """A browser over real HTTP, which sends the forms of the pages that it has got."""

    def __init__(self, url: str) -> None:
        self.client = Client(base_url=url, follow_redirects=True, timeout=60)
        self.page = ""

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def get(self, path: str) -> str:
        self.page = self.client.get(path).raise_for_status().text
        return self.page

    def post(self, path: str, **fields: str) -> str:
        csrf = re.search(r'name="csrf" value="([0-9a-f]{64})"', self.page)[1]
        self.page = self.client.post(path, data={"csrf": csrf, **fields}).raise_for_status().text
        return self.page

    def rate(self, path: str, captions: dict[str, int], answers: int) -> int:
        """Gives a caption the points that its system deserves, or one less; the number of answers that were saved."""
        chance = random.Random(answers)
        for done in range(answers):
            found = re.search(r'name="assignment" value="(\d+)"', self.page)
            if found is None:
                return done
            shown = html.unescape(re.search(r'class="sentence">(.*?)</p>', self.page, re.DOTALL)[1])
            point = captions[shown] - 1 - chance.choice((0, 0, 1))
            self.post(f"{path}/answer", assignment=found[1], active="1500", **{"score-1": str(point)})
        return answers


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Live]:
    live = Live(tmp_path, "study", "serve", "study.json", "--database", "people.db")
    yield live
    if live.process is not None and live.process.poll() is None:
        live.process.kill()
        live.process.wait()


def test_from_a_boards_rows_to_what_people_would_say(run: Runner, served: Live) -> None:
    """The rows of `sacrecap board` become a study; the server is killed while people answer; ratings calibrate.

    The token that the server makes is told once, and kept for its owner alone.
    """
    folder, images = run.folder, example.references()
    (folder / "contest" / "systems").mkdir(parents=True)
    (folder / "contest" / "references.json").write_text(json.dumps(images), encoding="utf-8")
    files = []
    for name, captions in example.systems().items():
        files.append(f"contest/systems/{name}.json")
        (folder / files[-1]).write_text(json.dumps(captions), encoding="utf-8")
    run.ok("board", "contest/references.json", "contest/systems", "-o", "site", "--metrics", "rouge-l")
    assert "careful" in (folder / "site" / "board.json").read_text(encoding="utf-8")
    run.ok("study", "make", "likert", "--systems", *files, "--items", "30", "--judgments", "2", "--images",
           "https://images.example.org/{image_id}.jpg", "-o", "study.json", "--quiet")  # fmt: skip
    deserved = {text: QUALITY[name] for name, captions in example.systems().items() for text in captions.values()}

    served.start()
    token = re.search(r"with the token (\S+) \(kept in people\.db\.token\)", served.log())[1]
    with Visitor(served.url) as owner:
        owner.get("/")
        assert "The study is paused" in owner.post("/sign-in", token=token, next="/studies/1")
        owner.post("/studies/1/state", state="open")
        link = re.search(rf"{served.url}(/s/[\w-]+)", owner.get("/studies/1"))[1]
    with Visitor(served.url) as one, Visitor(served.url) as other:
        for person in (one, other):
            person.get(link)
            person.post(f"{link}/begin")
            assert person.rate(link, deserved, 10) == 10
        served.kill()
        served.start()
        for person in (one, other):
            person.get(f"{link}/task")
            assert person.rate(link, deserved, 100) == 20
    assert served.log().count(token) == 1
    assert "with the token in people.db.token" in served.log()
    kept = folder / "people.db.token"
    assert kept.read_text().strip() == token
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, folder / "people.db")] == [0o600, 0o600]

    with Client(headers={"Authorization": f"Bearer {token}"}) as program:
        exported = program.get(f"{served.url}/api/v1/studies/1/export").raise_for_status()
    (folder / "ratings.jsonl").write_text(exported.text, encoding="utf-8")
    lines = [json.loads(line) for line in exported.text.splitlines()]
    assert len(lines) == 30
    assert all(line["complete"] and len(line["rating"]) == 2 for line in lines)
    run.ok("compare", "contest/references.json", "contest/systems", "--metrics", "rouge-l", "--interval", "none",
           "--per-image", "scores.csv")  # fmt: skip
    table = run.ok("calibrate", "scores.csv", "ratings.jsonl", "--format", "csv")
    said = {row["of"]: float(row["estimate"]) for row in csv.DictReader(table.splitlines())}
    assert said["careful"] > said["plain"] > said["template"]
    assert served.stop() == 0


def test_what_is_refused(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(*arguments: str) -> str:
        ended = run.here("study", "serve", *arguments)
        assert (ended.status, ended.stdout) == (2, "")
        return " ".join(ended.stderr.split())

    study = run.folder / "study.json"
    study.write_text(json.dumps(triplet_file()), encoding="utf-8")
    assert "none.json: no such file" in told("none.json")
    assert "none.json: no such file" in told("study.json", "none.json")
    assert "needs a proxy that has TLS" in told("study.json", "--host", "0.0.0.0")  # noqa: S104 - which is refused
    assert not (run.folder / "study.db").exists()
    monkeypatch.setenv("SACRECAP_STUDY_TOKEN", "short")
    assert "SACRECAP_STUDY_TOKEN has 5 characters and needs 32 or more" in told("study.json")
    monkeypatch.setenv("SACRECAP_STUDY_TOKEN", TOKEN)
    with contextlib.closing(Database(str(run.folder / "study.db"))) as database:
        database.prepare()
        added(database, "study.json", study.read_bytes())
    study.write_text(json.dumps(triplet_file(judgments=1)), encoding="utf-8")
    assert "study.json: the file has changed since its study was made, in study.db" in told("study.json")
    assert not (run.folder / "study.db.token").exists()
    monkeypatch.delenv("SACRECAP_STUDY_TOKEN")
    (run.folder / "study.db.token").write_text("\n")
    assert "study.db.token: has no token" in told("study.json")


def added(database: Database, name: str, data: bytes) -> None:
    with database.write() as session:
        assert not make_once(session, name, data, read_design(data))


def test_several_files_are_studies_of_one_server_and_none_of_them_twice(world: World) -> None:
    files = {f"{title}.json": json.dumps(triplet_file(title=title)).encode() for title in ("One", "Two")}
    for _ in range(2):
        for name, data in files.items():
            added(world.database, name, data)
    added(world.database, "again.json", files["One.json"])
    owner = world.browser(Role.OWNER)
    assert re.findall(r'<a href="/studies/\d+">(.*?)</a>', owner.get("/studies").text) == ["Two", "One"]
    # Titles may be equal: the list and the page name the file.
    assert re.findall(r"<small><bdi>(.*?)</bdi>", owner.get("/studies").text) == ["Two.json", "One.json"]
    assert "<bdi>One.json</bdi>" in owner.get("/studies/1").text
    assert owner.post("/studies/1/delete", title="One").status_code == 303
    added(world.database, "One.json", files["One.json"])
    assert owner.get("/studies/1").status_code == 404, "what the owner deleted does not come back with the next start"
    changed = json.dumps(triplet_file(title="Two", judgments=1)).encode()
    with world.database.write() as session:
        assert "has changed" in make_once(session, "Two.json", changed, read_design(changed))


@pytest.fixture
def alone(world: World) -> World:
    """A server with a study of a file."""
    added(world.database, "study.json", json.dumps(triplet_file(personal_links=True)).encode())
    return world


def test_only_the_owner_comes_in(alone: World) -> None:
    stranger, owner = alone.browser(), alone.browser()
    assert stranger.get("/studies/1").headers["location"] == "/sign-in?next=/studies/1"
    assert stranger.post("/sign-in", token="f" * 32).status_code == 403
    assert stranger.post("/sign-in").status_code == 403
    for away in (
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example",
        "/\t/evil.example",
        "evil",
    ):
        assert owner.post("/sign-in", token=TOKEN, next=away).headers["location"] == "/"
    page = owner.get("/studies/1").text
    assert "Which is closer?" in page
    assert owner.post("/sign-out").status_code == 303
    assert owner.get("/studies/1").status_code == 303


def test_another_token_ends_what_the_old_one_began(tmp_path: Path) -> None:
    def started(token: str) -> World:
        return World(tmp_path, owner_token=token)

    world = started(TOKEN)
    added(world.database, "study.json", json.dumps(triplet_file()).encode())
    owner = world.browser()
    owner.post("/sign-in", token=TOKEN)
    cookies = dict(owner.client.cookies)
    for token, status in ((TOKEN, 200), ("u" * 32, 303)):
        world.state.close()
        world = started(token)
        again = world.client()
        again.cookies.update(cookies)
        assert again.get("/studies/1").status_code == status
        api = world.client()
        assert api.get("/api/v1/studies", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert api.get("/api/v1/studies", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 401
    world.state.close()


def test_tokens_are_tried_so_often_from_one_address(alone: World) -> None:
    alone.state.sign_ins.times = 3
    browser = alone.browser()
    assert [browser.post("/sign-in", token="f" * 32).status_code for _ in range(4)] == [403, 403, 403, 429]
    assert browser.post("/sign-in", token=TOKEN).status_code == 429
    assert alone.browser(address="192.0.2.1").post("/sign-in", token=TOKEN).status_code == 303


def test_personal_links_are_those_of_the_server(alone: World) -> None:
    owner = alone.browser()
    owner.post("/sign-in", token=TOKEN)
    owner.post("/studies/1/state", state="open")
    table = owner.post("/studies/1/links", workers="anna\nbert").text
    anna = next(row["link"] for row in csv.DictReader(table.splitlines()) if row["worker"] == "anna")
    path = re.search("/s/.*", anna)[0]
    assert 'action="' + path.partition("?")[0] + '/begin"' in alone.browser().get(path).text
    assert "Please come by your personal link" in alone.browser().get(path.partition("?")[0]).text
