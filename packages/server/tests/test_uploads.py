"""Checks of uploads: bounded, complete, and closed to files that only probe the references."""

from __future__ import annotations

import json
import threading

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

from sacrecap.boards import leaks
from sacrecap.boards.leaks import CaptionLimits
from sacrecap_server.accounts.access import Role
from sacrecap_server.accounts.limits import Window
from sacrecap_server.boards import examination
from sacrecap_server.errors import Refused
from sacrecap_server.jobs.child import ChildFailedError
from sacrecap_server.web.receive import MOST_INSIDE, MOST_OF_ONE, UploadRoom
from sacrecap_server_testing.benchmark import SYSTEMS, make, submit

CAPTIONS = json.loads(SYSTEMS["careful"])
WRONG = SYSTEMS["careful"][:-3]
API = "/api/v1/benchmarks/ours/submissions?system=x"


class Held:
    """A check that lasts until it is let go, and the most that ran at once."""

    def __init__(self) -> None:
        self.began, self.free = threading.Event(), threading.Event()
        self.running = self.most = 0

    def __call__(self, *_: object) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        self.began.set()
        assert self.free.wait(600)
        self.running -= 1
        raise ChildFailedError


def test_wrong_files_are_gone_through_one_at_a_time_and_nobody_waits_for_it(world, monkeypatch):
    """While three accounts send wrong files, the site answers as usual."""
    make(world)
    held = Held()
    monkeypatch.setattr(examination, "run_child", held)
    clients = {role: world.api(role) for role in (Role.MEMBER, Role.ORGANISER, Role.ADMIN)}
    answers = []
    first = threading.Thread(target=lambda: answers.append(clients[Role.MEMBER].post(API, content=WRONG)))
    first.start()
    assert held.began.wait(600)
    try:
        others = [clients[role].post(API, content=WRONG) for role in clients for _ in range(4)]
        for answer in others:
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "20"
            assert "going through another file" in answer.json()["error"]["message"]
            assert "JSON" in answer.json()["error"]["problems"][0]
        page = submit(world, WRONG)
        assert (page.status_code, page.headers["retry-after"]) == (503, "20")
        assert "going through another file" in page.text
        assert world.browser().get("/healthz").status_code == 200
        assert world.browser().get("/benchmarks/ours").status_code == 200
        assert clients[Role.ADMIN].post(API, content=SYSTEMS["careful"]).status_code == 201
    finally:
        held.free.set()
        first.join()
    assert held.most == 1
    assert [answer.status_code for answer in answers] == [422]


