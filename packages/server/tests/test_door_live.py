"""`sacrecap contest serve` in a process of its own: killed, without space, sent too much; and its commands."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import socket
import stat
import subprocess
import sys
import threading
import time

import httpx2 as httpx
import pytest
from door_world import LiveDoor, another, file_of, make_contest

ENDS = "ends = 2100-01-01T00:00:00Z"


@pytest.fixture
def live(tmp_path):
    with contextlib.ExitStack() as ends:

        def start(*options, **how):
            door = LiveDoor(make_contest(tmp_path, ENDS), *options, **how)
            door.start()
            ends.callback(lambda: door.process.poll() is not None or door.stop())
            return door

        yield start


def wait_for(condition):
    ends = time.monotonic() + 300
    while not (found := condition()):
        assert time.monotonic() < ends
        time.sleep(0.1)
    return found


def test_nothing_that_was_acknowledged_is_lost_by_three_kills(live):
    door = live()
    told, ends = [], threading.Event()
    clients = [door.program(f"Team {number}") for number in range(3)]

    def team(number):
        sent = 0
        while not ends.is_set():
            data = another(1000 * number + sent)
            try:
                answer = clients[number].post("/submit?system=x&file=a.json", content=data)
            except httpx.HTTPError:
                time.sleep(0.1)  # the same file again: whoever was not told must lose and spend nothing
                continue
            if answer.status_code in (200, 201):
                told.append((f"Team-{number}", hashlib.sha256(data).hexdigest()))
                sent += 1
            elif answer.status_code == 429:
                time.sleep(1)

    threads = [threading.Thread(target=team, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            seen = len(told)
            wait_for(lambda seen=seen: len(told) > seen)
            time.sleep(random.random() / 2)
            door.kill()
            door.start()
        seen = len(told)
        wait_for(lambda: len(told) > seen)
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    submissions = door.contest / "submissions"
    stored = [(path.parent.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in submissions.glob("*/*")]
    assert set(told) <= set(stored)
    assert len(stored) == len(set(stored))
    assert not list(submissions.glob("*/.*"))
    for client in clients:
        listed = wait_for(lambda client=client: _scored(client.get("/team").json()["submissions"]))
        assert len({each["sha256"] for each in listed}) == len(listed)
    assert "Traceback" not in door.log.read_text()


def _scored(listed):
    return listed if all(each["state"] == "scored" for each in listed) else None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
def test_without_space_nothing_is_taken_and_with_it_again_all_goes_on(live):
    import resource

    door = live()
    client = door.program("Team A")
    assert client.post("/submit?system=x", content=another(1)).status_code == 201
    pages = (door.contest / "submissions").glob("*/*")
    before = sorted(pages)
    resource.prlimit(door.process.pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    refused = client.post("/submit?system=x", content=another(2))
    assert refused.status_code == 507
    assert "no space left" in refused.text
    assert client.get("/team").status_code == 200
    assert sorted((door.contest / "submissions").glob("*/*")) == before
    assert not list((door.contest / "submissions").glob("*/.*"))
    resource.prlimit(door.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert client.post("/submit?system=x", content=another(2)).status_code == 201
    assert len(wait_for(lambda: _scored(client.get("/team").json()["submissions"]))) == 2


def test_bodies_of_forty_megabytes_are_refused(live):
    """By what they say of their size, and, where they do not say it, by what arrives."""
    door = live()
    token = door.link("Team A").partition("#")[2]
    for header in ("Content-Length: 41943040", "Transfer-Encoding: chunked"):
        with socket.create_connection(("127.0.0.1", door.port)) as connection:
            head = f"POST /submit HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{header}\r\n\r\n"
            connection.sendall(head.encode())
            if "chunked" in header:
                with contextlib.suppress(OSError):
                    for _ in range(40):
                        connection.sendall(b"100000\r\n" + b"a" * 0x100000 + b"\r\n")
            assert b" 413 " in connection.recv(1000).splitlines()[0]
    assert not (door.contest / "submissions").exists() or not list((door.contest / "submissions").glob("*/*"))


def test_a_submission_of_a_hundred_thousand_images(tmp_path):
    words = "red green blue dog cat man runs over wet dry grass under a tall tree and old house".split()
    pick = random.Random(1)
    captions = {f"{number:06}": " ".join(pick.choices(words, k=9)) for number in range(100_000)}
    contest = make_contest(tmp_path, ENDS)
    (tmp_path / "hidden" / "c5.json").write_text(
        json.dumps({image: [text, " ".join(pick.choices(words, k=9))] for image, text in captions.items()})
    )
    door = LiveDoor(contest)
    door.start()
    try:
        client = door.program("Team A")
        changed = {**captions, **dict.fromkeys(list(captions)[::7], "a man runs under an old tree today")}
        began = time.monotonic()
        answer = client.post("/submit?system=x", content=json.dumps(changed).encode(), timeout=600)
        assert answer.status_code == 201, answer.text
        assert time.monotonic() - began < 120
        wait_for(lambda: _scored(client.get("/team").json()["submissions"]))
    finally:
        door.stop()


def test_one_process_serves_a_contest_and_its_key_is_its_owners(live):
    door = live()
    again = subprocess.run(door.command("serve", str(door.contest)), capture_output=True, text=True, check=False)
    assert again.returncode != 0
    assert "is served already" in again.stderr
    state = door.contest.with_name("ours.door")
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert stat.S_IMODE((state / "key").stat().st_mode) == 0o600
    link = door.link("Team A")
    assert door.stop() == 0
    (state / "key").chmod(0o644)
    refused = subprocess.run(door.command("serve", str(door.contest)), capture_output=True, text=True, check=False)
    assert "others may read it" in refused.stderr
    assert link.partition("#")[2] not in door.log.read_text()


def test_submissions_have_one_state_whose_links_and_quotas_count(live, tmp_path):
    """Another one would give a team its quota once more, and print links that open nothing."""
    door = live()
    link = door.link("Team A")
    ours = str(door.contest)
    for words in (("serve", ours), ("team", "Team A", ours), ("host", ours)):
        command = door.command(*words, "--state", str(tmp_path / "other"))
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert refused.returncode != 0
        assert "by another --state" in refused.stderr
    door.stop()
    # It goes along with the contest, and may get another place itself.
    for name in ("ours", "ours.door"):
        (tmp_path / name).rename(tmp_path / f"moved-{name}")
    words = ("team", "Team A", str(tmp_path / "moved-ours"), "--state", str(tmp_path / "moved-ours.door"))
    again = subprocess.run(door.command(*words), capture_output=True, text=True, check=True)
    assert again.stdout.strip() == link


def test_commands_renew_and_revoke_while_the_door_is_served(live):
    door = live()

    def link(*options, command="team"):
        words = [command, *(["Team A"] if command == "team" else []), str(door.contest), *options]
        return subprocess.run(door.command(*words), capture_output=True, text=True, check=False)

    first = link().stdout.strip()
    assert first.startswith(f"{door.url}/enter#Team-A.0.")
    assert link().stdout.strip() == first

    def opens(address):
        token = address.partition("#")[2]
        return httpx.post(f"{door.url}/enter", data={"token": token}).status_code

    assert opens(first) == 303
    second = link("--renew").stdout.strip()
    assert (opens(first), opens(second)) == (403, 303)
    assert "is shut out" in link("--revoke").stdout
    assert opens(second) == 403
    assert "--renew lets the team in again" in link().stderr
    assert opens(link("--renew").stdout.strip()) == 303
    ours = str(door.contest)
    for words, told in (
        (("team", "Tea", ours, "--revoke"), "known are Team A"),
        (("serve", ours, "--site", "hidden"), "participants must not see"),
    ):
        refused = subprocess.run(
            door.command(*words), capture_output=True, text=True, check=False, cwd=door.contest.parent
        )
        assert refused.returncode != 0
        assert told in refused.stderr
    host = link(command="host").stdout.strip()
    assert opens(host) == 303
    assert opens(link("--renew", command="host").stdout.strip()) == 303
    assert opens(host) == 403
    refused = subprocess.run(
        door.command("team", "A", str(door.contest), "--state", str(door.contest / "state")),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "is shown to whoever sees the contest" in refused.stderr


def test_a_file_goes_through_the_command_and_back(live, tmp_path):
    """`sacrecap submit`: the link from a file, problems by row with status 2, JSON, and the list."""
    door = live()
    (tmp_path / "link").write_text(door.link("Team A"))
    (tmp_path / "good.json").write_bytes(file_of())
    (tmp_path / "bad.json").write_text('[{"image_id": "beach-dog", "caption": 3}]')

    def submit(*words):
        command = [sys.executable, "-m", "sacrecap", "submit", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    good = submit("link", "good.json", "--system", "Mine", "--format", "json")
    assert good.returncode == 0, good.stderr
    told = json.loads(good.stdout)
    assert (told["system"], told["state"], told["sets"]["c5"]["scores"]["cider-d"]) == (
        "Team-A/001-Mine",
        "scored",
        1.8334,
    )
    bad = submit("link", "bad.json")
    assert bad.returncode == 2
    assert "Entry 1: its caption must be text" in bad.stderr
    assert "Team-A/001-Mine" in submit("link").stdout
    assert submit("link", "good.json", "--no-wait").returncode == 0
    assert "http:// would be sent unencrypted" in submit("http://example.org/enter#a.0.b", "good.json").stderr
    assert "LINK must be" in submit("https://example.org/enter", "good.json").stderr
    assert "no answer of a contest" in submit("http://127.0.0.1:9/enter#a.0.b", "good.json").stderr
