"""The client of endpoints: faults, the key, the budget, the database of answers; all over loopback."""

from __future__ import annotations

import logging
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fake_endpoint import BROKEN, BUSY, MODEL, FakeEndpoint, Reply, always
from sacrecap import Endpoint
from sacrecap.errors import SacrecapError, SacrecapWarning, UsageError
from sacrecap.resources import endpoint as module
from sacrecap.resources.endpoint import Question

PNG = b"\x89PNG and more"
SECRET = "sk-of-nobody-0123456789"  # noqa: S105


@pytest.fixture
def answers(tmp_path: Path) -> str:
    return str(tmp_path / "folder" / "answers.sqlite")


def texts(*said: str) -> list[Question]:
    return [Question(text) for text in said]


def rows(answers: str) -> int:
    with sqlite3.connect(answers) as database:
        [[count]] = database.execute("SELECT count(*) FROM answers")
    database.close()
    return int(count)


def test_each_question_is_asked_once_and_kept(answers: str) -> None:
    with FakeEndpoint(lambda body, _: Reply(f"re: {body['messages'][0]['content']}")) as fake:
        first = Endpoint(fake.url, "judge", answers=answers, price=(1.0, 10.0))
        said = first.ask(texts("a", "b", "a"))
        assert [answer.text for answer in said] == ["re: a", "re: b", "re: a"]
        assert len(fake.requests) == 2
        assert (first.usage.asked, first.usage.kept, first.usage.tokens_in, first.usage.tokens_out) == (2, 0, 200, 20)
        assert first.usage.money == pytest.approx(2 * (100 * 1 + 10 * 10) / 1e6)
        assert first.models == {MODEL}
        assert first.ask(texts("b")) == [said[1]]
        assert first.usage.kept == 0, "it was answered here"
        second = Endpoint(fake.url + "/", "judge", answers=answers)
        assert second.ask(texts("b", "a")) == [said[1], said[0]]
        assert (second.usage.asked, second.usage.kept, second.usage.money) == (0, 2, None)
        assert len(fake.requests) == 2


@pytest.mark.parametrize(
    "other",
    [
        Question("b", (lambda: PNG,)),
        Question("a", (lambda: PNG + b"!",)),
        Question("a"),
        Question("a", (lambda: PNG,), tokens=9),
        Question("a", (lambda: PNG,), temperature=0.5),
        Question("a", (lambda: PNG,), top_p=0.5),
        Question("a", (lambda: PNG,), alternatives=5),
        Question("a", (lambda: PNG,), seed=1),
    ],
)
def test_another_question_has_another_answer(answers: str, other: Question) -> None:
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask([Question("a", (lambda: PNG,)), other])
        assert len(fake.requests) == 2


def test_how_a_model_is_asked_is_said_by_name() -> None:
    """Numbers by place once changed their meaning when a parameter came between them."""
    with pytest.raises(TypeError):
        Question("a", (), 9)  # type: ignore[misc]


def test_another_model_or_endpoint_never_gets_the_answer(answers: str) -> None:
    with always("one") as fake, always("two") as other:
        for url, model, text in [(fake.url, "a", "one"), (fake.url, "b", "one"), (other.url, "a", "two")]:
            assert Endpoint(url, model, answers=answers).ask(texts("q"))[0].text == text
        assert (len(fake.requests), len(other.requests)) == (2, 1)
    assert rows(answers) == 3


def test_images_are_sent_as_they_are(answers: str) -> None:
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask([Question("what?", (lambda: PNG,), alternatives=7, seed=3)])
        [asked] = fake.requests
    [picture, text] = asked.body["messages"][0]["content"]
    assert picture["image_url"]["url"] == "data:image/png;base64,iVBORyBhbmQgbW9yZQ=="
    assert text == {"type": "text", "text": "what?"}
    del asked.body["messages"]
    assert asked.body == {
        "model": "judge",
        "max_tokens": 256,
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 7,
        "seed": 3,
    }


FAULTS = [BUSY, BROKEN, Reply(raw=b'{"choices": ['), Reply("cut", cut=True), Reply(raw=b"{}"), Reply("slow", wait=0.6)]


def test_faults_are_asked_again(answers: str) -> None:
    with FakeEndpoint(lambda _, times: [*FAULTS, Reply("well")][min(times, len(FAULTS) + 1) - 1]) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, timeout=0.5)
        assert [answer.text for answer in endpoint.ask(texts("a", "b"))] == ["well"] * 2
        assert len(fake.requests) == 2 * (len(FAULTS) + 1)
        assert endpoint.usage.asked == 2
        assert endpoint.usage.retries > 0
    assert rows(answers) == 2