def test_only_so_many_uploads_wait_and_few_of_one_account():
    """What waits holds no thread, and what is too much is told when to come back."""
    room = UploadRoom()
    free, done = threading.Event(), []

    async def upload(account: int) -> None:
        async with room.place(account):
            await room.run(lambda: done.append(free.wait(600)))

    async def flood() -> None:
        async with anyio.create_task_group() as group:
            for number in range(MOST_INSIDE):
                group.start_soon(upload, number // MOST_OF_ONE)
            await anyio.wait_all_tasks_blocked()
            for account, words, status in ((0, "of this account are", 429), (99, "checking many files", 503)):
                with pytest.raises(Refused, match=words) as refused:
                    await upload(account)
                assert refused.value.status == status
                assert refused.value.retry_after
            free.set()
        await upload(99)

    with start_blocking_portal() as portal:  # in a thread: a browser test may keep a loop in this one
        portal.call(flood)
    assert done == [True] * (MOST_INSIDE + 1)


def test_problems_of_the_same_kind_are_one_line(world):
    """56 images without a caption are one line, which names the first of them."""
    make(world)
    entries = [{"image_id": image, "caption": caption} for image, caption in CAPTIONS.items()]
    api = world.api(Role.MEMBER)
    (missing,) = api.post(API, content=json.dumps(entries[:4]).encode()).json()["error"]["problems"]
    assert missing.startswith(f"56 images have no caption: {entries[4]['image_id']!r}, ")
    assert missing.endswith(" and 46 more.")
    for entry in entries[2:5]:
        entry["caption"] = None
    problems = api.post(API, content=json.dumps(entries).encode()).json()["error"]["problems"]
    assert problems == ["3 times, at Entry 3, Entry 4, Entry 5: its caption must be text, got nothing."]


def test_large_files_have_a_limit_of_their_own(world):
    """When it is reached, smaller files are still taken."""
    make(world)
    world.state.limits.submit_large.rule = Window(1, 60)
    api = world.api(Role.MEMBER)
    large = SYSTEMS["careful"] + b" " * (8 * 2**20)
    assert [api.post(API, content=large).status_code for _ in range(2)] == [201, 429]
    assert api.post(API, content=SYSTEMS["plain"]).status_code == 201


def _padded(captions: dict[str, str], word: str) -> dict[str, str]:
    """The lengths of eight captions let the sum of the scores tell which references have the word."""
    attack = {image: f"{word} {'zzz ' * (2**i - 1)}" for i, image in enumerate(list(captions)[:8])}
    return {**captions, **attack}


def test_files_that_probe_the_references_are_refused_with_their_counts(world):
    """These captions are mostly empty, padded, the same or far too long."""
    make(world, metrics="cider-d, rouge-l")
    api = world.api(Role.MEMBER)
    for captions, reason in (
        ({**dict.fromkeys(CAPTIONS, ""), next(iter(CAPTIONS)): "a dog"}, "59 without a letter or digit"),
        (dict.fromkeys(CAPTIONS, " . ! "), "60 of 60 captions are degenerate"),
        (_padded(dict.fromkeys(CAPTIONS, ""), "dog"), "57 of 60 captions are degenerate"),
        (_padded(CAPTIONS, "dog"), "5 of 60 captions are degenerate"),
        ({**dict.fromkeys(CAPTIONS, "qqq"), next(iter(CAPTIONS)): "a dog"}, "59 of 60 captions are the same, 'qqq'"),
        ({image: " ".join(f"w{i}" for i in range(101)) for image in CAPTIONS}, "60 of more than 100 words"),
    ):
        refused = api.post(API, content=json.dumps(captions).encode())
        assert refused.status_code == 422, refused.text
        assert any(reason in problem for problem in refused.json()["error"]["problems"]), refused.text


def test_the_limits_are_the_benchmarks(world):
    few = dict(CAPTIONS)
    for image in list(few)[:3]:
        few[image] = "."
    make(world)
    make(world, slug="strict", most_degenerate="0")
    make(world, slug="lax", most_degenerate="100", most_same="100", longest_words="1")
    api = world.api(Role.MEMBER)

    def status(slug: str, captions: dict[str, str]) -> int:
        return api.post(f"/api/v1/benchmarks/{slug}/submissions?system=x", content=json.dumps(captions)).status_code

    assert status("ours", few) == 201
    assert status("strict", few) == 422
    assert status("lax", dict.fromkeys(CAPTIONS, "")) == 201
    body = api.get("/api/v1/benchmarks/strict").json()
    assert (body["most_degenerate"], body["most_same"], body["longest_words"]) == (0, 30, 100)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_examples_systems_pass(system):
    assert leaks.problems(json.loads(SYSTEMS[system]).values(), CaptionLimits()) == []


def test_real_systems_pass(shared):
    """The limits are far above what systems and people write."""
    files = [*shared.glob("data/coco-val2017/systems/*.json"), shared / "data/flickr8k-2k/candidates.json"]
    assert len(files) == 6
    for path in files:
        read = json.loads(path.read_text())
        texts = [entry["caption"] for entry in read] if isinstance(read, list) else [*read.values()]
        captions = [text if isinstance(text, str) else text[0] for text in texts]
        assert leaks.problems(captions, CaptionLimits(1, 5, 50)) == [], path.name


def test_two_equal_captions_of_a_small_file_are_no_sign_of_anything():
    limits = CaptionLimits(most_same=10)
    captions = ["a dog runs", "a dog runs", "a cat sleeps", "a bird sings"]
    assert leaks.problems(captions, limits) == []
    assert leaks.problems([*captions, "a dog runs"], limits)