def test_an_endpoint_that_never_answers_ends_the_call_and_keeps_the_rest(
    answers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ATTEMPTS", 2)

    def answer(body: dict[str, Any], _: int) -> Reply:
        return BROKEN if "bad" in str(body) else Reply("yes")

    with FakeEndpoint(answer) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, at_once=1)
        with pytest.raises(SacrecapError, match="does not answer: .*500.*a fault.*kept: run it again to go on"):
            endpoint.ask(texts("a", "b", "bad", "never"))
        assert rows(answers) == 2
        assert endpoint.ask(texts("a", "never"))[1].text == "yes"
    with pytest.raises(SacrecapError, match="does not answer: Connection error"):
        Endpoint(fake.url, "judge", answers=answers).ask(texts("new"))


@pytest.mark.parametrize(
    ("status", "said"), [(401, "the key with key_env=NAME"), (403, "may use this model"), (404, "name of the model")]
)
def test_what_nobody_would_be_answered_is_not_tried_again(answers: str, status: int, said: str) -> None:
    with FakeEndpoint(lambda *_: Reply(status=status, error={"message": "no"})) as fake:
        with pytest.raises(SacrecapError, match=said):
            Endpoint(fake.url, "judge", answers=answers, at_once=1).ask(texts("a", "b", "c"))
        assert len(fake.requests) == 1


def test_a_redirection_is_not_followed(answers: str) -> None:
    with always("stolen") as other, FakeEndpoint(lambda *_: Reply(status=307, headers={"location": other.url})) as fake:
        with pytest.raises(SacrecapError, match="if you trust it"):
            Endpoint(fake.url, "judge", answers=answers).ask(texts("a"))
        assert not other.requests


def test_one_request_that_is_not_accepted_is_counted(answers: str) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        return Reply(status=400, error={"message": "too large"}) if "large" in str(body) else Reply("yes")

    with FakeEndpoint(answer) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers)
        with pytest.warns(SacrecapWarning, match="did not accept a request: .*too large"):
            assert [answer.end for answer in endpoint.ask(texts("a", "large", "c"))] == ["stop", "error", "stop"]
        assert (endpoint.usage.asked, endpoint.usage.failed) == (3, 1)
    assert rows(answers) == 2, "it is asked again next time"


def test_refusals_are_counted_and_kept(answers: str) -> None:
    replies = {
        "a": Reply("", refusal="I would rather not."),
        "b": Reply("", finish="content_filter"),
        "c": Reply(status=400, error={"message": "no", "code": "content_filter"}),
        "d": Reply("half an ans", finish="length"),
    }
    with FakeEndpoint(lambda body, _: replies[body["messages"][0]["content"]]) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers)
        assert [one.end for one in endpoint.ask(texts(*replies))] == ["refused", "refused", "refused", "length"]
        assert endpoint.usage.refused == 3
    assert rows(answers) == 4


@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ("logprobs", {"max_tokens", "temperature"}),
        ("temperature", {"max_tokens", "logprobs", "top_logprobs"}),
        ("max_tokens", {"max_completion_tokens", "temperature", "logprobs", "top_logprobs"}),
    ],
)
def test_a_parameter_that_the_endpoint_does_not_know_is_left_out(answers: str, refused: str, left: set[str]) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        if refused in body:
            return Reply(status=400, error={"message": f"Unsupported parameter: '{refused}'", "param": refused})
        return Reply("yes")

    with FakeEndpoint(answer) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, at_once=1)
        [one, other] = endpoint.ask([Question("a", alternatives=5), Question("b", alternatives=5)])
        assert one.without == other.without
        assert refused in one.without
        assert len(fake.requests) == 3, "it is tried once"
        assert fake.requests[-1].body.keys() - {"model", "messages"} == left


def test_answers_of_several_models_are_refused(answers: str) -> None:
    with FakeEndpoint(lambda body, _: Reply("yes", model="new" if "b" in str(body["messages"]) else "old")) as fake:
        endpoint = Endpoint(fake.url, "latest", answers=answers)
        endpoint.ask(texts("a"))
        with pytest.raises(SacrecapError, match="several models for latest: new, old"):
            Endpoint(fake.url, "latest", answers=answers).ask(texts("a", "b"))


def test_a_budget_holds(answers: str) -> None:
    with always("yes") as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, budget="1000 tokens")
        with pytest.raises(SacrecapError, match="the budget of 1000 tokens has no room .*give a larger one to go on"):
            endpoint.ask(texts(*map(str, range(100))))
        assert 0 < endpoint.usage.tokens_in + endpoint.usage.tokens_out <= 1000
        assert rows(answers) == endpoint.usage.asked == len(fake.requests)
        again = Endpoint(fake.url, "judge", answers=answers, budget=3e-3, price=(5.0, 5.0), at_once=3)
        with pytest.raises(SacrecapError, match="the budget of 0.003 has no room"):
            again.ask(texts(*map(str, range(100))))
        assert 0 < (again.usage.money or 0) <= 3e-3
        rest = Endpoint(fake.url, "judge", answers=answers, budget=1e6, price=(5.0, 5.0))
        rest.ask(texts(*map(str, range(100))))
        assert len(fake.requests) == 100 == rest.usage.asked + rest.usage.kept


def test_a_budget_that_a_request_uses_up_is_enough(answers: str) -> None:
    [question] = texts("a")
    needed = sum(question.expected_tokens)
    with always("yes") as fake:
        with pytest.raises(SacrecapError, match="has no room"):
            Endpoint(fake.url, "judge", answers=answers, budget=f"{needed - 1} tokens").ask([question])
        assert Endpoint(fake.url, "judge", answers=answers, budget=f"{needed} tokens").ask([question])[0].text == "yes"


def test_another_process_has_no_budget_of_its_own(answers: str) -> None:
    with always("yes") as fake:
        free = pickle.loads(pickle.dumps(Endpoint(fake.url, "judge", answers=answers)))
        assert free.ask(texts("a"))[0].text == "yes"
        bound = pickle.loads(pickle.dumps(Endpoint(fake.url, "judge", answers=answers, budget="100000 tokens")))
        assert bound.ask(texts("a"))[0].text == "yes", "what is kept costs nothing"
        with pytest.raises(SacrecapError, match="a budget is kept by one process"):
            bound.ask(texts("b"))


def test_a_dry_run_asks_nothing(answers: str) -> None:
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask(texts("a"))
        dry = Endpoint(fake.url, "judge", answers=answers, dry_run=True, price=(1.0, 2.0))
        assert [one.end for one in dry.ask([*texts("a", "b"), Question("b", (lambda: PNG,))])] == [
            "stop",
            "unasked",
            "unasked",
        ]
        assert len(fake.requests) == 1
        assert (dry.usage.asked, dry.usage.kept, dry.usage.tokens_out) == (2, 1, 512)
        assert dry.usage.tokens_in > module.TOKENS_AN_IMAGE
        assert str(dry.usage).startswith("dry run, nothing was asked; 2 requests, about ")
        assert str(dry.usage).endswith("in money; 1 answers were there from before")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"url": "localhost:8000"}, "begins with http"),
        ({"url": f"https://{SECRET}@host/v1"}, "a name, a key or a question in it"),
        ({"url": f"https://host/v1?key={SECRET}"}, "a name, a key or a question in it"),
        ({"budget": "5 euro"}, "a budget is money, such as 5, or tokens"),
        ({"budget": 0}, "a budget is money"),
        ({"budget": 5}, "needs the price"),
        ({"at_once": 0}, "at_once must be"),
    ],
)
def test_what_cannot_be_used_is_named(how: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Endpoint(**{"url": "http://localhost:1/v1", "model": "m", **how})
    assert SECRET not in str(caught.value)


def sent(monkeypatch: pytest.MonkeyPatch, url: str, **how: Any) -> str | None:
    """The key that would be sent."""
    return Endpoint(url, "m", **how)._key()


def test_the_key_goes_to_its_own_host_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("MINE", "other")
    assert sent(monkeypatch, "https://api.openai.com/v1") == SECRET
    for url in ("https://api.openai.com.evil.org/v1", "https://openai.com/v1", "http://localhost:8000/v1"):
        assert sent(monkeypatch, url) is None
        assert sent(monkeypatch, url, key_env="MINE") == "other"
    for url in ("http://127.0.0.1:1/v1", "http://[::1]:1/v1", "http://127.9.9.9/v1"):
        assert sent(monkeypatch, url, key_env="MINE") == "other"
    for url in ("http://localhost.evil.org/v1", "http://10.0.0.1/v1", "http://api.openai.com/v1"):
        with pytest.raises(UsageError, match="over plain http"):
            sent(monkeypatch, url, key_env="MINE")
    with pytest.raises(UsageError, match="over plain http"):
        sent(monkeypatch, "http://api.openai.com/v1")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        sent(monkeypatch, "https://api.openai.com/v1")
    with pytest.raises(UsageError, match="YOURS is not set"):
        sent(monkeypatch, "https://host/v1", key_env="YOURS")


def test_nothing_of_the_environment_is_sent_to_other_hosts(answers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Mine: {SECRET}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask(texts("a"))
        assert SECRET not in str(fake.requests[0].headers)
        assert "authorization" not in {name.lower() for name in fake.requests[0].headers}


def test_the_key_is_in_no_log_no_message_and_no_file(
    answers: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MINE", SECRET)
    caplog.set_level(logging.DEBUG)

    def answer(body: dict[str, Any], _: int) -> Reply:
        if "bad" in str(body):
            return Reply(status=401, error={"message": f"Incorrect API key provided: {SECRET}"})
        return Reply("yes")

    with FakeEndpoint(answer) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, key_env="MINE")
        endpoint.ask(texts("a"))
        assert fake.requests[0].headers["authorization"] == f"Bearer {SECRET}"
        with pytest.raises(SacrecapError) as caught:
            endpoint.ask(texts("bad"))
    assert "Incorrect API key provided: …" in str(caught.value)
    told = [str(caught.value), repr(endpoint), str(pickle.dumps(endpoint)), caplog.text]
    assert not [text for text in told if SECRET in text]
    assert SECRET.encode() not in b"".join(file.read_bytes() for file in Path(answers).parent.iterdir())


def test_nothing_is_asked_whose_answer_cannot_be_kept(answers: str) -> None:
    Path(answers).parent.mkdir()
    Path(answers).write_bytes(b"no database at all, but long enough to be one" * 99)
    with always("yes") as fake:
        with pytest.raises(SacrecapError, match="answers cannot be kept there .*remove it"):
            Endpoint(fake.url, "judge", answers=answers).ask(texts("a"))
        assert not fake.requests


def test_without_the_package_its_extra_is_named(answers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ImportError, match=r"pip install 'sacrecap\[judge\]'"):
        Endpoint("http://localhost:1/v1", "judge", answers=answers).ask(texts("a"))


def test_progress_is_told(answers: str) -> None:
    shares: list[float] = []
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask(texts("a", "b", "c", "d"), progress=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]


ASKING = """
import sys
from sacrecap import Endpoint
from sacrecap.resources.endpoint import Question
Endpoint(sys.argv[1], "judge", answers=sys.argv[2]).ask([Question(str(number)) for number in range(100)])
"""


def test_who_is_killed_goes_on_where_it_stopped(answers: str) -> None:
    """Lost are at most the answers that were on their way: as many as there are requests at once."""
    with always("yes", wait=0.01) as fake:
        command = [sys.executable, "-c", ASKING, fake.url, answers]
        process = subprocess.Popen(command)
        deadline = time.monotonic() + 120
        while len(fake.requests) < 30 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.poll() is None, "it was killed in the middle"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        Endpoint(fake.url, "judge", answers=answers).ask(texts(*map(str, range(100))))
        assert len(fake.requests) <= 100 + 8
        assert len({one.text for one in fake.requests}) == 100
    assert rows(answers) == 100


def faulty(seed: int) -> Callable[[dict[str, Any], int], Reply]:
    """Answers with the question's number; a third of the requests meet a fault of any kind first."""
    chance = random.Random(seed)
    faults = [BUSY, BROKEN, Reply(raw=b"{"), Reply(cut=True), Reply(status=503, headers={"retry-after-ms": "5"})]

    def answer(body: dict[str, Any], times: int) -> Reply:
        if times < 5 and chance.random() < 1 / 3:
            return chance.choice(faults)
        return Reply(body["messages"][0]["content"])

    return answer


def soak(answers: str, number: int, at_once: int) -> tuple[Counter[str], list[str]]:
    """How often each question got an answer that can be used, and the answers."""
    with FakeEndpoint(faulty(number)) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, at_once=at_once)
        said = endpoint.ask(texts(*map(str, range(number))))
        usable = [one for one in fake.requests if one.replied.text]
    assert endpoint.usage.asked == number
    return Counter(one.text for one in usable), [answer.text for answer in said]


@pytest.mark.parametrize("number", [100, pytest.param(10_000, marks=pytest.mark.soak)])
def test_faults_lose_none_and_double_none(
    answers: str, number: int, record_property: Callable[[str, object], None]
) -> None:
    begun = time.monotonic()
    times, said = soak(answers, number, at_once=32)
    assert said == list(map(str, range(number)))
    assert times == Counter(map(str, range(number)))
    assert rows(answers) == number
    record_property("requests, seconds", (number, round(time.monotonic() - begun)))
